"""The change feed of a Delta table: each row is a change of a commit, and its row kind says which."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.row_kind import ROW_KIND, RowKind
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BIGINT, TIMESTAMP
from connectors.interface.incremental import Incremental, Since, incremental_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader

VERSION: Final = Column("_commit_version", BIGINT)
COMMIT_COLUMNS: Final = (VERSION, Column("_commit_timestamp", TIMESTAMP))
"""What a feed has in addition to the table's columns: the commit of a change."""
_TYPE: Final = "_change_type"
_KINDS: Final = {
    "insert": RowKind.INSERT,
    "update_preimage": RowKind.UPDATE_BEFORE,
    "update_postimage": RowKind.UPDATE_AFTER,
    "delete": RowKind.DELETE,
}
_BOUNDS: Final = {
    "starting_version": "startingVersion",
    "ending_version": "endingVersion",
    "starting_timestamp": "startingTimestamp",
    "ending_timestamp": "endingTimestamp",
}


def check_bounds(options: Options, diagnostics: Diagnostics) -> None:
    """Report bounds that contradict each other, or that are given without a feed (PEN2011)."""
    given = [name for name in _BOUNDS if options.get(name) is not None]
    if not options.flag("read_change_feed"):
        for name in given:
            message = f"`{name}` bounds the change feed, which is not read"
            diagnostics.error("PEN2011", message, options.span(name), "read_change_feed = true")
        return
    for name in ("version", "timestamp"):
        if options.get(name) is not None:
            message = f"`{name}` and `read_change_feed` exclude each other"
            diagnostics.error("PEN2011", message, options.span(name), f"starting_{name} bounds the feed")
    for bound in ("starting", "ending"):
        if f"{bound}_version" in given and f"{bound}_timestamp" in given:
            message = f"`{bound}_version` and `{bound}_timestamp` exclude each other"
            diagnostics.error("PEN2011", message, options.span(f"{bound}_timestamp"))
    if (asked := incremental_of(options)) is not None:
        if asked.column not in (None, VERSION.name):
            message = f"a change feed is read incrementally by `{VERSION.name}`"
            diagnostics.error("PEN2011", message, options.span("incremental.column"), "leave `column` out")
        for name in given:
            message = f"`{name}` and `incremental` exclude each other"
            diagnostics.error("PEN2011", message, options.span(name), "incremental { initial = 5 }")
    elif not any(name.startswith("starting") for name in given):
        message = "a change feed needs `starting_version` or `starting_timestamp`"
        diagnostics.error("PEN2011", message, options.span("read_change_feed"), "starting_version = 0")


def check_enabled(enabled: str, options: Options, diagnostics: Diagnostics) -> None:
    """Report a table that records no changes; `enabled` is its property `delta.enableChangeDataFeed`."""
    if enabled.lower() != "true":
        message = f"`{options['path']}` records no change feed (`delta.enableChangeDataFeed`)"
        help = "ALTER TABLE … SET TBLPROPERTIES (delta.enableChangeDataFeed = true): changes are recorded from then on"
        diagnostics.error("PEN2011", message, options.span("read_change_feed"), help)


def feed_of(table: CatalogTable) -> CatalogTable:
    """The feed's table: the columns of the Delta table and of its commits, and a row kind."""
    added = tuple(column for column in COMMIT_COLUMNS if table.column(column.name) is None)
    schema = replace(table.schema, columns=(*table.columns, *added))
    return replace(table, schema=schema, has_row_kind=True)


def bounded(reader: "DataFrameReader", options: Options) -> "DataFrameReader":
    reader = reader.option("readChangeFeed", "true")
    for name, spark_name in _BOUNDS.items():
        if options.get(name) is not None:
            reader = reader.option(spark_name, str(options[name]))
    return reader


def options_since(options: Options, asked: Incremental, since: Since) -> Options:
    """The options with the versions that are new as the feed's bounds."""
    first = int(asked.initial or 0)
    if since.after is not None:
        first = int(since.after.value) - int(asked.lag) if asked.lag else int(since.after.value) + 1
    bounds = {"starting_version": max(first, 0), "ending_version": int(since.until.value) if since.until else None}
    return replace(options, values={**options.values, **bounds})


def with_row_kinds(df: "DataFrame", names: tuple[str, ...]) -> "DataFrame":
    """The feed's columns of these names (all where there is none), and its row kinds in the hidden column, last."""
    shown = names or tuple(name for name in df.columns if name != _TYPE)
    cases = " ".join(f"when {quote_text(type)} then {quote_text(kind.value)}" for type, kind in _KINDS.items())
    return df.selectExpr(*map(quote, shown), f"case {_TYPE} {cases} end as {quote(ROW_KIND)}")
