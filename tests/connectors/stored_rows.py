"""The rows of tables of integers, by the files of each format: read without Spark and without Penstock."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet

Rows = Counter[tuple[int, ...]]
_DELETED = 2
"""The status of a manifest's entry whose file the snapshot has removed."""


def parquet_rows(folder: Path, columns: list[str]) -> Rows:
    """Of the files that a reader of the folder sees: none whose name, or a folder's, begins with `_` or `.`."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return _rows(
        (file for file in files if not any(part[0] in "._" for part in file.relative_to(folder).parts)), columns
    )


def delta_rows(folder: Path, columns: list[str]) -> Rows:
    """Of the newest version, by the table's log, all of whose commits are there."""
    commits = sorted((folder / "_delta_log").glob("[0-9]*.json"))
    assert [int(commit.stem) for commit in commits] == list(range(len(commits)))
    files: dict[str, None] = {}
    for action in (json.loads(line) for commit in commits for line in commit.read_text().splitlines()):
        if removed := action.get("remove"):
            files.pop(removed["path"], None)
        if added := action.get("add"):
            assert not added.get("deletionVector"), "its rows would have to be left out"
            files[added["path"]] = None
    return _rows((folder / unquote(path) for path in files), columns)


def iceberg_rows(folder: Path, columns: list[str]) -> Rows:
    """Of the current snapshot."""
    metadata = folder / "metadata"
    table = json.loads(
        (metadata / f"v{(metadata / 'version-hint.text').read_text().strip()}.metadata.json").read_text()
    )
    snapshots = {snapshot["snapshot-id"]: snapshot for snapshot in table["snapshots"]}
    manifests = list(_avro(snapshots[table["current-snapshot-id"]]["manifest-list"]))
    assert not any(manifest["content"] for manifest in manifests), "its rows would have to be left out"
    entries = (entry for manifest in manifests for entry in _avro(manifest["manifest_path"]))
    live = (entry["data_file"]["file_path"] for entry in entries if entry["status"] != _DELETED)
    return _rows(map(_local, live), columns)


def paimon_rows(warehouse: Path, name: str, columns: list[str]) -> Rows:
    from pypaimon import CatalogFactory

    builder = CatalogFactory.create({"warehouse": str(warehouse)}).get_table(name).new_read_builder()
    rows = builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist()
    return Counter(tuple(row[column] for column in columns) for row in rows)


def _rows(files: Iterable[Path], columns: list[str]) -> Rows:
    tables = (pyarrow.parquet.ParquetFile(file).read(columns).to_pylist() for file in files)
    return Counter(tuple(int(row[name]) for name in columns) for rows in tables for row in rows)


def _avro(path: str) -> Iterator[dict[str, Any]]:
    import fastavro

    with open(_local(path), "rb") as file:
        yield from fastavro.reader(file)


def _local(path: str) -> Path:
    return Path(path.removeprefix("file:"))
