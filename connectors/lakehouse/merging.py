"""Rows matched to a table's rows by key: reduced to one row per key while they are staged, merged at the commit.

Staged rows have the incoming columns and `__deleted`, whether the row deletes the target's row of its key.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from catalog.quoting import quote, quote_text
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.savemode import WriteMode
from connectors.interface.sink import WriteTask
from connectors.lakehouse.keyed_rows import DELETED, KeyedRows
from connectors.lakehouse.timeline import first_versions, one_row_per_instant, valid_from
from connectors.lakehouse.versions import MissingKeys, column_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RANK: Final = "__rank"
_COPIES: Final = "__copies"
_BOUNDED: Final = ("tinyint", "smallint", "int", "bigint", "date", "timestamp", "timestamp_ntz", "decimal", "string")
_LOCAL_MERGE: Final[Mapping[str, Mapping[str, str]]] = {
    "auto": {},
    "on": {"spark.sql.optimizer.windowGroupLimitThreshold": "1000"},
    "off": {"spark.sql.optimizer.windowGroupLimitThreshold": "-1"},
}
"""Session settings: reduce to one row per key in each task before the shuffle, or shuffle all rows."""


def keyed_rows(task: WriteTask) -> KeyedRows | None:
    """How a write matches rows to the table's; None if it does not."""
    if not task.write_mode.needs_key:
        return None
    return KeyedRows(
        keys=task.primary_keys,
        sequence_field=task.options.optional_string("sequence_field"),
        delete_condition=task.options.optional_string("delete_condition"),
        has_row_kind=task.table.has_row_kind,
        versions=column_list(task.options) if task.write_mode is WriteMode.SCD2 else (),
        ends_missing=task.options.get("missing_keys") == MissingKeys.END.value and task.write_mode is WriteMode.SCD2,
        started_at=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%fZ"),
    )


