"""Finds the line of a local file that Spark could not read: its messages name the file alone."""

import gzip
import re
import time
from collections.abc import Iterator, Sequence
from typing import Final

_BLOCK: Final = 1 << 20
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


def cell_with(
    file: str, value: str, *, delimiter: str, quote: str, index: int, skipped: int = 0
) -> tuple[int, int] | None:
    """The line of the first row whose value of that column, counted from 0, is this one, and where it begins in it;
    `skipped`: the lines before the first row."""
    try:
        for number, line in _lines(file):
            text = line.decode("utf-8", "replace")
            if number <= skipped or value not in text:
                continue
            cells = _cells(text.rstrip("\r\n"), delimiter, quote)
            if index < len(cells) and cells[index][1].strip() == value.strip():
                return number, cells[index][0] + 1
    except (OSError, EOFError, TimeoutError):
        return None
    return None


def field_with(file: str, name: str, value: str) -> tuple[int, int] | None:
    """The first line of JSON whose field has this value, and where the value begins in it."""
    pattern = re.compile(rf'"{re.escape(name)}"\s*:\s*"?({re.escape(value)})(?![\w.])'.encode())
    try:
        for number, line in _lines(file):
            if match := pattern.search(line):
                return number, len(line[: match.start(1)].decode("utf-8", "replace")) + 1
    except (OSError, EOFError, TimeoutError):
        return None
    return None


def names_in_header(file: str, delimiter: str, quote: str) -> list[str]:
    """The values of the first line."""
    try:
        _, line = next(_lines(file), (1, b""))
    except (OSError, EOFError):
        return []
    return [text for _, text in _cells(line.decode("utf-8-sig", "replace").rstrip("\r\n"), delimiter, quote)]


def _cells(line: str, delimiter: str, quote: str) -> list[tuple[int, str]]:
    """The values of a line, without their quotes, and where they begin."""
    found, start, position, is_quoted = [], 0, 0, False
    while position <= len(line):
        if quote and line[position : position + 1] == quote:
            is_quoted = not is_quoted
        elif position == len(line) or (not is_quoted and line.startswith(delimiter, position)):
            text = line[start:position]
            is_whole = len(text) > 1 and bool(quote) and text[0] == text[-1] == quote
            found.append((start + is_whole, text[1:-1].replace(2 * quote, quote) if is_whole else text))
            start = position + len(delimiter)
            position = start - 1 if position < len(line) else position
        position += 1
    return found


def values_of(line: str, delimiter: str, quote: str) -> int:
    """How many values a line has."""
    return len(_cells(line, delimiter, quote))


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


def long_line(file: str, limit: int) -> tuple[int, int] | None:
    """The number and the bytes of the first line that is longer than the limit; it is not held in memory."""
    until, number, length = time.monotonic() + _SECONDS, 1, 0
    try:
        with gzip.open(file) if file.endswith(".gz") else open(file, "rb") as opened:
            while block := opened.read(_BLOCK):
                for part in block.split(b"\n")[:-1]:
                    if length + len(part) > limit:
                        return number, length + len(part)
                    number, length = number + 1, 0
                length += len(block) - block.rfind(b"\n") - 1
                if time.monotonic() > until:
                    break
    except (OSError, EOFError):
        return None
    return (number, length) if length > limit else None


def _lines(file: str) -> Iterator[tuple[int, bytes]]:
    until = time.monotonic() + _SECONDS
    with gzip.open(file) if file.endswith(".gz") else open(file, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if number % 10_000 == 0 and time.monotonic() > until:
                raise TimeoutError(file)
            yield number, line
