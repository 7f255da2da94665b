"""The result rules that the catalogue names `@rule`: from the arguments of a call to the type of its result.

A rule gives a type, of which the catalogue's line says whether it may be null, or both at once.
"""

import re
from collections.abc import Sequence
from typing import Final

from catalog.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
    Time,
    is_numeric,
)
from sql import decimals, intervals
from sql.casts import can_cast, forces_null
from sql.coercion import as_decimal, tightest, widest
from sql.functions import nested
from sql.functions.call import Call, Rule
from sql.operators import Mismatch, arithmetic, comparison, is_orderable
from sql.type_rules import ATOMIC, parse_schema, schema_fault
from sql.typed import NOT_KNOWN, Typed

YEAR_MONTH: Final = Interval("year", "month")
DAY_TIME: Final = Interval("day", "second")


def unknown(call: Call) -> Typed:
    return NOT_KNOWN


def collected(call: Call) -> DataType:
    return Array(call.type(0), False)


# conditions


def _branches(call: Call, indices: list[int]) -> Typed:
    chosen = [call.args[index] for index in indices]
    found = nested.common(call, [each.type for each in chosen], f"the results of `{call.name}`")
    return Typed(found, nested.becomes_null(chosen, found))


def coalesce(call: Call) -> Typed:
    found = nested.common(call, [arg.type for arg in call.args], f"arguments of `{call.name}`")
    return Typed(found, all(arg.nullable or forces_null(arg.type, found) for arg in call.args))


def if_(call: Call) -> Typed:
    return _branches(call, [1, 2])


def when(call: Call) -> Typed:
    """`CASE WHEN` written as a call: conditions and values by turns, at the end perhaps the value of ELSE."""
    count = len(call.args)
    for index in range(0, count - 1, 2):
        if call.type(index) not in (BOOLEAN, UNKNOWN):
            raise Mismatch(f"a condition is boolean, this is {call.type(index)}", index)
    typed = _branches(call, [*range(1, count, 2), *([count - 1] if count % 2 else [])])
    return Typed(typed.type, typed.nullable or count % 2 == 0)


def decode(call: Call) -> Typed:
    count = len(call.args)
    results = list(range(2, count, 2)) + ([count - 1] if count % 2 == 0 else [])
    for index in range(1, count - 1, 2):
        found = widest(call.type(0), call.type(index))
        if found is None:
            raise Mismatch(f"{call.type(index)} can't be compared with {call.type(0)}", index)
    typed = _branches(call, results)
    return Typed(typed.type, typed.nullable or count % 2 == 1)


def nullif(call: Call) -> DataType:
    comparison("=", call.args[0], call.args[1])
    return call.type(0)


def nullif_zero(call: Call) -> DataType:
    comparison("=", call.args[0], Typed(INT, False, True, 0))
    return call.type(0)


def zero_if_null(call: Call) -> DataType:
    return widest(call.given[0].type, INT) or UNKNOWN


def equal_null(call: Call) -> DataType:
    return comparison("<=>", call.args[0], call.args[1]).type


def greatest(call: Call) -> Typed:
    found: DataType | None = VOID
    for index, arg in enumerate(call.args):
        found = None if found is None else _without_strings(found, arg.type)
        if found is None:
            raise Mismatch(f"arguments of `{call.name}` must be of one type, this is {arg.type}", index)
    assert found is not None
    if not is_orderable(found):
        raise Mismatch(f"`{call.name}` can't order {found}", 0)
    return Typed(found, all(arg.nullable or forces_null(arg.type, found) for arg in call.args))


def _without_strings(a: DataType, b: DataType) -> DataType | None:
    if a == b or STRING not in (a, b) or VOID in (a, b) or UNKNOWN in (a, b):
        return widest(a, b)
    return None


# aggregates


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


def percentile_disc(call: Call) -> DataType:
    return UNKNOWN


def kll(call: Call) -> Typed:
    """A quantile or rank of a sketch: of the sketch's type, or a double; arrays for arrays."""
    family = call.name.rsplit("_", 1)[1]
    result = {"bigint": BIGINT, "float": FLOAT}.get(family, DOUBLE) if "quantile" in call.name else DOUBLE
    if isinstance(call.type(1), Array):
        return NOT_KNOWN
    return Typed(result, call.any_nullable or call.type(1) == STRING)


