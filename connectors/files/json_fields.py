"""The names of the fields in the first rows of JSON files, without Spark."""

import gzip
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, Any, Final

from catalog.limits import regular_file
from catalog.options import Options

MOST_ROWS: Final = 100
MOST_BYTES: Final = 1_000_000
"""Of each file: what is not read of a file is not checked."""


def json_columns(files: Iterable[str], options: Options) -> dict[str, None]:
    """The names of fields, nested ones with dots, in the order in which they are found; none if nothing can be read."""
    names: dict[str, None] = {}
    for file in files:
        for row in _rows(file, options):
            names |= dict.fromkeys(names_of(row))
    return names


def _rows(file: str, options: Options) -> Iterator[Any]:
    try:
        with _opened(file, options.string("encoding")) as lines:
            if options.flag("multi_line"):
                text = lines.read(MOST_BYTES)
                found = json.loads(text)
                yield from found[:MOST_ROWS] if isinstance(found, list) else [found]
                return
            for line in islice(lines, MOST_ROWS):
                if line.strip():
                    yield json.loads(line)
    except (OSError, EOFError, ValueError, LookupError):  # a broken row is an error of the run, with its line
        return


def _opened(file: str, encoding: str) -> IO[str]:
    regular_file(file)
    if file.endswith(".gz"):
        return gzip.open(file, "rt", encoding=encoding)
    return open(file, encoding=encoding)


def names_of(value: Any, prefix: str = "") -> Iterator[str]:
    """The names of the fields of a row, nested ones with dots."""
    match value:
        case dict():
            for name, inner in value.items():
                yield f"{prefix}{name}"
                yield from names_of(inner, f"{prefix}{name}.")
        case list():
            for item in value[:MOST_ROWS]:
                yield from names_of(item, prefix)
