"""The rows of a Delta table by its log and its files, without Spark and without Penstock."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet

PLAIN = ("long", "integer", "string", "double", "boolean", "date")
"""Types whose values are the same in Python, whoever reads them; decimals are, too."""


def rows_of_table(folder: Path, names: Sequence[str] = ()) -> list[tuple[Any, ...]] | None:
    """The rows of the newest version, sorted by their text; `names`: these columns of them. None where more than that
    takes part in a read: partitions, deletion vectors, names of columns that are mapped, other types."""
    actions = list(_actions(folder / "_delta_log"))
    table = next((action["metaData"] for action in reversed(actions) if "metaData" in action), None)
    if table is None or table["partitionColumns"] or "delta.columnMapping.mode" in table["configuration"]:
        return None
    fields = {field["name"]: field["type"] for field in json.loads(table["schemaString"])["fields"]}
    if not all(type in PLAIN or str(type).startswith("decimal(") for type in fields.values()):
        return None
    files: dict[str, dict[str, Any]] = {}
    for action in actions:
        if removed := action.get("remove"):
            files.pop(removed["path"], None)
        if added := action.get("add"):
            files[added["path"]] = added
    if any(added.get("deletionVector") for added in files.values()) or not set(names) <= set(fields):
        return None
    found = (row for path in files for row in _rows(folder / unquote(path), names or tuple(fields)))
    return sorted(found, key=repr)


def _actions(log: Path) -> Iterator[dict[str, Any]]:
    """Of all commits, none of which may have been removed."""
    commits = sorted(log.glob("[0-9]*.json"))
    assert [int(commit.stem) for commit in commits] == list(range(len(commits)))
    for commit in commits:
        yield from map(json.loads, commit.read_text().splitlines())


def _rows(file: Path, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """A column that the file lacks was added later."""
    for row in pyarrow.parquet.ParquetFile(file).read().to_pylist():
        yield tuple(row.get(name) for name in names)
