"""The options of Delta tables, and their valid combinations for each write mode."""

from typing import Final

from catalog.datatypes import (
    DATE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    Array,
    DataType,
    Map,
    Struct,
    is_numeric,
)
from catalog.diagnostics import Diagnostics, did_you_mean
from catalog.savemode import WriteMode
from catalog.table import CatalogTable
from connectors.support.files.object_store import HADOOP_PROPERTIES
from connectors.support.incremental import INCREMENTAL
from connectors.support.option import (
    EVOLUTION_OPTION,
    KEY_OPTIONS,
    LOCAL_MERGE_OPTION,
    SAVE_OPTIONS,
    Option,
    Options,
    OptionType,
)
from connectors.support.schema_option import SCHEMA_OPTION
from connectors.support.source import STREAM

_PATH: Final = Option("path", OptionType.STRING, "The table's directory.", required=True)

SOURCE_OPTIONS: Final = (
    _PATH,
    SCHEMA_OPTION,
    STREAM,
    Option("version", OptionType.INTEGER, "Reads the table as of this version.", alternatives=("versionAsOf",)),
    Option("timestamp", OptionType.STRING, "Reads the table as of this time.", alternatives=("timestampAsOf",)),
    Option(
        "read_change_feed",
        OptionType.BOOLEAN,
        "Reads the table's changes instead of its rows, each with its row kind, `_commit_version` and "
        "`_commit_timestamp`; the table must have the property `delta.enableChangeDataFeed`.",
        default=False,
        alternatives=("readChangeFeed",),
    ),
    Option(
        "starting_version",
        OptionType.INTEGER,
        "The first version whose changes are read.",
        alternatives=("startingVersion",),
    ),
    Option(
        "ending_version",
        OptionType.INTEGER,
        "The last version whose changes are read; by default the latest.",
        alternatives=("endingVersion",),
    ),
    Option(
        "starting_timestamp",
        OptionType.STRING,
        "Reads the changes of commits from this time on.",
        alternatives=("startingTimestamp",),
    ),
    Option(
        "ending_timestamp",
        OptionType.STRING,
        "Reads the changes of commits up to this time.",
        alternatives=("endingTimestamp",),
    ),
    INCREMENTAL,
    HADOOP_PROPERTIES,
)

REPLACE_WHERE: Final = Option(
    "replace_where",
    OptionType.STRING,
    "Spark SQL over the target: for `write_mode = replace_where`, the rows that the written ones replace.",
)

VERSION_COLUMNS: Final = (
    Option(
        "valid_from_column",
        OptionType.STRING,
        "For scd2: the column of a version's first instant.",
        default="valid_from",
    ),
    Option(
        "valid_to_column",
        OptionType.STRING,
        "For scd2: the column of a version's end; NULL while it is current.",
        default="valid_to",
    ),
    Option(
        "current_column",
        OptionType.STRING,
        "For scd2: the column that says whether a version is the current one.",
        default="is_current",
    ),
)

VERSION_OPTIONS: Final = ("valid_from_column", "valid_to_column", "current_column")

SINK_OPTIONS: Final = (
    _PATH,
    Option(
        "partition_by",
        OptionType.LIST,
        "Columns by which a new table is partitioned.",
        element=OptionType.STRING,
        alternatives=("partitionBy",),
    ),
    Option(
        "cluster_by",
        OptionType.LIST,
        "Columns by which `OPTIMIZE` clusters a new table (liquid clustering), instead of `partition_by`.",
        element=OptionType.STRING,
        alternatives=("clusterBy",),
    ),
    EVOLUTION_OPTION,
    *SAVE_OPTIONS,
    *KEY_OPTIONS,
    REPLACE_WHERE,
    LOCAL_MERGE_OPTION,
    *VERSION_COLUMNS,
    Option(
        "table_properties",
        OptionType.MAP,
        "Properties of a new table: `{ delta.enableChangeDataFeed = true }`; a predicate for every row is named "
        "`delta.constraints.<name>`.",
    ),
    Option(
        "after_commit",
        OptionType.MAP,
        "Upkeep after the commit: `{ optimize = true, vacuum_hours = 168 }`; `optimize` may list columns to cluster "
        "by.",
    ),
    HADOOP_PROPERTIES,
)


def check_write_mode(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report options that the write mode needs, and those without effect on it."""
    mode = options.choice("write_mode", WriteMode)
    is_replace = mode is WriteMode.REPLACE_WHERE
    if is_replace and not options.optional_string("replace_where"):
        help = "replace_where = \"day = '2026-01-31'\""
        diagnostics.error("PEN2011", "write_mode replace_where needs `replace_where`", options.span("write_mode"), help)
    given = ("primary_keys", "sequence_field", "delete_condition") if not mode.needs_key else ()
    for name in (*given, *(("replace_where",) if not is_replace else ())):
        if options.get(name):
            message = f"`{name}` has no meaning for write_mode {mode.value}"
            needed = "write_mode = replace_where" if name == "replace_where" else "write_mode = upsert"
            diagnostics.error("PEN2011", message, options.span(name), needed)
    if mode.needs_key:
        _check_keys(mode, options, table, diagnostics)
    for key in options.mapping("after_commit"):
        if key not in ("optimize", "vacuum_hours"):
            hint = did_you_mean(key, ("optimize", "vacuum_hours"))
            diagnostics.error("PEN2003", f"`after_commit` has no `{key}`", options.span("after_commit"), hint)
    hours = options.mapping("after_commit").get("vacuum_hours", 0)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or hours < 0:
        message = f"`vacuum_hours` is a number of hours, not {hours!r}"
        diagnostics.error("PEN2004", message, options.span("after_commit"), "vacuum_hours = 168")


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
            elif column is not None and isinstance(column.type, Array | Map | Struct):
                message = f"the column `{name}` of type {column.type} cannot be a key"
                diagnostics.error("PEN4008", message, options.span(option))
    if mode is WriteMode.CHANGELOG and not table.has_row_kind and not options.optional_string("delete_condition"):
        message = "write_mode changelog needs rows with row kinds, or `delete_condition`"
        diagnostics.error("PEN2011", message, options.span("write_mode"), "write_mode = upsert writes plain rows")
    if mode is WriteMode.SCD2 and VERSION_OPTIONS[0] in options.values:  # else the sink cannot do it
        _check_versions(options, table, diagnostics)


def _check_versions(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """scd2 fills three columns itself; the start of a version is the value of `sequence_field`."""
    for option in VERSION_OPTIONS:
        name = options.string(option)
        if table.column(name) is not None:
            message = f"the rows have a column `{name}`, which write_mode scd2 fills itself"
            help = f'leave it out of the query, or name another column: {option} = "…"'
            diagnostics.error("PEN4003", message, options.span(option), help)
    sequence = options.optional_string("sequence_field")
    column = table.column(sequence) if sequence else None
    if column is not None and not _is_castable_to_timestamp(column.type):
        message = f"`{sequence}` of type {column.type} cannot be cast to timestamp, as write_mode scd2 does"
        diagnostics.error("PEN4008", message, options.span("sequence_field"), "name a column of dates or timestamps")


def _is_castable_to_timestamp(type: DataType) -> bool:
    return type in (DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING, UNKNOWN) or is_numeric(type)
