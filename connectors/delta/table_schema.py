"""The schema of a Delta table in its log, and how `schema_evolution` changes it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.evolution import SchemaEvolution, widens
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import VOID, Struct, parts
from connectors.lakehouse.write_modes import refuse_without_partitions
from connectors.shared.spark_types import of_spark_json

_SIGNS: Final = frozenset(" ,;{}()\n\t=")
"""Characters that column names must not contain without column mapping (Delta's `SchemaMergingUtils`)."""
_LENGTH: Final = re.compile(r"(?:var)?char\((\d+)\)\Z")
_WIDENING: Final = "delta.enableTypeWidening"


def table_of(metadata: Mapping[str, Any]) -> CatalogTable:
    fields = json.loads(metadata["schemaString"])["fields"]
    columns = [Column(field["name"], of_spark_json(field["type"]), field.get("nullable", True)) for field in fields]
    return CatalogTable.of("target", columns)


def constraints(metadata: Mapping[str, Any], written: Sequence[str]) -> dict[str, str]:
    """The predicates that every row of the table satisfies, by name; those of columns only if the
    columns are written."""
    prefix = "delta.constraints."
    found = {
        name.removeprefix(prefix): text
        for name, text in metadata.get("configuration", {}).items()
        if name.startswith(prefix)
    }
    names = {name.lower() for name in written}
    for field in json.loads(metadata["schemaString"])["fields"]:
        if field["name"].lower() in names:
            found.update(_column_constraints(field))
    return found


def _column_constraints(field: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name, about = field["name"], field.get("metadata", {})
    if not field.get("nullable", True):
        yield f"not null of {name}", f"{quote(name)} is not null"
    if limit := _LENGTH.match(str(about.get("__CHAR_VARCHAR_TYPE_STRING", ""))):
        yield f"{limit.group()} of {name}", f"coalesce(char_length({quote(name)}) <= {limit.group(1)}, true)"
    if generated := about.get("delta.generationExpression"):
        yield f"generated always of {name}", f"{quote(name)} <=> ({generated})"


def evolved(metadata: Mapping[str, Any], incoming: Mapping[str, Any]) -> str | None:
    """Delta's `metaData` action with columns of wider types and new columns; None if nothing changes.

    `incoming`: columns by name, their types in Spark's JSON.
    """
    schema = json.loads(metadata["schemaString"])
    configuration = dict(metadata.get("configuration", {}))
    by_name = {field["name"].lower(): field for field in schema["fields"]}
    is_changed = False
    for name, type in incoming.items():
        field = by_name.get(name.lower())
        if field is None:
            schema["fields"].append({"name": name, "type": type, "nullable": True, "metadata": {}})
            is_changed = True
        elif widens(of_spark_json(field["type"]), of_spark_json(type)):
            change = {"fromType": field["type"], "toType": type}
            field["metadata"].setdefault("delta.typeChanges", []).append(change)
            field["type"] = type
            configuration[_WIDENING] = "true"
            is_changed = True
    changed = {**metadata, "schemaString": json.dumps(schema), "configuration": configuration}
    return json.dumps({"metaData": changed}) if is_changed else None


def evolution(options: Options) -> SchemaEvolution:
    return options.choice("schema_evolution", SchemaEvolution)


def refuse_for_new_table(columns: Sequence[Column], options: Options, diagnostics: Diagnostics) -> None:
    """What only a table that is there already may have: columns with certain characters (by column mapping), and NULLs
    without a type (in the table's type). Delta itself would say so when the other sinks have been committed. And
    partitions, which are overwritten, need columns."""
    refuse_without_partitions(bool(options.strings("partition_by")), None, options, diagnostics)
    for column in columns:
        at = options.span("path")
        nested = [field.name for part in parts(column.type) if isinstance(part, Struct) for field in part.fields]
        for name in (column.name, *nested):
            if _SIGNS & set(name):
                message = (
                    f"a new Delta table cannot have a column `{name}`: a blank or one of `,;{{}}()=` is in its name"
                )
                help = "give it another name: AS, or the transform FieldRename"
                diagnostics.error("PEN4003", message, at, help)
        if VOID in parts(column.type):
            message = f"the column `{column.name}` of type {column.type} has no type that a new Delta table could have"
            diagnostics.error("PEN4003", message, at, "cast its NULLs to the intended type")


def with_description(metadata: str | None, comment: str | None) -> str | None:
    """A `metaData` action of a new table, with the table's comment."""
    if metadata is None or not comment:
        return metadata
    action = json.loads(metadata)
    return json.dumps({**action, "metaData": {**action["metaData"], "description": comment}})
