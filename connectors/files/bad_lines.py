"""Finds the line of a local file that Spark could not read: its messages name the file alone."""

import gzip
import time
from collections.abc import Iterator, Sequence
from typing import Final

_SECONDS: Final = 5.0
"""How long a search takes at most: the job has failed, and its user waits for the message."""


def line_with(file: str, parts: Sequence[str]) -> int | None:
    """The number of the only line that has all these texts; None if none has, or several, or the file is too long."""
    wanted = [part.encode() for part in parts if part]
    if not wanted:
        return None
    found: int | None = None
    try:
        for number, line in _lines(file):
            if all(part in line for part in wanted):
                if found is not None:
                    return None
                found = number
    except (OSError, EOFError, TimeoutError):
        return None
    return found


def line_not_utf8(file: str) -> int | None:
    """The number of the first line that is not UTF-8."""
    try:
        for number, line in _lines(file):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    except (OSError, EOFError, TimeoutError):
        return None
    return None


def _lines(file: str) -> Iterator[tuple[int, bytes]]:
    until = time.monotonic() + _SECONDS
    with gzip.open(file) if file.endswith(".gz") else open(file, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if number % 10_000 == 0 and time.monotonic() > until:
                raise TimeoutError(file)
            yield number, line
