"""Describes what is at a web address: JSON as the Http source reads it, files of rows as they are once fetched.

https://host/orders.json      an Http source: each run asks for the rows
https://host/orders.csv.gz    a LocalFile source of orders.csv.gz, and the command that fetches it
"""

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from catalog.diagnostics.diagnostic import job_error
from catalog.options import Value
from connectors.http_.json_paths import is_json_path
from engine.describe.describe_data import Described
from engine.describe.fetch import Fetched, shown
from engine.describe.guess import Guess, format_of, guess

_CONTENT_TYPES: Final = {
    "application/json": "json", "application/jsonl": "json", "application/x-ndjson": "json", "text/csv": "csv",
    "text/tab-separated-values": "csv", "application/vnd.apache.parquet": "parquet",
}  # fmt: skip
_ROWS: Final = "rows.jsonl"


@dataclass(frozen=True, slots=True)
class WebSource:
    """`sample`: how to read what was fetched, for the types; `described`: the source of a job, from the types found."""

    sample: Guess
    described: Callable[[Described], Described]


def web_source(url: str, fetched: Fetched, format: str | None = None) -> WebSource:
    """The source for a web address; raises PEN4032 if the format does not show."""
    kind = format or format_of(fetched.name) or _CONTENT_TYPES.get(fetched.content_type)
    if kind is None or kind == "delta":
        help = "name it: `--file-format csv`, `json`, `parquet`, `orc` or `text`"
        message = f"the format of {shown(url)} does not show: its content type is `{fetched.content_type}`"
        raise job_error("PEN4032", message, None, help)
    if kind == "json":
        return _json(url, fetched)
    sample = guess(str(fetched.file), kind)
    return WebSource(
        sample, lambda found: _with_options(found, "LocalFile", {**found.guess.options, "path": fetched.name})
    )


def _json(url: str, fetched: Fetched) -> WebSource:
    documents, options = _documents(url, fetched.file)
    if len(documents) == 1 and (field := _field_of_rows(documents[0])):
        options["content_field"] = f"$.{field}[*]"
        documents = documents[0][field]
    rows = [row for document in documents for row in (document if isinstance(document, list) else [document])]
    if not rows or not all(isinstance(row, dict) for row in rows):
        help = "the Http source reads other documents by `content_field` and `json_field`"
        raise job_error("PEN4032", f"{shown(url)} holds no JSON objects, one for each row", None, help)
    file = fetched.file.with_name(_ROWS)
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    names = list(dict.fromkeys(name for row in rows for name in row))

    def described(found: Described) -> Described:
        columns = sorted(found.columns, key=lambda column: names.index(column.name))
        return _with_options(Described(found.guess, tuple(columns), found.rows), "Http", {"url": url, **options})

    return WebSource(Guess("LocalFile", {"path": str(file), "file_format_type": "json"}), described)


def _documents(url: str, file: Path) -> tuple[list[Any], dict[str, Value]]:
    """The JSON documents of a file, and the option that reads several: one document a line."""
    content = file.read_bytes()
    try:
        text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8-sig")
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise job_error("PEN4032", f"{shown(url)} is no text in UTF-8: {error}") from error
    try:
        return [json.loads(text)], {}
    except ValueError as error:
        try:
            return [json.loads(line) for line in text.split("\n") if line.strip()], {"enable_multi_lines": True}
        except ValueError:
            raise job_error("PEN4032", f"{shown(url)} is no JSON: {error}") from error


def _field_of_rows(document: Any) -> str | None:
    """The one field of a JSON object that holds the rows: an array of objects."""
    if not isinstance(document, dict):
        return None
    arrays = [name for name, value in document.items() if _holds_rows(value)]
    return arrays[0] if len(arrays) == 1 and is_json_path(f"$.{arrays[0]}[*]") else None


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _with_options(found: Described, plugin: str, options: Mapping[str, Value]) -> Described:
    return Described(Guess(plugin, dict(options)), found.columns, found.rows)
