"""Up to three of the rows that violate a rule, as texts, collected in the pass that counts them.

A second query would read the source again, and would see other rows where the source changes. A task of one of the
first partitions gives up to three rows, of a later one a single row, so that the driver never holds many.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from catalog.quoting import quote, quote_text
from catalog.secret_names import HIDDEN, is_secret_name
from catalog.tables.row_kind import ROW_KIND
from engine.spark.catalyst import Catalyst, Expression
from engine.spark.counters import Counter

SHOWN: Final = 3
"""The rows of each rule that a message shows."""

_FULL_PARTITIONS: Final = 64
_VALUE, _ROW = 60, 400
"""The longest text of a value and of a row, in characters."""


@dataclass(frozen=True, eq=False, slots=True)
class FailingRows:
    """Collects the texts of the first rows for which `increment` is evaluated."""

    accumulator: Any
    increment: Expression

    @property
    def texts(self) -> tuple[str, ...]:
        """The first rows; one that several passes have met is given once."""
        found = self.accumulator.value()
        seen = dict.fromkeys(str(found.get(index)) for index in range(min(found.size(), SHOWN * SHOWN)))
        return tuple(seen)[:SHOWN]


def failing_rows(context: Any, catalyst: Catalyst, predicate: str, counter: Counter, row: str) -> FailingRows:
    """Of the rows that violate the predicate; `counter`, evaluated before, counts them, and `row` is their text."""
    accumulator = context.collectionAccumulator()
    type_ = catalyst.object_type(accumulator)
    shown = f"IF(spark_partition_id() < {_FULL_PARTITIONS}, {SHOWN}L, 1L)"
    is_first = catalyst.at_most(catalyst.long_method(counter.accumulator, "sum"), catalyst.parse(shown))
    taken = catalyst.both(catalyst.parse(predicate), is_first)
    target = catalyst.if_(taken, catalyst.literal(accumulator, type_), catalyst.literal(None, type_))
    return FailingRows(accumulator, catalyst.after(catalyst.setter("add", catalyst.parse(row)), target))


def row_text(schema: StructType, predicate: str = "") -> str:
    """Spark SQL for the text of a row: `id = 7, name = NULL`, the columns that the predicate names before the others.

    Values of columns whose name, or the name of a field in them, says secret are masked.
    """
    words = set(re.findall(r"\w+", predicate.lower()))
    fields = [field for field in schema.fields if field.name != ROW_KIND]
    fields.sort(key=lambda field: words.isdisjoint(re.findall(r"\w+", field.name.lower())))
    parts = [_field_text(field.name, field.dataType) for field in fields]
    return f"left(concat_ws(', ', {', '.join(parts)}), {_ROW})" if parts else "''"


def _field_text(name: str, type_: DataType) -> str:
    head = quote_text(f"{name} = ")
    if is_secret_name(name) or _has_secret_field(type_):
        return f"concat({head}, {quote_text(HIDDEN)})"
    value = f"cast({quote(name)} AS STRING)"
    shortened = f"if(length({value}) > {_VALUE}, concat(left({value}, {_VALUE}), '…'), {value})"
    return f"concat({head}, coalesce({shortened}, 'NULL'))"


def _has_secret_field(type_: DataType) -> bool:
    match type_:
        case StructType():
            return any(is_secret_name(field.name) or _has_secret_field(field.dataType) for field in type_.fields)
        case ArrayType():
            return _has_secret_field(type_.elementType)
        case MapType():
            return _has_secret_field(type_.keyType) or _has_secret_field(type_.valueType)
    return False
