"""The options of Paimon tables, and their valid combinations."""

from collections.abc import Mapping, Sequence
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import KEY_OPTIONS, LOCAL_MERGE_OPTION, SAVE_OPTIONS, Option, Options, OptionType
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.savemode import WriteMode
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import BINARY, DOUBLE, FLOAT, VOID, Array, Map, Struct, has_unknown, parts
from connectors.interface.incremental import INCREMENTAL, incremental_of
from connectors.interface.schema_option import SCHEMA_OPTION
from connectors.interface.source import SOURCE_QUERY
from connectors.lakehouse.write_modes import check_write_mode
from connectors.matching.table_patterns import use_regex_option
from connectors.paimon.paimon_types import can_hold
from connectors.paimon.seatunnel_options import CATALOG_OPTIONS, TABLE_OPTIONS
from connectors.paimon.table_address import ADDRESS_OPTIONS

SOURCE_OPTIONS: Final = (
    *ADDRESS_OPTIONS,
    use_regex_option("`table`", "as the warehouse has them"),
    *CATALOG_OPTIONS,
    SCHEMA_OPTION,
    SOURCE_QUERY,
    INCREMENTAL,
    Option("snapshot_id", OptionType.INTEGER, "Reads the table as of this snapshot."),
    Option("tag", OptionType.STRING, "Reads the table as of this tag."),
)

SINK_OPTIONS: Final = (
    *ADDRESS_OPTIONS,
    *CATALOG_OPTIONS,
    Option(
        "partition_by",
        OptionType.LIST,
        "Columns by which a new table is partitioned. A primary key that does not contain them spans partitions.",
        element=OptionType.STRING,
    ),
    Option(
        "bucket",
        OptionType.INTEGER,
        "How many buckets each partition of a new table has: with a primary key by default 4, and one task writes one "
        "bucket; -1 lets a table with a primary key add buckets as it grows, which are found by the hashes of keys. A "
        "primary key that spans partitions has -1, and one task writes one bucket.",
    ),
    Option(
        "table_properties",
        OptionType.MAP,
        'Options of a new table: `{ "file.format" = orc, "bucket-key" = "id" }`.',
    ),
    Option("tag", OptionType.STRING, "The name of a tag that the commit gives to its snapshot."),
    Option(
        "schema_evolution",
        OptionType.STRING,
        "What happens where the rows do not fit the target: `add_columns` adds the columns that it lacks.",
        default=SchemaEvolution.FAIL.value,
        choices=(SchemaEvolution.FAIL.value, SchemaEvolution.ADD_COLUMNS.value),
    ),
    Option(
        "count_changes",
        OptionType.BOOLEAN,
        "Whether the run counts the rows that a merge inserts, updates and deletes. For that it reads the keys of the "
        "table and joins them with the rows.",
        default=False,
    ),
    *SAVE_OPTIONS,
    *KEY_OPTIONS,
    LOCAL_MERGE_OPTION,
    *TABLE_OPTIONS,
)

_OWN_OPTIONS: Final = {
    "bucket": "bucket",
    "primary-key": "primary_keys",
    "partition": "partition_by",
    "sequence.field": "sequence_field",
}
"""Options of a table that are options of the sink."""


def check_time_travel(options: Options, diagnostics: Diagnostics) -> None:
    if options.get("snapshot_id") is not None and options.get("tag") is not None:
        diagnostics.error("PEN2011", "`snapshot_id` and `tag` exclude each other", options.span("tag"))
    asked = incremental_of(options)
    for name in ("snapshot_id", "tag"):
        if options.get(name) is not None and asked is not None and asked.column is None:
            message = f"`{name}` reads one state of the table, `incremental` without `column` its new snapshots"
            diagnostics.error("PEN2011", message, options.span(name), "leave one of them out")


