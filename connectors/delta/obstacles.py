"""Properties of an existing Delta table that would fail the commit, reported before the run."""

import json
from collections.abc import Mapping
from typing import Any

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.tables.table import CatalogTable
from connectors.delta import table_schema
from connectors.lakehouse.versions import refuse_for_versions
from connectors.lakehouse.write_modes import refuse_without_partitions


def refuse_for_table(
    metadata: Mapping[str, Any], options: Options, diagnostics: Diagnostics, rows: CatalogTable | None = None
) -> None:
    """Report what a table with this `metaData` action cannot accept (PEN4003, PEN4004). `rows`: what is written."""
    mode = options.choice("write_mode", WriteMode)
    recreates = options.choice("schema_save_mode", SchemaSaveMode) is SchemaSaveMode.RECREATE_SCHEMA
    replaces = recreates or options.choice("data_save_mode", DataSaveMode) is DataSaveMode.DROP_DATA
    is_append_only = metadata.get("configuration", {}).get("delta.appendOnly", "").lower() == "true"
    if is_append_only and (replaces or mode is not WriteMode.APPEND):
        message = f"`{options['path']}` is an append-only table (`delta.appendOnly`): its rows cannot be changed"
        diagnostics.error("PEN4004", message, options.span("write_mode"), "write_mode = append adds the rows")
    if not recreates and (replaces or not mode.needs_key):
        _refuse_identity(metadata, options, diagnostics, rows)
    if not recreates:
        refuse_without_partitions(bool(metadata.get("partitionColumns")), str(options["path"]), options, diagnostics)
    if mode is WriteMode.SCD2 and not replaces:
        refuse_for_versions(table_schema.table_of(metadata), f"{options['path']}", options, diagnostics)


def _refuse_identity(
    metadata: Mapping[str, Any], options: Options, diagnostics: Diagnostics, rows: CatalogTable | None
) -> None:
    """Rows are staged in a transaction that does not commit: Delta would give the numbers of an identity column to them
    and once more to the rows of another run."""
    for field in json.loads(metadata["schemaString"])["fields"]:
        is_given = rows is not None and (rows.is_open or rows.column(field["name"]) is not None)
        if "delta.identity.start" in field.get("metadata", {}) and not is_given:
            message = (
                f"`{options['path']}` has the identity column `{field['name']}`, whose numbers would be given twice"
            )
            help = "`write_mode = upsert` lets Delta number the rows in the commit; or write the column's values"
            diagnostics.error("PEN4003", message, options.span("write_mode"), help)
