"""The options of Delta tables, and their valid combinations for each write mode."""

from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import (
    EVOLUTION_OPTION,
    KEY_OPTIONS,
    LOCAL_MERGE_OPTION,
    SAVE_OPTIONS,
    Option,
    Options,
    OptionType,
)
from catalog.outside import Fill
from catalog.tables.table import CatalogTable
from connectors.interface.incremental import INCREMENTAL
from connectors.interface.schema_option import SCHEMA_OPTION
from connectors.interface.source import STREAM
from connectors.lakehouse.versions import VERSION_COLUMNS
from connectors.lakehouse.write_modes import REPLACE_WHERE, check_write_mode
from connectors.storage.object_store import HADOOP_PROPERTIES

_PATH: Final = Option("path", OptionType.STRING, "The table's directory.", required=True, fill=Fill.PATH)

SOURCE_OPTIONS: Final = (
    Option(
        "path",
        OptionType.STRING,
        "The table's directory, or a pattern of directories: `lake/{database}/{table}` are the tables of a set.",
        required=True,
    ),
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


def check_sink(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report options that the write mode needs, those without effect on it, and unknown upkeep."""
    check_write_mode(options, table, diagnostics)
    for key in options.mapping("after_commit"):
        if key not in ("optimize", "vacuum_hours"):
            hint = did_you_mean(key, ("optimize", "vacuum_hours"))
            diagnostics.error("PEN2003", f"`after_commit` has no `{key}`", options.span("after_commit"), hint)
    hours = options.mapping("after_commit").get("vacuum_hours", 0)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or hours < 0:
        message = f"`vacuum_hours` is a number of hours, not {hours!r}"
        diagnostics.error("PEN2004", message, options.span("after_commit"), "vacuum_hours = 168")
