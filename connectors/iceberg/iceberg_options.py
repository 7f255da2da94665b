"""The options of Iceberg tables, and what no table of Iceberg's can hold."""

from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import KEY_OPTIONS, LOCAL_MERGE_OPTION, SAVE_OPTIONS, Option, Options, OptionType
from catalog.outside import Fill
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import CALENDAR_INTERVAL, VOID, DataType, Interval, Time, has_unknown, parts
from connectors.iceberg.seatunnel_options import CATALOG_OPTIONS, SNAPSHOT_TIME, TABLE_OPTIONS
from connectors.iceberg.snapshot_range import RANGE_OPTIONS, check_range
from connectors.interface.incremental import INCREMENTAL
from connectors.interface.schema_option import SCHEMA_OPTION
from connectors.interface.source import SOURCE_QUERY, STREAM
from connectors.lakehouse.versions import VERSION_COLUMNS
from connectors.lakehouse.write_modes import REPLACE_WHERE, check_write_mode
from connectors.matching.table_patterns import use_regex_option

_ADDRESS: Final = (
    Option(
        "table_path",
        OptionType.STRING,
        "A table of a Spark catalog (set in `env`): `catalog.db.table`.",
        fill=Fill.FOLDER_TABLE,
    ),
    Option(
        "warehouse",
        OptionType.STRING,
        "A directory of tables, for tables that no catalog keeps.",
        fill=Fill.PATH,
    ),
    Option("table", OptionType.STRING, "The table in `warehouse`: `db.table`.", fill=Fill.FOLDER_TABLE),
    *CATALOG_OPTIONS,
)

AT_OPTIONS: Final = ("snapshot_id", "as_of_timestamp", "branch", "tag")

SOURCE_OPTIONS: Final = (
    *_ADDRESS,
    use_regex_option(
        "`table_path` or `table`",
        "those of a local `warehouse` as they are, others as `penstock schema sync` has recorded them",
    ),
    SCHEMA_OPTION,
    SOURCE_QUERY,
    STREAM,
    INCREMENTAL,
    Option(
        "snapshot_id", OptionType.INTEGER, "Reads the table as of this snapshot.", alternatives=("use_snapshot_id",)
    ),
    Option("as_of_timestamp", OptionType.STRING, "Reads the table as of this time: `2026-01-31 00:00:00`."),
    Option("branch", OptionType.STRING, "Reads this branch."),
    Option("tag", OptionType.STRING, "Reads the table as of this tag."),
    *RANGE_OPTIONS,
    Option(SNAPSHOT_TIME, OptionType.INTEGER, "`as_of_timestamp` in milliseconds since 1970."),
)

SINK_OPTIONS: Final = (
    *_ADDRESS,
    Option(
        "partition_by",
        OptionType.LIST,
        "How a new table is partitioned: by columns, or by `years`, `months`, `days` or `hours(ts)`, `bucket(16, id)`, "
        "`truncate(4, code)`.",
        element=OptionType.STRING,
    ),
    Option(
        "sort_by",
        OptionType.LIST,
        "How a new table sorts the rows of its files: columns, each with `desc` or `nulls last` where that is meant.",
        element=OptionType.STRING,
    ),
    Option(
        "schema_evolution",
        OptionType.STRING,
        "What happens where the rows do not fit the target: `add_columns` adds the columns that it lacks, `widen` also "
        "gives columns a wider type (int to bigint, float to double, decimals of more digits).",
        default=SchemaEvolution.FAIL.value,
        choices=tuple(evolution.value for evolution in SchemaEvolution),
    ),
    *SAVE_OPTIONS,
    *KEY_OPTIONS,
    REPLACE_WHERE,
    *VERSION_COLUMNS,
    LOCAL_MERGE_OPTION,
    Option(
        "to_branch",
        OptionType.STRING,
        "The branch that rows are appended to, by default the main one. One that is not there begins at the main one's "
        "latest snapshot.",
        alternatives=("iceberg.table.commit-branch",),
    ),
    Option(
        "table_properties",
        OptionType.MAP,
        'Properties of a new table: `{ "write.format.default" = orc, "write.merge.mode" = "merge-on-read" }`.',
    ),
    *TABLE_OPTIONS,
)


def check_sink(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Columns that no table can have, and options that the write mode needs or that mean nothing for it."""
    for column in table.columns:
        if not has_unknown(column.type) and not can_hold(column.type):
            message = f"Iceberg tables cannot hold the column `{column.name}` of type {column.type}"
            is_void = VOID in parts(column.type)
            help = "cast its NULLs to the intended type" if is_void else "cast it to string"
            diagnostics.error("PEN4003", message, options.span(), help)
    check_write_mode(options, table, diagnostics)
    _check_branch(options, diagnostics)


def branch_of(options: Options) -> str | None:
    """The branch that a sink appends to; None for the main one."""
    name = options.optional_string("to_branch")
    return None if name in (None, "", "main") else name


def _check_branch(options: Options, diagnostics: Diagnostics) -> None:
    """Only appends go to a branch: all other writes replace rows of the main one."""
    if branch_of(options) is None:
        return
    wanted = {"write_mode": WriteMode.APPEND.value, "data_save_mode": DataSaveMode.APPEND_DATA.value}
    for name, only in wanted.items():
        if options.get(name) is not None and str(options[name]).lower() != only.lower():
            message = f"`to_branch` takes appended rows, not {name} {options[name]}"
            diagnostics.error("PEN2011", message, options.span("to_branch"), f"{name} = {only}")
    if options.choice("schema_save_mode", SchemaSaveMode) is SchemaSaveMode.RECREATE_SCHEMA:
        message = "`to_branch` names a branch of a table, and RECREATE_SCHEMA replaces the table"
        diagnostics.error("PEN2011", message, options.span("to_branch"), "leave one of them out")


def check_time_travel(options: Options, diagnostics: Diagnostics) -> None:
    check_range(options, AT_OPTIONS, diagnostics)
    given = [name for name in AT_OPTIONS if options.get(name) is not None]
    if len(given) > 1:
        message = f"`{given[0]}` and `{given[1]}` exclude each other"
        diagnostics.error("PEN2011", message, options.span(given[1]))


def can_hold(type: DataType) -> bool:
    """Whether a column of that type, its parts included, can be written by Spark."""
    return not any(part in (CALENDAR_INTERVAL, VOID) or isinstance(part, Interval | Time) for part in parts(type))