def mode(call: Call) -> DataType:
    return call.type(0) if call.args else UNKNOWN


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


def approx_top_k(call: Call) -> DataType:
    return Array(Struct((Field("item", call.type(0)), Field("count", BIGINT, False))), False)


def histogram_numeric(call: Call) -> DataType:
    return Array(Struct((Field("x", call.type(0)), Field("y", DOUBLE))))


def regr_avgx(call: Call) -> DataType:
    return _averaged(call.type(1))


def regr_avgy(call: Call) -> DataType:
    return _averaged(call.type(0))


def _averaged(type: DataType) -> DataType:
    return decimals.averaged(type) if isinstance(type, Decimal) else DOUBLE


def to_char(call: Call) -> Typed:
    source = call.args[0]
    if is_numeric(source.type) and not call.args[1].foldable:
        raise Mismatch(f"`{call.name}` takes a constant format for numbers", 1)
    known = (DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY, STRING, VOID, UNKNOWN)
    if not is_numeric(source.type) and source.type not in known:
        raise Mismatch(f"`{call.name}` takes a number, a point in time or binary, this is {source.type}", 0)
    return Typed(STRING, source.type == STRING or any(each.nullable for each in call.args))


# numbers


def round_(call: Call) -> Typed:
    arg = call.args[0]
    scale = call.given[1].value if len(call.given) > 1 else 0
    if not isinstance(arg.type, Decimal):
        return Typed(DOUBLE if arg.type == VOID else arg.type, True)
    return Typed(decimals.rounded(arg.type, scale), True) if isinstance(scale, int) else NOT_KNOWN


def ceil(call: Call) -> Typed:
    arg = call.args[0]
    if len(call.args) == 1:
        return Typed(decimals.whole(arg.type) if isinstance(arg.type, Decimal) else BIGINT, True)
    scale = call.given[1].value
    if arg.type in (DOUBLE, FLOAT) or not is_numeric(arg.type):
        return NOT_KNOWN
    return Typed(decimals.rounded(as_decimal(arg.type), scale), True) if isinstance(scale, int) else NOT_KNOWN


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


# strings


def hex_(call: Call) -> Typed:
    given = call.given[0]
    return Typed(STRING, call.args[0].nullable or (is_numeric(given.type) and forces_null(given.type, BIGINT)))


def pad(call: Call) -> DataType:
    texts = [call.type(0)] + ([call.type(2)] if len(call.args) > 2 else [])
    return BINARY if all(type == BINARY for type in texts) else STRING


def overlay(call: Call) -> DataType:
    if BINARY in (call.type(0), call.type(1)) and call.type(0) != call.type(1):
        raise Mismatch(f"`overlay` takes {call.type(0)} twice, this is {call.type(1)}", 1)
    return call.type(0)


def elt(call: Call) -> DataType:
    return BINARY if all(arg.type == BINARY for arg in call.given[1:]) else STRING


def to_number(call: Call) -> DataType:
    text = call.text(1)
    if text is None:
        return UNKNOWN
    found = re.fullmatch(r"(?i)(?:MI|S)?[$]?([09,G]*)(?:[.D]([09]*))?[$]?(?:MI|S|PR)?", text)
    if found is None:
        return UNKNOWN
    before = sum(each in "09" for each in found.group(1))
    after = len(found.group(2) or "")
    return Decimal(before + after, after) if 0 < before + after <= 38 else UNKNOWN


def _schema(call: Call, index: int) -> DataType:
    """The type that a literal argument names; unknown where it is no literal."""
    text = call.text(index)
    if text is None:
        return UNKNOWN
    fault = schema_fault(text)
    if fault is not None:
        raise Mismatch(f"'{text}' is no schema: {fault}", index)
    return parse_schema(text) or UNKNOWN


