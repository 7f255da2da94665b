"""An Iceberg table's metadata (its `*.metadata.json`), as a catalog gives it or as the table's directory has it."""

import gzip
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from catalog.limits import check, limits, read_small
from catalog.options import Value
from catalog.reach import refuse_outside
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)
from connectors.commits.marks import MarkState, WriteMark
from connectors.commits.micro_batches import MicroBatch
from connectors.files.file_schema import UnknownSchemaError, foreign_shape

Metadata = Mapping[str, Any]

_TYPES: Final[Mapping[str, DataType]] = {
    "boolean": BOOLEAN,
    "int": INT,
    "long": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "date": DATE,
    "timestamp": TIMESTAMP_NTZ,
    "timestamptz": TIMESTAMP,
    "string": STRING,
    "uuid": STRING,
    "binary": BINARY,
    "variant": VARIANT,
    "unknown": VOID,
}
"""Iceberg's primitive types as Spark reads them (`TypeToSparkType`)."""
_DECIMAL: Final = re.compile(r"decimal\((\d+),\s*(\d+)\)\Z")
_VERSION: Final = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json(?:\.gz)?\Z")


def table_of(metadata: Metadata, name: str = "target") -> CatalogTable:
    """The table with its current columns."""
    return CatalogTable.of(name, columns_of(_schema(metadata, metadata.get("current-schema-id"))))


def has_partitions(metadata: Metadata) -> bool:
    """Whether the table is partitioned now, by whatever transform."""
    specs = {spec["spec-id"]: spec["fields"] for spec in metadata.get("partition-specs", ())}
    return any(field["transform"] != "void" for field in specs.get(metadata.get("default-spec-id"), ()))


def partition_columns(metadata: Metadata) -> list[str]:
    """The columns whose values are the table's partitions; none if a partition is computed from one."""
    specs = {spec["spec-id"]: spec["fields"] for spec in metadata.get("partition-specs", ())}
    fields = [field for field in specs.get(metadata.get("default-spec-id"), ()) if field["transform"] != "void"]
    return [field["name"] for field in fields] if all(field["transform"] == "identity" for field in fields) else []


def columns_of(schema: Mapping[str, Any]) -> list[Column]:
    return [
        Column(field["name"], type_of(field["type"]), not field["required"], comment=field.get("doc"))
        for field in schema["fields"]
    ]


def type_of(text: Any) -> DataType:
    """A type of Iceberg's as Spark reads it; unknown where Spark has none."""
    match text:
        case {"type": "list"}:
            return Array(type_of(text["element"]), not text["element-required"])
        case {"type": "map"}:
            return Map(type_of(text["key"]), type_of(text["value"]), not text["value-required"])
        case {"type": "struct"}:
            return Struct(
                tuple(Field(field["name"], type_of(field["type"]), not field["required"]) for field in text["fields"])
            )
        case str() if found := _DECIMAL.match(text):
            return Decimal(int(found[1]), int(found[2]))
        case str() if text.startswith("fixed"):
            return BINARY
        case str():
            return _TYPES.get(text, UNKNOWN)
    raise ValueError(f"no type of Iceberg's: {text!r}")


def commit_of(metadata: Metadata, identity: str, branch: str | None = None) -> Mapping[str, str] | None:
    """The summary of the snapshot by which a write was committed to a branch; None where there is none."""
    summaries = (snapshot.get("summary", {}) for snapshot in history(metadata, branch))
    return next((summary for summary in summaries if summary.get("penstock.write") == identity), None)


def mark_of(
    metadata: Metadata, identity: str, work: str, branch: str | None = None, batch: MicroBatch | None = None
) -> WriteMark:
    """The mark of a write; `work` is the property that says what it stands for. UNKNOWN where snapshots before those
    that are there have expired; of a micro-batch, where there is none of its stream, too."""
    found = commit_of(metadata, identity, branch)
    if found is not None:
        return WriteMark(MarkState.FOUND, found.get(work, ""))
    if batch is not None:
        writes = (str(each.get("summary", {}).get("penstock.write")) for each in history(metadata, branch))
        of_stream = [each for each in writes if batch.number_of(each) is not None]
        if of_stream:
            return batch.mark_by(of_stream)
    *_, first = (None, *history(metadata, branch))
    has_expired = first is not None and first.get("parent-snapshot-id") is not None
    return WriteMark(MarkState.UNKNOWN if has_expired else MarkState.ABSENT)


def last_sequence(metadata: Metadata) -> int:
    """The number of the last snapshot; 0 in the first version of the format, which has no numbers."""
    return int(metadata.get("last-sequence-number") or 0)