def check_sink(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report columns that no table can have, and options that the write mode needs or that mean nothing for it."""
    for column in table.columns:
        if not has_unknown(column.type) and not can_hold(column.type):
            message = f"Paimon tables cannot hold the column `{column.name}` of type {column.type}"
            help = "cast its NULLs to the intended type" if VOID in parts(column.type) else "cast it to string"
            diagnostics.error("PEN4003", message, options.span(), help)
    check_write_mode(options, table, diagnostics)
    _check_properties(options, diagnostics)
    for name, option in _OWN_OPTIONS.items():
        if name in options.texts_by_key("table_properties"):
            message = f"`{name}` is not given in `table_properties`"
            diagnostics.error("PEN2011", message, options.span("table_properties"), f"the option `{option}`")


def unserved_property(table_options: Mapping[str, str]) -> str | None:
    """The option of a table that asks a write for more than files, and for what; None if there is none."""
    for name, reason in _UNSERVED.items():
        if table_options.get(name, "none").lower() not in ("none", "false", ""):
            return f"{name} = {table_options[name]}: {reason}"
    return None


_UNSERVED: Final = {
    "log.system": "rows are written to the table, and to no log that readers take them from",
    "sink.savepoint.auto-tag": "no tag is made when a stream stops with a savepoint",
}

_BY_OTHERS: Final = (
    "snapshot.num-retained.", "snapshot.time-retained", "snapshot.expire.", "changelog.num-retained.",
    "changelog.time-retained", "compaction.", "num-sorted-run.", "full-compaction.", "tag.automatic-creation",
)  # fmt: skip
"""Beginnings of the options by which other programs compact tables, expire snapshots and make tags."""


def _check_properties(options: Options, diagnostics: Diagnostics) -> None:
    """Report properties of a new table that no write of Penstock serves."""
    given, span = options.texts_by_key("table_properties"), options.span("table_properties")
    if (unserved := unserved_property(given)) is not None:
        help = "leave it out; a second sink `Kafka` writes the rows to a topic, and `tag` names the run's snapshot"
        diagnostics.error("PEN4460", f"`table_properties` has {unserved}", span, help)
    for name in given:
        if name.startswith(_BY_OTHERS):
            message = f"`{name}` has no effect on the writes of this job: they neither compact nor expire anything"
            help = "a program that maintains the table, such as Flink's compaction job, follows it"
            diagnostics.warning("PEN4461", message, span, help)


def check_new_table(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report keys, partitions and buckets that a table cannot be created with."""
    partitions, mode = options.strings("partition_by"), options.choice("write_mode", WriteMode)
    own = table.schema.primary_key
    keys = (options.strings("primary_keys") or (own.columns if own else ())) if mode.needs_key else ()
    _check_partitions(options, table, diagnostics)
    spanned = spanned_partition(options, keys)
    if keys and {key.lower() for key in keys} <= {name.lower() for name in partitions}:
        message = "the primary key needs a column beside the partition columns"
        diagnostics.error("PEN2011", message, options.span("partition_by"))
    elif spanned is not None and (options.optional_integer("bucket") or 0) > 0:
        message = (
            f"the primary key ({', '.join(keys)}) must contain the partition column `{spanned}`, or `bucket` be -1"
        )
        help = f"bucket = -1, or add `{spanned}` to `primary_keys`"
        diagnostics.error("PEN2011", message, options.span("bucket"), help)
    elif spanned is not None and (cause := unfit_for_spanning_keys(options.texts_by_key("table_properties"))):
        message = f"a table with {cause}, as its primary key does not contain the partition column `{spanned}`"
        help = f"leave the option out of `table_properties`, or add `{spanned}` to `primary_keys`"
        diagnostics.error("PEN2011", message, options.span("table_properties"), help)
    if mode is WriteMode.OVERWRITE_PARTITIONS and not partitions:
        message, help = "write_mode overwrite_partitions needs `partition_by`", 'partition_by = ["day"]'
        diagnostics.error("PEN2011", message, options.span("write_mode"), help)
    _check_bucket(options, bool(keys), diagnostics)


def spanned_partition(options: Options, keys: Sequence[str]) -> str | None:
    """The first partition column of a new table that is not in its primary key; None without a primary key."""
    known = {key.lower() for key in keys}
    return next((name for name in options.strings("partition_by") if keys and name.lower() not in known), None)


def unfit_for_spanning_keys(table_options: Mapping[str, str]) -> str | None:
    """The option by which rows cannot move from one partition to another, and why; None if there is none."""
    for name, reason in _UNFIT_FOR_SPANNING_KEYS.items():
        if table_options.get(name, "false").lower() not in ("false", ""):
            return f"{name} = {table_options[name]} cannot be written: {reason}"
    if (engine := table_options.get("merge-engine", "deduplicate")) != "deduplicate":
        return f"merge-engine = {engine} cannot be written: rows would have to stay in their old partition"
    return None


_NOT_DELETED: Final = "a row that moves to another partition would stay in the old one, too"
_UNFIT_FOR_SPANNING_KEYS: Final = {
    "ignore-delete": _NOT_DELETED,
    "deduplicate.ignore-delete": _NOT_DELETED,
    "deletion-vectors.enabled": "keys that are not compacted yet cannot be read",
    "sequence.field": "Paimon refuses it where keys span partitions",
}


def _check_partitions(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    for name in options.strings("partition_by"):
        column, span = table.column(name), options.span("partition_by")
        if column is None and not table.is_open:
            hint = did_you_mean(name, table.schema.names)
            diagnostics.error("PEN4008", f"no column `{name}` to partition the table by", span, hint)
        elif column is not None and (isinstance(column.type, Array | Map | Struct) or column.type in _UNFIT):
            message = f"the column `{name}` of type {column.type} cannot partition a table"
            diagnostics.error("PEN4008", message, span)


_UNFIT: Final = (FLOAT, DOUBLE, BINARY)


def _check_bucket(options: Options, has_key: bool, diagnostics: Diagnostics) -> None:
    bucket = options.optional_integer("bucket")
    if bucket is None:
        return
    span = options.span("bucket")
    if bucket == -2:
        message = "a table with bucket = -2 postpones its buckets: rows are not readable before a compaction by Flink"
        diagnostics.error("PEN2004", message, span, "bucket = 4")
    elif bucket == 0 or bucket < -1:
        diagnostics.error("PEN2004", f"`bucket` is a number of buckets, or -1, not {bucket}", span, "bucket = 4")
    elif bucket > 0 and not has_key and "bucket-key" not in options.texts_by_key("table_properties"):
        message = "a table without primary key needs the columns that decide the bucket of a row"
        help = 'table_properties = { "bucket-key" = "id" }, or leave `bucket` out'
        diagnostics.error("PEN2011", message, span, help)
