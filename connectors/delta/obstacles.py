"""Properties of an existing Delta table that would fail the commit, reported before the run."""

from collections.abc import Mapping
from typing import Any

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from connectors.delta import table_schema
from connectors.lakehouse.versions import refuse_for_versions
from connectors.lakehouse.write_modes import refuse_without_partitions


def refuse_for_table(metadata: Mapping[str, Any], options: Options, diagnostics: Diagnostics) -> None:
    """Report what a table with this `metaData` action cannot accept (PEN4003, PEN4004)."""
    mode = options.choice("write_mode", WriteMode)
    recreates = options.choice("schema_save_mode", SchemaSaveMode) is SchemaSaveMode.RECREATE_SCHEMA
    replaces = recreates or options.choice("data_save_mode", DataSaveMode) is DataSaveMode.DROP_DATA
    is_append_only = metadata.get("configuration", {}).get("delta.appendOnly", "").lower() == "true"
    if is_append_only and (replaces or mode is not WriteMode.APPEND):
        message = f"`{options['path']}` is an append-only table (`delta.appendOnly`): its rows cannot be changed"
        diagnostics.error("PEN4004", message, options.span("write_mode"), "write_mode = append adds the rows")
    if not recreates:
        refuse_without_partitions(bool(metadata.get("partitionColumns")), str(options["path"]), options, diagnostics)
    if mode is WriteMode.SCD2 and not replaces:
        refuse_for_versions(table_schema.table_of(metadata), f"{options['path']}", options, diagnostics)
