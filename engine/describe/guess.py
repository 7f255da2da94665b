"""Guesses the connector and options for a path from its name and the first lines of a text file."""

import csv
import gzip
import json
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Final

from catalog.diagnostics.diagnostic import RunError, job_error, run_error
from catalog.options import Value
from connectors.storage.paths import data_files, local_path, near_path

_LINES: Final = 1_000
_MOST_COLUMNS: Final = 100_000
_DELIMITERS: Final = (",", ";", "\t", "|")
_BY_SUFFIX: Final = {
    ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet",
    ".orc": "orc", ".avro": "avro", ".txt": "text",
}  # fmt: skip
PASSWORD: Final = "PENSTOCK_JDBC_PASSWORD"
_TABLE: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,2}")
"""The name of a table in Spark's catalog."""
_NO_FILES: Final = "add files to it, or check the path; what begins with `_` or `.` is not read"
_COMPRESSED: Final = (".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate")


@dataclass(frozen=True, slots=True)
class Guess:
    """A connector and the options that read the path, without a schema.

    `secrets`: environment variables by the options that have their values; the block names the variables.
    """

    plugin: str
    options: dict[str, Value]
    secrets: dict[str, str] = field(default_factory=dict)


def guess(path: str, format: str | None = None, table: str | None = None, user: str | None = None) -> Guess:
    """How to read a path, or the table of a database.

    Raises PEN4032 if it does not show, PEN4030 if no file is there, PEN5004 if the file is empty or damaged.
    """
    if path.startswith("jdbc:"):
        return _database(path, table, user)
    local = local_path(path)
    if format == "delta" or (local is not None and os.path.isdir(os.path.join(local, "_delta_log"))):
        return Guess("Delta", {"path": path})
    files = data_files(local) if local is not None else []
    if local is not None and not files and os.path.isdir(local):
        raise job_error("PEN4030", f"the folder `{os.path.abspath(local)}` holds no files", None, _NO_FILES)
    if not files and format is None and _TABLE.fullmatch(path) and os.path.splitext(path)[1] not in _BY_SUFFIX:
        return Guess("Table", {"table": path})
    if local is not None and not files:
        near = near_path(path)
        help = f"did you mean `{near}`?" if near else None
        raise job_error("PEN4030", f"no file is at `{os.path.abspath(local)}`", None, help)
    kind = format or _format(files[0] if files else path)
    lines = _lines_of_first(files) if kind in ("csv", "json") else []
    options: dict[str, Value] = {"path": path, "file_format_type": kind}
    if kind == "csv":
        options |= _csv_options(lines) if files else {"csv_use_header_line": True}
    elif kind == "json" and _is_over_lines(lines):
        options["multi_line"] = True
    return Guess("LocalFile", options)


def _database(url: str, table: str | None, user: str | None) -> Guess:
    if table is None:
        help = "`--table NAME` names one: penstock describe jdbc:postgresql://host/shop --table public.orders"
        raise job_error("PEN4032", "a database holds many tables", None, help)
    options: dict[str, Value] = {"url": url, "table_path": table}
    if user is not None:
        options["user"] = user
    return Guess("Jdbc", options, {"password": PASSWORD} if PASSWORD in os.environ else {})


def _format(name: str) -> str:
    found = format_of(name)
    if found is None:
        help = "name it: `--file-format csv`, `json`, `parquet`, `orc`, `avro`, `text` or `delta`"
        raise job_error("PEN4032", f"the name of `{name}` does not show its format", None, help)
    return found


def format_of(name: str) -> str | None:
    """The format that a file's name shows: `orders.csv.gz` is csv."""
    stem, suffix = os.path.splitext(name.lower())
    if suffix in _COMPRESSED:
        suffix = os.path.splitext(stem)[1]
    return _BY_SUFFIX.get(suffix)


def _csv_options(lines: Sequence[str]) -> dict[str, Value]:
    delimiter = max(_DELIMITERS, key=lambda sign: _fitness(lines, sign))
    rows = list(csv.reader(lines, delimiter=delimiter))
    found: dict[str, Value] = {} if delimiter == "," else {"field_delimiter": delimiter}
    if any("\n" in value for row in rows for value in row):
        found["multi_line"] = True
    return found | ({"csv_use_header_line": True} if _has_header(rows) else {})


def _is_over_lines(lines: Sequence[str]) -> bool:
    """Whether a JSON file holds one array, or objects of several lines, and not one object a line."""
    first = next((line.strip() for line in lines if line.strip()), "")
    try:
        return isinstance(json.loads(first or "{}"), list)
    except ValueError:
        return first.startswith(("[", "{"))


def _lines_of_first(files: Sequence[str]) -> list[str]:
    """The first lines of the first file that is not empty; raises PEN5004 if each is."""
    lines = next(filter(None, map(_first_lines, files)), [])
    if files and not lines:
        message = f"`{files[0]}` is empty" if len(files) == 1 else f"`{files[0]}` and the other files are empty"
        raise run_error("PEN5004", message, None, "check what writes it; `describe` needs a file with rows or a header")
    return lines


def _first_lines(file: str) -> list[str]:
    try:
        with open_text(file) as lines:
            return list(islice(lines, _LINES))
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(file, error) from error


def open_text(file: str) -> IO[str]:
    """A text file, plain or gzipped, with the ends of its lines as they are."""
    if file.endswith(".gz"):
        return gzip.open(file, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return open(file, encoding="utf-8-sig", errors="replace", newline="")


def _unreadable(file: str, error: Exception) -> RunError:
    match error:
        case gzip.BadGzipFile():
            reason = "it is not a gzip file, as its name says"
            help = "remove `.gz` from its name if it is not compressed; else fetch or write it again"
        case EOFError():
            reason, help = "the gzip file is cut off", "fetch or write it again: its end is missing"
        case zlib.error():
            reason, help = f"the gzip file is damaged: {error}", "fetch or write it again"
        case _:
            reason, help = getattr(error, "strerror", None) or str(error), "check the path and who may read the file"
    return run_error("PEN5004", f"`{file}` cannot be read: {reason}", None, help)


def _fitness(lines: Sequence[str], delimiter: str) -> int:
    """How many values a delimiter makes of the first line; many more where it makes as many of each line."""
    widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
    is_even = len(set(widths)) == 1 and widths[0] > 1
    return (widths[0] if widths else 0) + (_MOST_COLUMNS if is_even else 0)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is a header: its values are distinct, and none is a number."""
    names = rows[0] if rows else []
    return bool(names) and len({name.lower() for name in names}) == len(names) and not any(map(_is_number, names))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return not text
    return True
