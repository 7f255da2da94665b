"""Spark SQL that stores a value in a column of another type, and raises an error if that would change it.

    if(NOT (try_cast(try_cast(`a` AS int) AS double) <=> `a`), raise_error(…), cast(`a` AS int))

The error's text is JSON behind `LOST_VALUE`; `engine/spark/failures/lost_values.py` makes the user's message of it.
"""

from collections.abc import Mapping
from typing import Final

from catalog.quoting import quote, quote_text
from catalog.tables.store_assignment import may_change, preserves, seconds_digits, shown_type
from catalog.tables.table import Column
from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    CALENDAR_INTERVAL,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MAX_PRECISION,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    is_numeric,
)
from catalog.types.typenames import to_ddl

LOST_VALUE: Final = "penstock.lost_value"
ROW_NUMBER: Final = "monotonically_increasing_id()"
"""The partition of a row, from the 34th bit on, and its number in it."""

_INCOMPARABLE: Final = (VARIANT, CALENDAR_INTERVAL)
_LIMITS: Final[Mapping[DataType, str]] = {BIGINT: "9223372036854775808D", INT: "2147483648D"}
"""The number above the greatest of a type, as a double of Spark SQL."""
_SHOWN: Final = (DATE, TIMESTAMP, TIMESTAMP_NTZ)


def checked_cast(
    value: str, name: str, source: DataType, target: Column, row: str | None = None, *, is_declared: bool = False
) -> str:
    """The cast of a value to the target's type; with a check where that may change it.

    `name`: what the message calls the column; `row`: an expression for the number of the row. `is_declared`: the type
    is one that a source declares, of a column that has another one.
    """
    cast = f"cast({value} as {to_ddl(target.type)})"
    if not may_change(source, target) or not (condition := is_changed(value, source, target)):
        return cast
    facts = {"column": quote_text(name), "source": quote_text(str(source)), "target": quote_text(shown_type(target))}
    if is_declared:
        facts["declared"] = "true"
    if row is not None:
        facts["row"] = row
    if is_numeric(source) or source in _SHOWN:  # of texts, bytes and nested values nothing is printed
        facts["value"] = f"cast({value} as string)"
    listed = ", ".join(f"{quote_text(key)}, {fact}" for key, fact in facts.items())
    message = f"concat({quote_text(f'{LOST_VALUE} ')}, to_json(named_struct({listed})))"
    return f"if({condition}, raise_error({message}), {cast})"


def raise_moved(name: str, reason: str, remedy: str) -> str:
    """Spark SQL that fails with PEN5463: a value of this column would be read or stored as another day."""
    facts = {"column": name, "reason": reason, "remedy": remedy}
    listed = ", ".join(f"{quote_text(key)}, {quote_text(fact)}" for key, fact in facts.items())
    return f"raise_error(concat({quote_text(f'{LOST_VALUE} ')}, to_json(named_struct({listed}))))"


def is_changed(value: str, source: DataType, target: Column) -> str:
    """A condition that holds where the target's type changes the value; empty if it cannot."""
    digits = seconds_digits(target)
    conditions = [_changed(value, source, target.type)]
    if digits is not None and source in (TIMESTAMP, TIMESTAMP_NTZ):
        seconds = f"extract(second from {value})"
        conditions.append(f"coalesce(round({seconds}, {digits}) <> {seconds}, false)")
    return " or ".join(condition for condition in conditions if condition)


def _changed(value: str, source: DataType, target: DataType, depth: int = 0) -> str:
    if preserves(source, target) or source in _INCOMPARABLE or target in _INCOMPARABLE:
        return ""
    item = f"x{depth}"
    match source, target:
        case (Array(a), Array(b)):
            return _any(value, item, _changed(item, a, b, depth + 1))
        case (Map(a, x), Map(b, y)):
            keys = _any(f"map_keys({value})", item, _changed(item, a, b, depth + 1))
            values = _any(f"map_values({value})", item, _changed(item, x, y, depth + 1))
            return " or ".join(part for part in (keys, values) if part)
        case (Struct(a), Struct(b)):
            fields = zip(a, b, strict=False)
            parts = [_changed(f"{value}.{quote(x.name)}", x.type, y.type, depth) for x, y in fields]
            return " or ".join(part for part in parts if part)
    if (source, target) == (BINARY, STRING):  # cast back, bytes that are no UTF-8 would be what they were
        return f"not coalesce(is_valid_utf8(cast({value} as string)), true)"
    changed = f"not ({_back(value, source, target)} <=> {_compared(value, source, target)})"
    return f"{changed} or {saturated}" if (saturated := _is_saturated(value, source, target)) else changed


def _is_saturated(value: str, source: DataType, target: DataType) -> str:
    """Whether a number becomes 2^63 or 2^31 between an integer and a floating type. Cast back to the integer it is the
    greatest one, which is one less, so that it seems to be unchanged."""
    if source in (FLOAT, DOUBLE) and target == BIGINT:
        return f"coalesce({value} = {_LIMITS[BIGINT]}, false)"
    if source in _LIMITS and target in (FLOAT, DOUBLE):
        return f"coalesce(try_cast({value} as {to_ddl(target)}) = {_LIMITS[source]}, false)"
    return ""


def _any(array: str, item: str, condition: str) -> str:
    return f"coalesce(exists({array}, {item} -> {condition}), false)" if condition else ""


def _back(value: str, source: DataType, target: DataType) -> str:
    """The stored value as one of the rows' type, or of one in which texts are compared; NULL if it cannot be stored."""
    return f"try_cast(try_cast({value} as {to_ddl(target)}) as {to_ddl(_comparison(source, target))})"


def _compared(value: str, source: DataType, target: DataType) -> str:
    other = _comparison(source, target)
    return value if other == source else f"try_cast({value} as {to_ddl(other)})"


def _comparison(source: DataType, target: DataType) -> DataType:
    """The type in which a value is compared with what is stored: texts as what they say, `01` as 1."""
    if source != STRING:
        return source
    if isinstance(target, Decimal):
        return Decimal(MAX_PRECISION, MAX_PRECISION - target.precision + target.scale)
    return TIMESTAMP_NTZ if target == DATE else target