def from_json(call: Call) -> DataType:
    found = _schema(call, 1)
    if found != UNKNOWN and not isinstance(found, (Struct, Array, Map)) and found != VARIANT:
        raise Mismatch(f"the schema of JSON is a struct, an array, a map or a variant, this is {found}", 1)
    return found


def variant_get(call: Call) -> DataType:
    if len(call.args) < 3:
        return VARIANT
    return _schema(call, 2)


# casts


def cast(call: Call) -> Typed:
    target = _CAST_NAMES[call.name]
    given = call.given[0]
    if not can_cast(given.type, target):
        raise Mismatch(f"{given.type} can't be cast to {target}", 0)
    return Typed(target, given.nullable or given.type == UNKNOWN or forces_null(given.type, target), given.foldable)


_CAST_NAMES: Final[dict[str, DataType]] = {
    **{str(type): type for type in ATOMIC.values()},
    "decimal": Decimal(),
    "time": Time(),
}


def _to(target: DataType) -> Rule:
    def rule(call: Call) -> Typed:
        arg = call.args[0]
        return Typed(target, arg.nullable or forces_null(arg.type, target))

    return rule


# dates

SECONDS: Final = Decimal(8, 6)
_CALENDAR_FIELDS: Final = """
year y years yr yrs yearofweek quarter qtr month mon mons months week w weeks day d days dayofweek dow dayofweek_iso
dow_iso doy
"""
_CLOCK_FIELDS: Final = "hour h hours hr hrs minute m min mins minutes"
_SECOND_FIELDS: Final = "second s sec seconds secs"
DATE_FIELDS: Final[dict[str, DataType]] = {
    **dict.fromkeys((_CALENDAR_FIELDS + _CLOCK_FIELDS).split(), INT),
    **dict.fromkeys(_SECOND_FIELDS.split(), SECONDS),
}
_INTERVAL_INT_FIELDS: Final = "year y years yr yrs day d days"
INTERVAL_FIELDS: Final[dict[str, DataType]] = {
    **dict.fromkeys(_INTERVAL_INT_FIELDS.split(), INT),
    **dict.fromkeys(("month mon mons months " + _CLOCK_FIELDS).split(), TINYINT),
    **dict.fromkeys(_SECOND_FIELDS.split(), SECONDS),
}


def date_part(call: Call) -> Typed:
    field = call.text(0)
    source = call.given[1]
    if field is None or source.type == UNKNOWN:
        return NOT_KNOWN
    return extracted(field, source)


def extracted(field: str, source: Typed) -> Typed:
    """`EXTRACT(field FROM source)`."""
    is_interval = isinstance(source.type, Interval)
    fields = INTERVAL_FIELDS if is_interval else DATE_FIELDS
    result = fields.get(field.lower())
    if result is None:
        if is_interval or field.lower() not in DATE_FIELDS:
            raise Mismatch(f"`{field}` can't be extracted from {source.type}", 0)
        return NOT_KNOWN
    if isinstance(source.type, Interval):
        if not source.type.holds(_unit(field.lower())):
            raise Mismatch(f"`{field}` can't be extracted from {source.type}", 0)
        return Typed(result, source.nullable)
    if isinstance(source.type, Time):
        return Typed(result)
    if source.type in (UNKNOWN, VOID):
        return NOT_KNOWN
    if source.type not in (DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING):
        raise Mismatch(f"`{field}` can't be extracted from {source.type}", 1)
    has_clock = field.lower() in (_CLOCK_FIELDS + " " + _SECOND_FIELDS).split()
    target = TIMESTAMP if has_clock else DATE
    if has_clock and source.type == TIMESTAMP_NTZ:
        target = TIMESTAMP_NTZ
    return Typed(result, source.nullable or forces_null(source.type, target))


def _unit(field: str) -> str:
    """The unit that a field of an interval means."""
    units = {"y": "year", "d": "day", "h": "hour", "m": "minute", "s": "second"}
    return "month" if field.startswith("mon") else units[field[0]]


def clock(call: Call) -> Typed:
    """`hour`, `minute` and `second`."""
    return Typed(INT, call.args[0].nullable or isinstance(call.type(0), Time))


def timestampadd(call: Call) -> DataType:
    type = call.type(2)
    return type if type == TIMESTAMP_NTZ else TIMESTAMP


