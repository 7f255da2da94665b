"""The schema of a Delta table as its log has it, and how `schema_evolution` changes it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from catalog.datatypes import VOID, DataType, Struct, parts
from catalog.diagnostics import Diagnostics
from catalog.evolution import SchemaEvolution, widens
from catalog.table import CatalogTable, Column
from connectors.support.option import Options
from connectors.support.spark_types import of_spark_json

_SIGNS: Final = frozenset(" ,;{}()\n\t=")
"""What no name of a column may hold without column mapping (Delta's `SchemaMergingUtils`)."""
_WIDENING: Final = "delta.enableTypeWidening"


def table_of(metadata: Mapping[str, Any]) -> CatalogTable:
    fields = json.loads(metadata["schemaString"])["fields"]
    columns = [Column(field["name"], of_spark_json(field["type"]), field.get("nullable", True)) for field in fields]
    return CatalogTable.of("target", columns)


def constraints(metadata: Mapping[str, Any], written: Sequence[str]) -> dict[str, str]:
    """The predicates that every row of the table satisfies, by name; of NOT NULL, those over the columns written."""
    prefix = "delta.constraints."
    found = {
        name.removeprefix(prefix): text
        for name, text in metadata.get("configuration", {}).items()
        if name.startswith(prefix)
    }
    names = {name.lower() for name in written}
    for field in json.loads(metadata["schemaString"])["fields"]:
        if not field.get("nullable", True) and field["name"].lower() in names:
            quoted = "`" + field["name"].replace("`", "``") + "`"
            found[f"not null of {field['name']}"] = f"{quoted} is not null"
    return found


def widened(metadata: Mapping[str, Any], incoming: Mapping[str, tuple[DataType, Any]]) -> str | None:
    """Delta's `metaData` action with columns of wider types and new columns; None where no column is widened.

    `incoming`: the rows' columns, their type and it in Spark's JSON, by name in lower case.
    """
    schema = json.loads(metadata["schemaString"])
    is_widened = False
    for field in schema["fields"]:
        given = incoming.get(field["name"].lower())
        if given is not None and widens(of_spark_json(field["type"]), given[0]):
            change = {"fromType": field["type"], "toType": given[1]}
            field["metadata"].setdefault("delta.typeChanges", []).append(change)
            field["type"] = given[1]
            is_widened = True
    if not is_widened:
        return None
    known = {field["name"].lower() for field in schema["fields"]}
    for name, (_, type) in incoming.items():
        if name not in known:
            schema["fields"].append({"name": name, "type": type, "nullable": True, "metadata": {}})
    configuration = {**metadata.get("configuration", {}), _WIDENING: "true"}
    changed = {**metadata, "schemaString": json.dumps(schema), "configuration": configuration}
    return json.dumps({"metaData": changed})


def evolution(options: Options) -> SchemaEvolution:
    return options.choice("schema_evolution", SchemaEvolution)


def refuse_for_new_table(columns: Sequence[Column], options: Options, diagnostics: Diagnostics) -> None:
    """What only a table that is there already may have: columns with certain characters (by column mapping), and NULLs
    without a type (in the table's type). Delta itself would say so when the other sinks have been committed."""
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
