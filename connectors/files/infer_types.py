"""The types of a CSV's columns, from all of its values in one pass of Spark.

    id,zip,amount,paid        id int, zip string, amount decimal(10,2), paid date
    1,01234,19.50,2024-01-31

A value with a leading zero, such as a postal code, makes its column a string.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from catalog.quoting import quote
from catalog.tables.table import Column
from catalog.types.datatypes import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, DataType, Decimal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NULL_TEXTS: Final = ("NA", "N/A", "NULL", "null", "None", "\\N", "-")
"""Common texts for a missing value."""

_INT, _BIGINT, _DECIMAL, _DOUBLE, _BOOLEAN, _DATE, _TIMESTAMP, _STRING = (1 << bit for bit in range(8))
_FIRST_TEXT: Final = 8
_INT_LENGTH: Final = 9
_MOST_SCALE: Final = 6
_MOST_PRECISION: Final = 18
_LEAST_PRECISION: Final = 10


@dataclass(frozen=True, slots=True)
class Inferred:
    """The columns with their types, and the text for NULL in them (None if there is none)."""

    columns: tuple[Column, ...]
    null_format: str | None = None


def infer_types(df: "DataFrame", *, finds_null: bool = False) -> Inferred:
    """Infer the types of the string columns of `df`; other columns are unchanged.

    `finds_null`: also find the text for NULL. Without it, such a text makes its column a string.
    """
    from connectors.shared.spark_types import columns_of

    columns = columns_of(df.schema)
    texts = [column.name for column in columns if column.type == STRING]
    if not texts:
        return Inferred(columns)
    found = _kinds(df, texts)
    null = _null_text(kinds for kinds, _, _ in found.values()) if finds_null else None
    types = {name: _type(kinds, null, scale, digits) for name, (kinds, scale, digits) in found.items()}
    return Inferred(
        tuple(Column(column.name, types.get(column.name, column.type), column.nullable) for column in columns), null
    )


def _kinds(df: "DataFrame", names: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """Of each column, the kinds of its values as bits, and the most digits after and before a decimal point.

    Columns become rows, and are grouped by their number: aggregates for each column would be compiled one by one, which
    takes longer than reading a file of this size.
    """
    from pyspark.sql.functions import expr

    values = df.selectExpr(f"posexplode(array({', '.join(map(quote, names))})) as (number, value)")
    point = "instr(value, '.')"
    rows = values.groupBy("number").agg(
        expr(f"bit_or({_kind()}) as kinds"),
        expr(f"max(if({point} > 0, length(value) - {point}, 0)) as scale"),
        expr(f"max(if({point} > 0, {point} - 1, length(value))) as digits"),
    )
    found = {
        names[row.number]: (int(row.kinds or 0), int(row.scale or 0), int(row.digits or 0)) for row in rows.collect()
    }
    return {name: found.get(name, (0, 0, 0)) for name in names}


def _kind() -> str:
    """The kind of a `value` as a bit.

    Each pattern copies the value, so the first character decides which of them are tried: numbers and dates begin with
    a sign, a point or a digit, all of which sort before a colon.
    """
    return f"""case when value is null then 0
        when value >= ':' then case
            when length(value) in (4, 5) and value rlike '^(?i:true|false)$' then {_BOOLEAN}
            {_nulls()} else {_STRING} end
        when substr(value, 5, 1) = '-' and value rlike '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$' then
            if(try_cast(value as date) is null, {_STRING}, {_DATE})
        when substr(value, 5, 1) = '-' and value rlike '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T][0-9]{{2}}:[0-9]{{2}}' then
            if(try_cast(value as timestamp) is null, {_STRING}, {_TIMESTAMP})
        when value rlike '^-?(0|[1-9][0-9]{{0,17}})$' then if(length(value) <= {_INT_LENGTH}, {_INT}, {_BIGINT})
        when value rlike '^-?(0|[1-9][0-9]*)[.][0-9]+$' then {_DECIMAL}
        when value rlike '^-?([0-9]+[.]?[0-9]*|[.][0-9]+)[eE][+-]?[0-9]+$' then {_DOUBLE}
        {_nulls()} else {_STRING} end"""


def _nulls() -> str:
    return " ".join(
        f"when value = '{text.replace(chr(92), chr(92) * 2)}' then {1 << (_FIRST_TEXT + bit)}"
        for bit, text in enumerate(NULL_TEXTS)
    )


def _null_text(kinds: Iterable[int]) -> str | None:
    """The text for NULL in most columns that are not strings."""
    counts = dict.fromkeys(NULL_TEXTS, 0)
    for kind in kinds:
        values, texts = kind & ((1 << _FIRST_TEXT) - 1), kind >> _FIRST_TEXT
        if values and not values & _STRING:
            for bit, text in enumerate(NULL_TEXTS):
                counts[text] += texts >> bit & 1
    best = max(NULL_TEXTS, key=lambda text: counts[text])
    return best if counts[best] else None


def _type(kinds: int, null: str | None, scale: int, digits: int) -> DataType:
    if null is not None:
        kinds &= ~(1 << (_FIRST_TEXT + NULL_TEXTS.index(null)))
    match kinds:
        case 0:
            return STRING
        case _ if kinds == _INT:
            return INT
        case _ if kinds & ~(_INT | _BIGINT) == 0:
            return BIGINT
        case _ if kinds & ~(_INT | _BIGINT | _DECIMAL) == 0:
            precision = max(_LEAST_PRECISION, digits + scale)
            return Decimal(precision, scale) if scale <= _MOST_SCALE and precision <= _MOST_PRECISION else DOUBLE
        case _ if kinds & ~(_INT | _BIGINT | _DECIMAL | _DOUBLE) == 0:
            return DOUBLE
        case _ if kinds == _BOOLEAN:
            return BOOLEAN
        case _ if kinds == _DATE:
            return DATE
        case _ if kinds & ~(_DATE | _TIMESTAMP) == 0:
            return TIMESTAMP
    return STRING
