"""Decimals of JSON that keep all their digits: Spark's parser rounds them to the scale of their column.

They are read with as many digits as there may be, and what does not fit is an error, whose text is JSON behind
`UNFIT_VALUE`.
"""

from typing import Final

from catalog.options import Options
from catalog.quoting import quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import MAX_PRECISION, DataType, Decimal
from catalog.types.typenames import to_ddl

UNFIT_VALUE: Final = "penstock.unfit_value"
_SHOWN: Final = 60


def would_be_rounded(type: DataType, options: Options) -> bool:
    """Whether Spark's parser of JSON would round what has more digits than the type; SeaTunnel does so, too."""
    return isinstance(type, Decimal) and type.precision < MAX_PRECISION and options.seatunnel is None


def whole_decimal(type: Decimal) -> Decimal:
    """The type with as many digits behind the point as there may be."""
    return Decimal(MAX_PRECISION, MAX_PRECISION - type.precision + type.scale)


def unrounded(number: str, column: Column, options: Options) -> str:
    """Spark SQL for a number of `whole_decimal` in the column's type, as `on_malformed` asks for what does not fit."""
    short = f"try_cast({number} as {to_ddl(column.type)})"
    exact = f"if({short} = {number}, {short}, null)"
    text = f"rtrim('0', cast({number} as string))"
    fails = str(options.get("on_malformed") or "fail").lower() == "fail"
    if column.nullable:
        return f"coalesce({exact}, if({number} is null, null, {raise_unfit(text, column)}))" if fails else exact
    return f"coalesce({exact}, {raise_unfit(text, column)}, cast(0 as {to_ddl(column.type)}))"


def raise_unfit(text: str, column: Column) -> str:
    """Spark SQL that fails, and says the value."""
    facts = f"'column', {quote_text(column.name)}, 'type', {quote_text(str(column.type))}"
    value = f"'value', left({text}, {_SHOWN})"
    return f"raise_error(concat({quote_text(f'{UNFIT_VALUE} ')}, to_json(named_struct({facts}, {value}))))"
