"""Refuses JSON lines that go on after their first value: Spark reads that value alone, without a word.

    {"id": 1}{"id": 2}        {"id": 1}, {"id": 2}

Files of this machine that are not compressed are searched for what may be such a line, and those lines are parsed.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from catalog.diagnostics.diagnostic import run_error
from catalog.options import Options
from connectors.files.file_options import file_format
from connectors.files.formats.scanned_files import blocks_of, plain_files

_BETWEEN: Final = (b"}{", b"} {", b"}\t{", b"},{", b"}, {")
_MOST_PARSED: Final = 1_000
"""Lines of a file that are parsed: arrays of structs look alike."""


def refuse_further_values(paths: Sequence[str], options: Options) -> None:
    """Raise PEN5004 at the first line that is found to hold more than one value."""
    if file_format(options) != "json" or options.flag("multi_line") or options.string("encoding").lower() != "utf-8":
        return
    if options.optional_string("row_delimiter") not in (None, "\n", "\r\n"):
        return
    for file in plain_files(paths) or ():
        number = next((number for number, line in _suspects(file) if _goes_on(line)), None)
        if number is not None:
            message = f"line {number} of `{file}` goes on after its first JSON value, and Spark would read that alone"
            help = "write each value in a line of its own; `multi_line = true` reads a file that is one array"
            raise run_error("PEN5004", message, options.span("path"), help)


def _suspects(file: str) -> Iterator[tuple[int, bytes]]:
    """Lines that may hold several objects, with their numbers."""
    parsed, number, rest = 0, 0, b""
    for block in blocks_of(file):
        text = rest + block
        whole, _, rest = text.rpartition(b"\n")
        lines = whole.split(b"\n") if any(mark in whole for mark in _BETWEEN) else []
        for offset, line in enumerate(lines, number + 1):
            if any(mark in line for mark in _BETWEEN):
                yield offset, line
                parsed += 1
                if parsed == _MOST_PARSED:
                    return
        number += text.count(b"\n")
    if any(mark in rest for mark in _BETWEEN):
        yield number + 1, rest


def _goes_on(line: bytes) -> bool:
    """Whether something other than a comma follows the first value; not of a line that Spark cannot read."""
    try:
        text = line.decode("utf-8").lstrip("\ufeff \t")
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return bool(text[end:].strip(" \t\r,"))