@contextmanager
def local_merge(session: "SparkSession", task: WriteTask) -> Iterator[None]:
    """The session with the settings of the write's option `local_merge`, for a while."""
    settings = _LOCAL_MERGE[task.options.string("local_merge")]
    before = {key: session.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            session.conf.unset(key) if old is None else session.conf.set(key, old)


def write_resolved(rows: "DataFrame", folder: str, task: WriteTask) -> None:
    """Write rows as Parquet."""
    with local_merge(rows.sparkSession, task):
        rows.write.mode("overwrite").parquet(folder)


def resolved(df: "DataFrame", rows: KeyedRows) -> "DataFrame":
    """One row per key (for scd2, and instant), with `__deleted`; fails if a key is NULL, or if the winner of several
    rows is not determined."""
    columns = [quote(name) for name in df.columns if name != ROW_KIND]
    kind = [quote(ROW_KIND)] if rows.has_row_kind else []
    marked = df.selectExpr(*columns, f"{_is_deleted(rows)} as {DELETED}", *kind)
    for key in rows.keys:
        message = quote_text(f"the key column {key} is NULL in a row. Filter such rows, or give them a key")
        marked = marked.where(f"assert_true({quote(key)} is not null, {message}) is null")
    if rows.versions and rows.sequence_field:
        message = quote_text(f"sequence_field {rows.sequence_field} is NULL in a row, and gives no first instant")
        marked = marked.where(f"assert_true({valid_from(rows)} is not null, {message}) is null")
    by = f"partition by {', '.join(quote(key) for key in rows.keys)}"
    is_before = f"{quote(ROW_KIND)} = '-U'" if rows.has_row_kind else "false"
    if rows.versions and rows.sequence_field:
        return one_row_per_instant(marked, rows, columns, is_before)
    if rows.sequence_field:
        order = f"{quote(rows.sequence_field)} desc nulls last, {DELETED}"  # a delete and an insert of one commit
        ranked = marked.selectExpr("*", f"row_number() over ({by} order by {order}) as {_RANK}")
        return ranked.where(f"{_RANK} = 1").selectExpr(*columns, DELETED)
    copies = f"count_if(not {is_before}) over ({by}) as {_COPIES}"
    ranked = marked.selectExpr("*", copies, f"row_number() over ({by} order by {is_before}) as {_RANK}")
    single = ranked.where(f"{_RANK} = 1").where(f"assert_true({_COPIES} <= 1, {_several(rows)}) is null")
    return single.selectExpr(*columns, DELETED)


def check_replace_where(df: "DataFrame", condition: str) -> "DataFrame":
    """The rows; fails at one that does not satisfy the condition by which the target's rows are replaced."""
    message = quote_text("a row does not satisfy replace_where")
    return df.where(f"assert_true(coalesce(({condition}\n), false), {message}) is null")


def _is_deleted(rows: KeyedRows) -> str:
    """An update of a key is a row before it and one after it: a `-U` without its `+U` deletes the old key."""
    by_kind = [f"{quote(ROW_KIND)} in ('-D', '-U')"] if rows.has_row_kind else []
    by_condition = [f"coalesce(({rows.delete_condition}\n), false)"] if rows.delete_condition else []
    return " or ".join([*by_kind, *by_condition]) or "false"


def _several(rows: KeyedRows) -> str:
    """The error message, as Spark SQL, with the key that several rows share."""
    shown = [f"concat({quote_text(key + ' = ')}, cast({quote(key)} as string))" for key in rows.keys]
    key = f"concat_ws(', ', {', '.join(shown)})"
    return f"concat('several rows have the key ', {key}, ': name the column that orders them, sequence_field')"


def without_deletes(df: "DataFrame", rows: KeyedRows) -> "DataFrame":
    """The resolved rows that a new or emptied table receives: those that are not deletes."""
    return first_versions(df, rows) if rows.versions else df.where(f"not {DELETED}").drop(DELETED)


def merge_statement(target: str, source: str, columns: Sequence[str], rows: KeyedRows, bounds: str) -> str:
    """Update rows with an equal key, insert the others, delete marked ones; older rows change nothing."""
    on = " AND ".join([*(f"t.{quote(key)} = s.{quote(key)}" for key in rows.keys), *([bounds] if bounds else [])])
    newer = _newer(rows)
    sets = ", ".join(f"t.{quote(name)} = s.{quote(name)}" for name in columns)
    names = ", ".join(quote(name) for name in columns)
    values = ", ".join(f"s.{quote(name)}" for name in columns)
    return (
        f"MERGE INTO {target} AS t USING {source} AS s ON {on}\n"
        f"WHEN MATCHED AND s.{DELETED}{newer} THEN DELETE\n"
        f"WHEN MATCHED AND NOT s.{DELETED}{newer} THEN UPDATE SET {sets}\n"
        f"WHEN NOT MATCHED AND NOT s.{DELETED} THEN INSERT ({names}) VALUES ({values})"
    )


def _newer(rows: KeyedRows) -> str:
    if not rows.sequence_field:
        return ""
    field = quote(rows.sequence_field)
    return f" AND (t.{field} IS NULL OR s.{field} >= t.{field})"


def bounds_of(staged: "DataFrame", keys: Sequence[str]) -> str:
    """A predicate on the target's key columns by which Delta skips files without a staged key."""
    types = {name: type for name, type in staged.dtypes if name in keys}
    bounded = [key for key in keys if types.get(key, "").partition("(")[0] in _BOUNDED]
    if not bounded:
        return ""
    row = staged.selectExpr(
        *(f"cast({which}({quote(key)}) as string) as `{which} {key}`" for key in bounded for which in ("min", "max"))
    ).first()
    if row is None or row[0] is None:
        return ""
    limits = [(key, row[2 * place], row[2 * place + 1]) for place, key in enumerate(bounded)]
    return " AND ".join(
        f"t.{quote(key)} BETWEEN cast({quote_text(low)} as {types[key]}) AND cast({quote_text(high)} as {types[key]})"
        for key, low, high in limits
    )