def has_all_since(metadata: Metadata, sequence: int) -> bool:
    """Whether no snapshot after the one of that number has expired."""
    kept = {snapshot.get("sequence-number") for snapshot in metadata.get("snapshots") or ()}
    return all(number in kept for number in range(sequence + 1, last_sequence(metadata) + 1))


def history(metadata: Metadata, branch: str | None = None) -> Iterator[Mapping[str, Any]]:
    """The snapshots of a branch, by default the main one, the latest first."""
    by_id = {snapshot["snapshot-id"]: snapshot for snapshot in metadata.get("snapshots", ())}
    current = main_snapshot(metadata)
    if branch is not None:
        current = metadata.get("refs", {}).get(branch, {}).get("snapshot-id")
    while current is not None and current in by_id:
        yield by_id[current]
        current = by_id[current].get("parent-snapshot-id")


def main_snapshot(metadata: Metadata) -> int | None:
    """The id of the main branch's latest snapshot; None where the table never held rows."""
    found = metadata.get("current-snapshot-id")
    return found if isinstance(found, int) and found != -1 else None


def local_columns(folder: str, at: Mapping[str, Value]) -> list[Column]:
    """The columns of the table in a local directory, as of `snapshot_id`, `tag` or `branch`, without Spark.

    Raises `UnknownSchemaError`.
    """
    with foreign_shape("its metadata"):
        metadata = _latest(Path(folder) / "metadata")
        found = columns_of(_schema(metadata, _schema_id(metadata, at)))
        for column in found:
            str.lower(column.name)
        return found


def local_times(folder: str) -> list[str]:
    """The columns of Iceberg's type `time`, also within others. Raises `UnknownSchemaError`."""
    with foreign_shape("its metadata"):
        return times_of(_latest(Path(folder) / "metadata"))


def times_of(metadata: Metadata) -> list[str]:
    fields = _schema(metadata, metadata.get("current-schema-id"))["fields"]
    return [str(field["name"]) for field in fields if _has_time(field["type"])]


def without_times(metadata: Metadata) -> dict[str, Any]:
    """The metadata of the same files without the columns that are or hold a `time`."""
    schemas = [
        {**schema, "fields": [field for field in schema["fields"] if not _has_time(field["type"])]}
        for schema in metadata.get("schemas") or [metadata["schema"]]
    ]
    return {**metadata, "schemas": schemas, "current-schema-id": metadata.get("current-schema-id", 0)}


def _has_time(type: Any) -> bool:
    match type:
        case {"type": "list"}:
            return _has_time(type["element"])
        case {"type": "map"}:
            return _has_time(type["key"]) or _has_time(type["value"])
        case {"type": "struct"}:
            return any(_has_time(field["type"]) for field in type["fields"])
    return bool(type == "time")


def _schema_id(metadata: Metadata, at: Mapping[str, Value]) -> int | None:
    """A snapshot and a tag have the schema of their time, a branch has the table's."""
    wanted = at.get("snapshot_id")
    for kind in ("tag", "branch"):
        if at.get(kind) is not None:
            reference = metadata.get("refs", {}).get(at[kind])
            if reference is None or reference["type"] != kind:
                raise UnknownSchemaError(f"it has no {kind} `{at[kind]}`")
            wanted = reference["snapshot-id"] if kind == "tag" else None
    if wanted is None:
        return metadata.get("current-schema-id")
    for snapshot in metadata.get("snapshots", ()):
        if snapshot["snapshot-id"] == wanted:
            found: int | None = snapshot.get("schema-id", metadata.get("current-schema-id"))
            return found
    raise UnknownSchemaError(f"it has no snapshot {wanted}")


def _schema(metadata: Metadata, number: int | None) -> Mapping[str, Any]:
    schemas: list[Mapping[str, Any]] = metadata.get("schemas") or [metadata["schema"]]
    return next((schema for schema in schemas if schema.get("schema-id") == number), schemas[-1])


def _latest(folder: Path) -> Metadata:
    """The metadata of the highest version: the hint may be behind it (`HadoopTableOperations`)."""
    refuse_outside(folder)
    if not folder.is_dir():
        raise UnknownSchemaError("the Iceberg table does not exist yet")
    versions = {int(match[1]): name for name in os.listdir(folder) if (match := _VERSION.match(name))}
    if not versions:
        raise UnknownSchemaError("its directory holds no metadata that a warehouse without a catalog would have")
    refuse_outside(folder / versions[max(versions)])
    content = read_small(folder / versions[max(versions)], "log")
    found: Metadata = json.loads(_unpacked(content) if content[:2] == b"\x1f\x8b" else content)
    return found


def _unpacked(content: bytes) -> bytes:
    with gzip.open(io.BytesIO(content)) as opened:
        found = opened.read(int(limits().log) + 1)
    check("log", len(found), None, "the metadata of an Iceberg table")
    return found
