"""Result rules of functions over numbers."""

from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    DOUBLE,
    FLOAT,
    INTEGRAL_TYPES,
    STRING,
    UNKNOWN,
    VOID,
    DataType,
    Decimal,
    Interval,
    is_numeric,
)
from sql.functions.rules.call import Call, Rule
from sql.types import decimals
from sql.types.coercion import as_decimal, tightest
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.mismatch import Mismatch
from sql.types.operators import arithmetic
from sql.types.type_family import kind_of


def round_(call: Call) -> Typed:
    arg = call.args[0]
    scale = call.given[1].value if len(call.given) > 1 else 0
    if not isinstance(arg.type, Decimal):
        return Typed(DOUBLE if arg.type == VOID else arg.type, True)
    return Typed(decimals.rounded(arg.type, scale), True) if isinstance(scale, int) else NOT_KNOWN


_AS_DECIMAL: Final[dict[DataType, Decimal]] = {FLOAT: Decimal(14, 7), DOUBLE: Decimal(30, 15), STRING: Decimal(38, 18)}
"""What `ceil` and `floor` to a number of digits cast other types to (`DecimalType.forType`)."""


def ceil(call: Call) -> Typed:
    arg = call.given[0] if call.given[0].type == STRING and len(call.args) > 1 else call.args[0]
    if len(call.args) == 1:
        return Typed(decimals.whole(arg.type) if isinstance(arg.type, Decimal) else BIGINT, True)
    scale = call.given[1].value
    number = _AS_DECIMAL.get(arg.type) or (as_decimal(arg.type) if is_numeric(arg.type) else None)
    if number is None or not isinstance(scale, int):
        return NOT_KNOWN
    return Typed(decimals.rounded(number, scale), True)


def nanvl(call: Call) -> DataType:
    return FLOAT if all(arg.type == FLOAT for arg in call.given) else DOUBLE


def _operator(symbol: str) -> Rule:
    def rule(call: Call) -> DataType:
        return arithmetic(symbol, call.given[0], call.given[1]).type

    return rule


def uniform(call: Call) -> DataType:
    """The wider of the two; a decimal wins over integers, the one of more digits over another."""
    types = (call.type(0), call.type(1))
    for index, type in enumerate(types):
        if type not in (UNKNOWN, VOID) and not is_numeric(type):
            raise Mismatch(f"`{call.name}` takes numbers, this is {type}", index)
    if DOUBLE in types or VOID in types:
        return DOUBLE
    if FLOAT in types:
        return FLOAT
    if found := [type for type in types if isinstance(type, Decimal)]:
        return max(reversed(found), key=lambda type: type.precision)
    return tightest(*types) or UNKNOWN if all(type in INTEGRAL_TYPES for type in types) else UNKNOWN


def width_bucket(call: Call) -> DataType:
    """Of a value within two bounds: all three are numbers, or intervals of one kind."""
    known = [type for type in map(call.type, range(3)) if type != UNKNOWN]
    if len({kind_of(type) if isinstance(type, Interval) else "number" for type in known}) > 1:
        given = ", ".join(str(arg.type) for arg in call.given[:3])
        raise Mismatch(f"`width_bucket` takes numbers or intervals of one kind, these are {given}")
    return BIGINT


RULES: Final[dict[str, Rule]] = {
    "width_bucket": width_bucket,
    "round": round_,
    "ceil": ceil,
    "nanvl": nanvl,
    "mod": _operator("%"),
    "add": _operator("+"),
    "subtract": _operator("-"),
    "multiply": _operator("*"),
    "divide": _operator("/"),
    "uniform": uniform,
}
