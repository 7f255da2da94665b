"""A Paimon table's schema, as the files of its directory have it; read without pypaimon.

<table>/schema/schema-<id>      columns, keys and options, one file for each change
<table>/snapshot/snapshot-<id>  one commit: the id of its schema, its files, its properties
<table>/tag/tag-<name>          a snapshot that has a name
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from catalog.limits import read_small
from catalog.options import Options
from catalog.reach import is_outside, refuse_outside
from catalog.tables.table import CatalogTable, Column, PrimaryKey, TablePath, TableSchema
from connectors.files.file_schema import UnknownSchemaError, foreign_shape
from connectors.paimon.paimon_types import is_nullable, of_paimon, seconds_digits

Schema = Mapping[str, Any]
"""The content of a schema file."""

_PREFIX: Final = "schema-"
_VERSION_07: Final = 1
_VERSION_08: Final = 2
"""Versions of schema files: of Paimon up to 0.7, which wrote none, and of 0.8."""


def latest_schema(folder: str) -> Schema | None:
    """The current schema; None if the directory holds no Paimon table."""
    if is_outside(folder):
        return None
    place = os.path.join(folder, "schema")
    names = os.listdir(place) if os.path.isdir(place) else []
    ids = [int(name[len(_PREFIX) :]) for name in names if name.startswith(_PREFIX) and name[len(_PREFIX) :].isdigit()]
    return _schema(folder, str(max(ids))) if ids else None


def known_schema(folder: str) -> Schema | None:
    """The current schema as far as it can be read: the run reports what cannot."""
    try:
        with foreign_shape("its schema"):
            found = latest_schema(folder)
            if found is not None:
                dict(found), dict(found.get("options") or {})
            return found
    except UnknownSchemaError:
        return None


def recorded_schema(folder: str, options: Options) -> Schema:
    """The schema of the table as a source reads it; raises `UnknownSchemaError`."""
    with foreign_shape("its schema"):
        snapshot = _snapshot(folder, options)
        found = latest_schema(folder) if snapshot is None else _schema(folder, snapshot["schemaId"])
        if found is not None:
            table_of(found)
            dict(found.get("options") or {})
    if found is None:
        raise UnknownSchemaError("no Paimon table is there")
    return found


def _snapshot(folder: str, options: Options) -> Mapping[str, Any] | None:
    for option, file, called in (("snapshot_id", "snapshot/snapshot-", "snapshot"), ("tag", "tag/tag-", "tag")):
        if (wanted := options.get(option)) is not None:
            if not os.path.exists(os.path.join(folder, f"{file}{wanted}")):
                raise UnknownSchemaError(f"it has no {called} `{wanted}`")
            return _read(folder, f"{file}{wanted}")
    return None


def _schema(folder: str, id: object) -> Schema:
    """A schema file, with what tables of its version have where it says nothing (`TableSchema.fromJson`)."""
    found = _read(folder, f"schema/{_PREFIX}{id}")
    version = found.get("version", _VERSION_07)
    old = {"bucket": "1"} if version <= _VERSION_07 else {}
    old |= {"file.format": "orc"} if version <= _VERSION_08 else {}
    return {**found, "options": {**old, **(found.get("options") or {})}} if old else found


def _read(folder: str, name: str) -> Mapping[str, Any]:
    refuse_outside(Path(folder, name))
    found: Mapping[str, Any] = json.loads(read_small(Path(folder, name), "log").decode())
    return found


def spans_partitions(schema: Schema) -> bool:
    """Whether a key can move to another partition: Paimon's bucket mode "cross partition"."""
    keys, bucket = schema.get("primaryKeys") or (), str((schema.get("options") or {}).get("bucket", "-1"))
    return bool(keys) and bucket == "-1" and not set(schema.get("partitionKeys") or ()) <= set(keys)


def table_of(schema: Schema, name: str = "target") -> CatalogTable:
    columns = tuple(
        Column(
            field["name"],
            of_paimon(field["type"]),
            is_nullable(field["type"]),
            comment=field.get("description"),
            scale=seconds_digits(field["type"]),
        )
        for field in schema["fields"]
    )
    keys = tuple(schema.get("primaryKeys") or ())
    return CatalogTable(
        TablePath(name),
        TableSchema(columns, PrimaryKey(keys) if keys else None),
        tuple(schema.get("partitionKeys") or ()),
        comment=schema.get("comment") or None,
    )
