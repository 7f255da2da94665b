"""How the rows of two tables differ: by key and column where they have a key, else as multisets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, MapType, StructType

from catalog.quoting import quote

Row: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """`columns`: those that both tables have with the same type, in lower case. `other_types`: those with different
    ones, with both of them."""

    columns: tuple[str, ...]
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()
    other_types: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        return not (self.only_first or self.only_second or self.other_types)


@dataclass(frozen=True, slots=True)
class TableDifference:
    """`first`, `second`: the numbers of rows. `added` are rows that the first table alone has, `removed` those that the
    second alone has, `changed` the keys whose other values differ, `by_column` how many of them differ in each column.
    Samples: rows of the first, of the second, and pairs of both, one after the other. `repeated`: the number of keys
    that are there more than once: the rows were then compared as a whole.
    """

    schema: SchemaDifference
    first: int
    second: int
    added: int
    removed: int
    added_rows: tuple[Row, ...]
    removed_rows: tuple[Row, ...]
    changed: int = 0
    by_column: tuple[tuple[str, int], ...] = ()
    changed_rows: tuple[Row, ...] = ()
    repeated: int = 0

    @property
    def is_equal(self) -> bool:
        return self.schema.is_equal and not (self.added or self.removed or self.changed)


def table_difference(first: DataFrame, second: DataFrame, keys: Sequence[str], limit: int) -> TableDifference:
    """Compare two tables by the columns that both have with the same type; samples have at most `limit` rows.

    NULL equals NULL, and NaN equals NaN. Maps are compared by their text.
    """
    left, right = ({field.name.lower(): field.dataType for field in df.schema.fields} for df in (first, second))
    schema = _schema_difference(left, right)
    rows = [
        df.selectExpr(*(_comparable(name, left[name]) for name in schema.columns)).cache() for df in (first, second)
    ]
    try:
        own = [key.lower() for key in keys]
        repeated = sum(df.groupBy(*own).count().where("count > 1").count() for df in rows) if own else 0
        if own and not repeated:
            return _by_key(rows[0], rows[1], schema, own, limit)
        return replace(_as_multisets(rows[0], rows[1], schema, limit), repeated=repeated)
    finally:
        for df in rows:
            df.unpersist()


def _schema_difference(left: Mapping[str, DataType], right: Mapping[str, DataType]) -> SchemaDifference:
    both = [name for name in left if name in right]
    return SchemaDifference(
        tuple(name for name in both if left[name] == right[name]),
        tuple(name for name in left if name not in right),
        tuple(name for name in right if name not in left),
        tuple(f"{name}: {left[name].simpleString()} and {right[name].simpleString()}"
              for name in both if left[name] != right[name]),
    )  # fmt: skip


def _by_key(
    first: DataFrame, second: DataFrame, schema: SchemaDifference, keys: Sequence[str], limit: int
) -> TableDifference:
    names = [quote(name) for name in schema.columns]
    values = [quote(name) for name in schema.columns if name not in keys]
    equal = " and ".join(f"a.{quote(key)} <=> b.{quote(key)}" for key in keys)
    differs = [f"not (a.{name} <=> b.{name})" for name in values]
    marked = [df.selectExpr("*", "true as `_there`") for df in (first, second)]

    def joined(what: Sequence[str], join: str, where: str) -> DataFrame:
        text = f"select {', '.join(what)} from {{a}} a {join} join {{b}} b on {equal} where {where}"
        return first.sparkSession.sql(text, a=marked[0], b=marked[1])

    own, other = [f"a.{name}" for name in names], [f"b.{name}" for name in names]
    added = joined(own, "left", "b.`_there` is null")
    removed = joined(other, "right", "a.`_there` is null")
    anywhere = " or ".join(differs) or "false"
    counted = joined([f"count_if({condition})" for condition in (anywhere, *differs)], "inner", "true").first()
    changed, *by_column = map(int, counted or (0,))
    pairs = _sample(joined([*own, *other], "inner", anywhere), limit)
    found = ((name.strip("`"), count) for name, count in zip(values, by_column, strict=True) if count)
    return TableDifference(
        schema, first.count(), second.count(), added.count(), removed.count(), _sample(added, limit),
        _sample(removed, limit), changed, tuple(found),
        tuple(row for pair in pairs for row in (pair[: len(names)], pair[len(names) :])),
    )  # fmt: skip


def _as_multisets(first: DataFrame, second: DataFrame, schema: SchemaDifference, limit: int) -> TableDifference:
    added, removed = first.exceptAll(second), second.exceptAll(first)
    return TableDifference(
        schema, first.count(), second.count(), added.count(), removed.count(), _sample(added, limit),
        _sample(removed, limit),
    )  # fmt: skip


def _sample(df: DataFrame, limit: int) -> tuple[Row, ...]:
    return tuple(tuple(row) for row in df.limit(limit).collect())


def _comparable(name: str, type: DataType) -> str:
    return f"cast({quote(name)} as string) as {quote(name)}" if _has_map(type) else f"{quote(name)} as {quote(name)}"


def _has_map(type: DataType) -> bool:
    if isinstance(type, StructType):
        return any(_has_map(field.dataType) for field in type.fields)
    inner = getattr(type, "elementType", None)
    return isinstance(type, MapType) or type.typeName() == "variant" or (inner is not None and _has_map(inner))
