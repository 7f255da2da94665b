"""The versions of a key that scd2 writes: which rows begin one, and when it ends.

Staged rows and the target's current ones are put in the order of their instants. A row begins a version if it differs
from the one before it; the version ends where the next one begins, or where the key is deleted. A row with the instant
of the current version corrects that version. Rows older than what the target knows of their key change nothing.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from catalog.quoting import quote, quote_text
from connectors.lakehouse.keyed_rows import DELETED, KeyedRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FROM: Final = "__from"
_TO: Final = "__to"
_THERE: Final = "__there"
_KNOWN: Final = "__known"
_MISSING: Final = "__missing"
_OPEN: Final = "__open"


def valid_from(rows: KeyedRows, alias: str = "") -> str:
    """The instant of a staged row, as Spark SQL."""
    if rows.sequence_field:
        return f"cast({alias}{quote(rows.sequence_field)} as timestamp)"
    return f"timestamp {quote_text(rows.started_at)}"


def one_row_per_instant(marked: "DataFrame", rows: KeyedRows, columns: Sequence[str], is_before: str) -> "DataFrame":
    """Of several rows of a key and instant the last, an insert before a delete. The row before an update (`is_before`)
    counts only where no row of its key follows: it says that the key is gone."""
    by = f"partition by {', '.join(map(quote, rows.keys))}"
    order = f"order by {quote(rows.sequence_field or '')} desc nulls last, {DELETED}"
    latest = f"max(if({is_before}, null, {_FROM})) over ({by}) as {_KNOWN}"
    number = f"row_number() over ({by}, {_FROM} {order}) as __rank"
    dated = marked.selectExpr("*", f"{valid_from(rows)} as {_FROM}").selectExpr("*", latest, number)
    kept = dated.where(f"__rank = 1 and (not ({is_before}) or {_KNOWN} is null or {_FROM} > {_KNOWN})")
    return kept.selectExpr(*columns, DELETED)


def first_versions(staged: "DataFrame", rows: KeyedRows) -> "DataFrame":
    """The rows of a new or emptied table, of staged rows with `__deleted`."""
    columns = [name for name in staged.columns if name != DELETED]
    df = staged.selectExpr("*", f"{valid_from(rows)} as {_FROM}", f"false as {_THERE}")
    for added, condition in _steps(columns, rows):
        df = df.selectExpr("*", *added).where(condition)
    start, end, current = map(quote, rows.versions)
    ends = f"{_FROM} as {start}", f"{_TO} as {end}", f"{_TO} is null as {current}"
    return df.selectExpr(*map(quote, columns), *ends)


def versions_statement(target: str, source: str, columns: Sequence[str], rows: KeyedRows) -> str:
    """End or correct the current version of each key that changed or is deleted, and insert the new versions."""
    start, end, current = map(quote, rows.versions)
    if rows.ends_missing:
        source = _with_missing(target, source, columns, rows)
    found = _all_rows(target, source, columns, rows)
    for added, condition in _steps(columns, rows):
        found = f"SELECT * FROM (SELECT *, {', '.join(added)} FROM (\n{found}\n)) WHERE {condition}"
    differs = " OR ".join(f"NOT t.{quote(name)} <=> s.{quote(name)}" for name in _values(columns, rows)) or "false"
    sets = ", ".join(
        f"t.{quote(name)} = CASE WHEN s.{DELETED} THEN t.{quote(name)} ELSE s.{quote(name)} END"
        for name in columns
        if name not in rows.keys
    )
    ends = f"t.{end} = CASE WHEN s.{DELETED} THEN s.{_FROM} ELSE s.{_TO} END"
    names = ", ".join([*map(quote, columns), start, end, current])
    values = ", ".join([*(f"s.{quote(name)}" for name in columns), f"s.{_FROM}", f"s.{_TO}", f"s.{_TO} IS NULL"])
    return (
        f"MERGE INTO {target} AS t USING (\n{found}\n) AS s\n"
        f"ON {_same_key(rows)} AND t.{current} AND s.__corrects AND t.{start} <=> s.{_FROM}\n"
        f"WHEN MATCHED AND (s.{DELETED} OR s.{_TO} IS NOT NULL OR {differs}) THEN UPDATE SET "
        f"{sets}{', ' if sets else ''}{ends}, t.{current} = NOT s.{DELETED} AND s.{_TO} IS NULL\n"
        f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
    )


def _with_missing(target: str, source: str, columns: Sequence[str], rows: KeyedRows) -> str:
    """The staged rows, and a delete for each key that has a current version and no staged row."""
    staged = ", ".join(map(quote, columns))
    there = ", ".join(f"t.{quote(name)}" for name in columns)
    return (
        f"(SELECT {staged}, {DELETED}, false AS {_MISSING} FROM {source}\nUNION ALL "
        f"SELECT {there}, true, true FROM {target} AS t LEFT ANTI JOIN {source} AS s ON {_same_key(rows)} "
        f"WHERE t.{quote(rows.versions[2])})"
    )


def _all_rows(target: str, source: str, columns: Sequence[str], rows: KeyedRows) -> str:
    """The current rows of the staged keys, and the staged rows that are not older than what is known of their key.

    Without `sequence_field` a change comes after what is known, whatever the clock of this host says.
    """
    start, end, current = map(quote, rows.versions)
    keys = ", ".join(map(quote, rows.keys))
    since = f"{_FROM} >= {_KNOWN}"
    instant = valid_from(rows, "s.")
    now = f"greatest(timestamp {quote_text(rows.started_at)}, k.{_KNOWN} + interval 1 microsecond)"
    if not rows.sequence_field:
        since, instant = "true", now
    elif rows.ends_missing:
        newest = f"{instant} = max({instant}) OVER (PARTITION BY {', '.join(f's.{quote(key)}' for key in rows.keys)})"
        comes_back = f"NOT k.{_OPEN} AND {instant} <= k.{_KNOWN} AND {newest}"  # it was missing, and has not changed
        instant = f"if(s.{_MISSING} OR ({comes_back}), {now}, {instant})"
    is_open = f", max(t.{current}) AS {_OPEN}" if rows.ends_missing else ""
    there = ", ".join(f"t.{quote(name)}" for name in columns)
    staged = ", ".join(f"s.{quote(name)}" for name in columns)
    known = " AND ".join(f"k.{quote(key)} = s.{quote(key)}" for key in rows.keys)
    return (
        f"SELECT {there}, false AS {DELETED}, t.{start} AS {_FROM}, true AS {_THERE}, t.{start} AS {_KNOWN}\n"
        f"FROM {target} AS t LEFT SEMI JOIN {source} AS s ON {_same_key(rows)} WHERE t.{current}\n"
        f"UNION ALL SELECT * FROM (\n"
        f"SELECT {staged}, s.{DELETED}, {instant} AS {_FROM}, false AS {_THERE}, k.{_KNOWN} FROM {source} AS s\n"
        f"LEFT JOIN (SELECT {keys}, max(greatest(t.{start}, t.{end})) AS {_KNOWN}{is_open} FROM {target} AS t\n"
        f"LEFT SEMI JOIN {source} AS s ON {_same_key(rows)} GROUP BY {keys}) AS k ON {known}\n"
        f") WHERE {_KNOWN} IS NULL OR {since}"
    )


def _steps(columns: Sequence[str], rows: KeyedRows) -> Iterator[tuple[tuple[str, ...], str]]:
    """Columns to add, and the condition of the rows that remain, one after the other."""
    by = f"partition by {', '.join(map(quote, rows.keys))}"
    state = f"struct({', '.join([*map(quote, _values(columns, rows)), DELETED])})"
    at_once = f"{by}, {_FROM}"
    yield (
        (
            f"row_number() over ({at_once} order by {_THERE}) as __nth",
            f"max({_THERE}) over ({at_once}) as __corrects",
        ),
        "__nth = 1",
    )
    yield (
        (f"lag({state}) over ({by} order by {_FROM}) as __before",),
        f"__corrects or (__before is null and not {DELETED}) or not ({state} <=> coalesce(__before, {state}))",
    )
    yield (f"lead({_FROM}) over ({by} order by {_FROM}) as {_TO}",), f"__corrects or not {DELETED}"


def _values(columns: Sequence[str], rows: KeyedRows) -> list[str]:
    return [name for name in columns if name not in rows.keys and name != rows.sequence_field]


def _same_key(rows: KeyedRows) -> str:
    return " AND ".join(f"t.{quote(key)} = s.{quote(key)}" for key in rows.keys)
