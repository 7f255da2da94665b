"""The options of the write modes that Delta, Iceberg and Paimon share, and their valid combinations."""

from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option, Options, OptionType
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import VARIANT, Array, Map, Struct
from connectors.interface.sink import SinkCapabilities, refuse_plain_rows
from connectors.lakehouse.versions import VERSION_OPTIONS, MissingKeys, check_versions

CAPABILITIES: Final = SinkCapabilities(
    allows_concurrent_runs=True,
    commits_side_by_side=True,
    schema_save_modes=tuple(SchemaSaveMode),
    data_save_modes=(DataSaveMode.DROP_DATA, DataSaveMode.APPEND_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS),
    write_modes=tuple(WriteMode),
    fills_columns=True,
    row_kind_modes=(WriteMode.CHANGELOG, WriteMode.UPSERT, WriteMode.SCD2),
)

REPLACE_WHERE: Final = Option(
    "replace_where",
    OptionType.STRING,
    "Spark SQL over the target: for `write_mode = replace_where`, the rows that the written ones replace.",
)


def keyed_write_mode(options: Options, table: CatalogTable) -> WriteMode:
    """The write mode of rows if the job names none: inserts, updates and deletes are applied by the rows' key."""
    own = table.schema.primary_key
    keys = options.strings("primary_keys") or (own.columns if own else ())
    if not table.has_row_kind or not keys:
        return WriteMode.APPEND
    replaces = options.choice("data_save_mode", DataSaveMode) is DataSaveMode.DROP_DATA
    return WriteMode.UPSERT if replaces else WriteMode.CHANGELOG


def check_write_mode(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report options that the write mode needs, and those without effect on it."""
    mode = options.choice("write_mode", WriteMode)
    is_replace = mode is WriteMode.REPLACE_WHERE
    if is_replace and "replace_where" in options.values and not options["replace_where"]:  # else the sink cannot do it
        help = "replace_where = \"day = '2026-01-31'\""
        diagnostics.error("PEN2011", "write_mode replace_where needs `replace_where`", options.span("write_mode"), help)
    given = ("primary_keys", "sequence_field", "delete_condition") if not mode.needs_key else ()
    for name in (*given, *(("replace_where",) if not is_replace else ())):
        if options.get(name):
            message = f"`{name}` has no meaning for write_mode {mode.value}"
            needed = "write_mode = replace_where" if name == "replace_where" else "write_mode = upsert"
            diagnostics.error("PEN2011", message, options.span(name), needed)
    if mode is not WriteMode.SCD2 and options.get("missing_keys") == MissingKeys.END.value:
        message = f"`missing_keys = end` has no meaning for write_mode {mode.value}"
        diagnostics.error("PEN2011", message, options.span("missing_keys"), "write_mode = scd2")
    if mode.needs_key:
        _check_keys(mode, options, table, diagnostics)


def refuse_without_partitions(
    has_partitions: bool, name: str | None, options: Options, diagnostics: Diagnostics
) -> None:
    """Report a table, by its name, or a new one (None), whose partitions cannot be overwritten since it has none:
    Spark would replace all its rows."""
    replaces = options.choice("data_save_mode", DataSaveMode) is DataSaveMode.DROP_DATA
    if has_partitions or replaces or options.choice("write_mode", WriteMode) is not WriteMode.OVERWRITE_PARTITIONS:
        return
    span = options.span("write_mode")
    if name is None:
        message, help = "write_mode overwrite_partitions needs `partition_by`", 'partition_by = ["day"]'
        diagnostics.error("PEN2011", message, span, help)
        return
    message = f"write_mode overwrite_partitions needs partitions, and `{name}` has none: all its rows would be replaced"
    help = "write_mode = append adds the rows; write_mode = replace_where replaces those of a condition"
    diagnostics.error("PEN4004", message, span, help)


def _check_keys(mode: WriteMode, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    key = table.schema.primary_key
    names = options.strings("primary_keys") or (key.columns if key else ())
    if not names:
        help = 'primary_keys = ["id"]'
        message = f"write_mode {mode.value} needs `primary_keys`: the rows have no primary key"
        diagnostics.error("PEN2011", message, options.span("write_mode"), help)
    sequence = options.optional_string("sequence_field")
    for option, listed in (("primary_keys", names), ("sequence_field", (sequence,) if sequence else ())):
        for name in listed:
            column = table.column(name)
            if column is None and not table.is_open:
                hint = did_you_mean(name, table.schema.names)
                diagnostics.error("PEN4008", f"no column `{name}` in the rows", options.span(option), hint)
            elif column is not None and (isinstance(column.type, Array | Map | Struct) or column.type == VARIANT):
                message = f"the column `{name}` of type {column.type} cannot be a key"
                diagnostics.error("PEN4008", message, options.span(option))
    refuse_plain_rows(mode, options, table, diagnostics)
    if mode is WriteMode.SCD2 and VERSION_OPTIONS[0] in options.values:  # else the sink cannot do it
        check_versions(options, table, diagnostics)
