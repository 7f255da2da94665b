"""Properties of an existing Delta table that would fail the commit, reported before the run."""

from collections.abc import Mapping
from typing import Any, Final

from catalog.datatypes import BOOLEAN, TIMESTAMP, TIMESTAMP_NTZ, DataType
from catalog.diagnostics import Diagnostics
from catalog.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.table import CatalogTable
from connectors.support.delta import table_schema
from connectors.support.delta.merging import column_list
from connectors.support.option import Options

_VERSIONS: Final[tuple[tuple[DataType, ...], ...]] = (
    (TIMESTAMP, TIMESTAMP_NTZ),
    (TIMESTAMP, TIMESTAMP_NTZ),
    (BOOLEAN,),
)
"""The types of the columns that scd2 fills: start and end of a version, and whether it is the current one."""


def refuse_for_table(metadata: Mapping[str, Any], options: Options, diagnostics: Diagnostics) -> None:
    """Report what a table with this `metaData` action cannot accept (PEN4003, PEN4004)."""
    mode = options.choice("write_mode", WriteMode)
    recreates = options.choice("schema_save_mode", SchemaSaveMode) is SchemaSaveMode.RECREATE_SCHEMA
    replaces = recreates or options.choice("data_save_mode", DataSaveMode) is DataSaveMode.DROP_DATA
    is_append_only = metadata.get("configuration", {}).get("delta.appendOnly", "").lower() == "true"
    if is_append_only and (replaces or mode is not WriteMode.APPEND):
        message = f"`{options['path']}` is an append-only table (`delta.appendOnly`): its rows cannot be changed"
        diagnostics.error("PEN4004", message, options.span("write_mode"), "write_mode = append adds the rows")
    if mode is WriteMode.SCD2 and not replaces:
        refuse_for_versions(table_schema.table_of(metadata), f"{options['path']}", options, diagnostics)


def refuse_for_versions(table: CatalogTable, shown: str, options: Options, diagnostics: Diagnostics) -> None:
    """Report columns of versions that an existing table lacks, or has in another type (PEN4003)."""
    for name, types in zip(column_list(options), _VERSIONS, strict=True):
        column, span = table.column(name), options.span("write_mode")
        if column is None:
            message = f"write_mode scd2 needs the column `{name}`, which `{shown}` does not have"
            help = f"ALTER TABLE … ADD COLUMNS ({name} {types[0]}), and fill it for the rows that are there"
            diagnostics.error("PEN4003", message, span, help)
        elif column.type not in types:
            message = f"write_mode scd2 needs `{name}` as {types[0]}, in `{shown}` it is {column.type}"
            diagnostics.error("PEN4003", message, span, "name other columns: valid_from_column, valid_to_column, …")
    end = table.column(column_list(options)[1])
    if end is not None and not end.nullable:
        message = f"write_mode scd2 writes NULL into `{end.name}`, which is NOT NULL in `{shown}`"
        diagnostics.error("PEN4003", message, options.span("write_mode"), "ALTER TABLE … ALTER COLUMN … DROP NOT NULL")
