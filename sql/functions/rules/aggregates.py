"""Result rules of aggregates and window functions."""

from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
    is_numeric,
)
from sql.functions.rules.call import Call, Rule
from sql.types import decimals
from sql.types.casts import forces_null
from sql.types.coercion import tightest
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.mismatch import Mismatch

YEAR_MONTH: Final = Interval("year", "month")
DAY_TIME: Final = Interval("day", "second")


def collected(call: Call) -> DataType:
    return Array(call.type(0), False)


def sum_(call: Call) -> DataType:
    match call.type(0):
        case Decimal() as type:
            return decimals.summed(type)
        case Interval() as type:
            return type
        case type if type in INTEGRAL_TYPES:
            return BIGINT
        case _:
            return DOUBLE


def avg(call: Call) -> DataType:
    match call.type(0):
        case Decimal() as type:
            return decimals.averaged(type)
        case Interval() as type:
            return YEAR_MONTH if type.is_year_month else DAY_TIME
        case _:
            return DOUBLE


def median(call: Call) -> DataType:
    type = call.type(0)
    if isinstance(type, Interval):
        return YEAR_MONTH if type.is_year_month else DAY_TIME
    return DOUBLE


def percentile(call: Call) -> DataType:
    result = median(call)
    return Array(result, False) if isinstance(call.type(1), Array) else result


def percentile_approx(call: Call) -> DataType:
    type = DOUBLE if call.type(0) == VOID else call.type(0)
    return Array(type, False) if isinstance(call.type(1), Array) else type


def kll(call: Call) -> Typed:
    """A quantile or rank of a sketch: of the sketch's type, or a double; arrays for arrays."""
    family = call.name.rsplit("_", 1)[1]
    result = {"bigint": BIGINT, "float": FLOAT}.get(family, DOUBLE) if "quantile" in call.name else DOUBLE
    if isinstance(call.type(1), Array):
        return NOT_KNOWN
    return Typed(result, call.any_nullable or call.type(1) == STRING)


def mode(call: Call) -> DataType:
    return call.type(0) if call.args else UNKNOWN


def approx_top_k(call: Call) -> DataType:
    return Array(Struct((Field("item", call.type(0)), Field("count", BIGINT, False))), False)


def approx_top_k_accumulate(call: Call) -> DataType:
    fields = (
        Field("sketch", BINARY, False),
        Field("maxItemsTracked", INT, False),
        Field("itemDataType", call.type(0)),
        Field("itemDataTypeDDL", STRING, False),
    )
    return Struct(fields)


def approx_top_k_combine(call: Call) -> DataType:
    return call.type(0)


def approx_top_k_estimate(call: Call) -> DataType:
    sketch = call.type(0)
    item = sketch.field("itemDataType") if isinstance(sketch, Struct) else None
    if item is None:
        return UNKNOWN
    return Array(Struct((Field("item", item.type), Field("count", BIGINT, False))), False)


def histogram_numeric(call: Call) -> DataType:
    x = DOUBLE if call.type(0) in (STRING, VOID) else call.type(0)
    return Array(Struct((Field("x", x), Field("y", DOUBLE))))


def regr_avgx(call: Call) -> DataType:
    return _averaged(call.type(1))


def regr_avgy(call: Call) -> DataType:
    return _averaged(call.type(0))


def _averaged(type: DataType) -> DataType:
    return decimals.averaged(type) if isinstance(type, Decimal) else DOUBLE


def lag(call: Call) -> Typed:
    """The value's own type, to which the default is cast."""
    if len(call.args) < 3:
        return Typed(call.type(0) if call.args else VOID)
    value = call.args[0]
    default = call.args[2]
    if not _becomes(default.type, value.type):
        raise Mismatch(f"the default of `{call.name}` must be {value.type}, this is {default.type}", 2)
    return Typed(value.type, value.nullable or default.nullable or forces_null(default.type, value.type))


def _becomes(type: DataType, target: DataType) -> bool:
    """Whether Spark casts one type to the other without being asked, even where that loses digits."""
    if target == VOID:
        return type in (VOID, UNKNOWN)
    if type == VOID or UNKNOWN in (type, target) or (is_numeric(type) and is_numeric(target)):
        return True
    if STRING in (type, target) and type != target:
        other = target if type == STRING else type
        return not isinstance(other, (Array, Map, Struct))
    if isinstance(type, Array) and isinstance(target, Array):
        return _becomes(type.element, target.element)
    return {type, target} <= {DATE, TIMESTAMP, TIMESTAMP_NTZ} or tightest(type, target) is not None


RULES: Final[dict[str, Rule]] = {
    "collected": collected,
    "sum": sum_,
    "avg": avg,
    "median": median,
    "percentile": percentile,
    "percentile_approx": percentile_approx,
    "kll": kll,
    "mode": mode,
    "approx_top_k": approx_top_k,
    "approx_top_k_accumulate": approx_top_k_accumulate,
    "approx_top_k_combine": approx_top_k_combine,
    "approx_top_k_estimate": approx_top_k_estimate,
    "histogram_numeric": histogram_numeric,
    "regr_avgx": regr_avgx,
    "regr_avgy": regr_avgy,
    "lag": lag,
}
