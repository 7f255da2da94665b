"""Fetches what is at a web address into a file, up to a size and for a time."""

import http.client
import os
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO, Final
from urllib.parse import unquote, urlsplit

from catalog.diagnostics.diagnostic import RunError, job_error, run_error
from catalog.distribution import DISTRIBUTION
from catalog.secret_names import redacted_text

MOST_BYTES: Final = 256 * 1024**2
MOST_SECONDS: Final = 120.0
_SILENT_SECONDS: Final = 20.0
_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was fetched: its file, the name that the address gives it, and the content type that the server names."""

    file: Path
    name: str
    content_type: str


def is_web_address(path: str) -> bool:
    return path.lower().startswith(("http://", "https://"))


def fetch(url: str, folder: Path, most_bytes: int = MOST_BYTES, most_seconds: float = MOST_SECONDS) -> Fetched:
    """Fetch into a new file of the folder.

    Raises PEN5004 if the server cannot be reached or is too slow, PEN5040 if it refuses the request, PEN4032 if the
    file is too large.
    """
    try:
        has_login = "@" in urlsplit(url).netloc
    except ValueError as error:
        raise run_error("PEN5004", f"{redacted_text(url)} is no address: {error}", None, "check the URL") from None
    if has_login:
        help = f"fetch the file, then describe it: curl -fLO --user NAME {without_query(url)}"
        raise run_error("PEN5004", f"{shown(url)}: `describe` sends no credentials", None, help)
    name = _file_name(url)
    file = folder / name
    try:
        request = urllib.request.Request(url, headers={"User-Agent": DISTRIBUTION})
        with urllib.request.urlopen(request, timeout=_SILENT_SECONDS) as response, file.open("xb") as target:
            _copy(url, response, target, most_bytes, monotonic() + most_seconds)
            return Fetched(file, name, response.headers.get_content_type())
    except urllib.error.HTTPError as error:
        with error:
            message = f"{shown(url)}: the server answered {f'{error.code} {error.reason}'.strip()}"
        help = "check the address; where it asks for credentials, fetch the file with those, and describe the file"
        raise run_error("PEN5040", message, None, help) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise _unreachable(url, str(reason) or type(error).__name__) from error


def _copy(url: str, response: IO[bytes], target: IO[bytes], most_bytes: int, ends: float) -> None:
    size = 0
    while chunk := response.read(_CHUNK):
        size += len(chunk)
        if size > most_bytes:
            message = f"{shown(url)} holds more than {most_bytes / 1024**2:,.0f} MB"
            help = f"fetch it, then describe the file: curl -fLO {without_query(url)}"
            raise job_error("PEN4032", message, None, help)
        if monotonic() > ends:
            raise _unreachable(url, "it was not complete in time")
        target.write(chunk)


def _unreachable(url: str, reason: str) -> RunError:
    help = "check the address and the network; of a slow server, fetch the file first, and describe the file"
    return run_error("PEN5004", f"{shown(url)}: {reason}", None, help)


def _file_name(url: str) -> str:
    """The last part of the address, as a plain file name: it is printed in a command."""
    name = os.path.basename(unquote(urlsplit(url).path).rstrip("/"))
    return re.sub(r"[^\w.-]+", "_", name).lstrip(".-") or "data"


def without_query(url: str) -> str:
    """The address without parameters and credentials, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def shown(url: str) -> str:
    """The address in messages."""
    return f"`{without_query(url)}`"
