"""The client of a server, and its errors as those of a run."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Options

_PORTS: Final = {"http": 8123, "https": 8443}
_CODE: Final = re.compile(r"(?:error )?code[: ]+(\d+)", re.IGNORECASE)
_HELP: Final = {
    "60": "check the table's name and `database`",
    "81": "check `database`",
    "192": "check `username`",
    "193": "check `username` and `password`",
    "516": "check `username` and `password`",
    "497": "grant the user what the statement needs",
}
"""By the codes of ClickHouse's errors."""


def check_connection(options: Options, diagnostics: Diagnostics) -> None:
    try:
        server_of(options)
    except ValueError:
        message = f"`{options.string('host')}` names no server"
        diagnostics.error("PEN2004", message, options.span("host"), 'host = "localhost:8123"')


def server_of(options: Options) -> tuple[str, str, int]:
    """Scheme, host and port. Raises ValueError for a text that names no server."""
    first = options.string("host").split(",")[0].strip()
    parts = urlsplit(first if "://" in first else f"http://{first}")
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(first)
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]


def place_of(options: Options, table: str) -> str | None:
    """The location of a table; None where no server is named."""
    try:
        scheme, host, port = server_of(options)
    except ValueError:
        return None
    return f"clickhouse:{scheme}://{host}:{port}/{table}"


@contextmanager
def reported(options: Options, code: str) -> Iterator[Any]:
    """A client whose errors are raised with that code, at `host`."""
    from clickhouse_connect import get_client
    from clickhouse_connect.driver.exceptions import ClickHouseError, OperationalError

    scheme, host, port = server_of(options)
    client = None
    try:
        client = get_client(
            host=host,
            port=port,
            interface=scheme,
            database=options.string("database"),
            username=options.optional_string("username") or "default",
            password=options.optional_string("password") or "",
            settings=options.texts_by_key("clickhouse.config"),
            autogenerate_session_id=False,
            compress=False,
        )
        yield client
    except ClickHouseError as error:
        said = " ".join(str(error).split())[:300]
        number = _CODE.search(said)
        help = _HELP.get(number[1]) if number else None
        if number is None and isinstance(error, OperationalError):
            help = "check `host`, and that the server is up"
        raise run_error(code, f"{host}:{port}: {said}", options.span("host"), help) from error
    finally:
        if client is not None:
            client.close()