def current_time(call: Call) -> DataType:
    value = call.given[0].value if call.given else 6
    return Time(value) if isinstance(value, int) and 0 <= value <= 6 else UNKNOWN


def window(call: Call) -> Typed:
    for index in range(1, len(call.nodes)):
        text = call.text(index)
        if text is not None and call.name == "window" and intervals.is_none(text):
            raise Mismatch(f"'{text}' is no interval: write '10 minutes'", index)
        if text is not None and intervals.has_months(text):
            raise Mismatch("a window can't be of months or years: they are of no fixed length", index)
    type = call.type(0)
    if type not in (TIMESTAMP, TIMESTAMP_NTZ, DATE, STRING):
        return NOT_KNOWN
    point = TIMESTAMP_NTZ if type == TIMESTAMP_NTZ else TIMESTAMP
    durations = [intervals.micros_of(call.text(index)) for index in range(1, len(call.nodes))]
    _check_durations(durations)
    slides = len(durations) > 1 and durations[0] != durations[1]
    return Typed(Struct((Field("start", point), Field("end", point))), slides)


def _check_durations(durations: Sequence[int | None]) -> None:
    """Length, slide and start of a window, in microseconds; None: no literal."""
    for index, duration in enumerate(durations[:2], start=1):
        if duration is not None and duration <= 0:
            raise Mismatch("the length of a window is more than nothing", index)
    if len(durations) > 1 and durations[0] is not None and durations[1] is not None and durations[1] > durations[0]:
        raise Mismatch("a window slides at most by its length", 2)


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
    **{
        name: getattr(nested, name)
        for name in (
            "array", "array_append", "array_insert", "array_contains", "array_position", "array_remove", "array_union",
            "array_except", "array_intersect", "arrays_overlap", "array_compact", "array_repeat", "arrays_zip",
            "flatten", "sequence", "element", "element_at", "try_element_at",
            "get", "words", "sentences", "matched", "reverse", "concat", "map_from_arrays",
            "map_from_entries", "map_concat", "map_contains_key", "map_entries", "map_keys", "map_values",
            "named_struct", "struct", "to_variant_object", "transform", "exists", "array_sort", "aggregate", "zip_with",
            "transform_keys", "transform_values", "map_filter", "map_zip_with",
        )
    },
    "map": nested.map_, "filter": nested.filter_, "unknown": unknown, "generated": unknown,
    "collected": collected, "coalesce": coalesce, "if": if_, "nvl2": if_, "decode": decode, "when": when,
    "nullif": nullif,
    "nullif_zero": nullif_zero, "zero_if_null": zero_if_null, "equal_null": equal_null, "greatest": greatest,
    "sum": sum_, "avg": avg, "median": median, "percentile": percentile, "percentile_cont": unknown,
    "percentile_approx": percentile_approx, "percentile_disc": unknown, "mode": mode, "kll": kll,
    "approx_top_k": approx_top_k,
    "approx_top_k_accumulate": approx_top_k_accumulate, "approx_top_k_combine": approx_top_k_combine,
    "approx_top_k_estimate": approx_top_k_estimate,
    "histogram_numeric": histogram_numeric,
    "regr_avgx": regr_avgx, "regr_avgy": regr_avgy, "to_char": to_char,
    "round": round_, "ceil": ceil, "nanvl": nanvl,
    "mod": _operator("%"), "add": _operator("+"), "subtract": _operator("-"), "multiply": _operator("*"),
    "divide": _operator("/"), "uniform": uniform, "hex": hex_, "pad": pad, "overlay": overlay, "elt": elt,
    "to_number": to_number, "from_json": from_json, "from_csv": from_json, "variant_get": variant_get, "cast": cast,
    "to_date": _to(DATE), "to_timestamp": _to(TIMESTAMP), "to_timestamp_ntz": _to(TIMESTAMP_NTZ),
    "timestamp_seconds": _to(TIMESTAMP), "date_part": date_part, "timestampadd": timestampadd,
    "current_time": current_time, "clock": clock, "window": window, "lag": lag,
}  # fmt: skip
