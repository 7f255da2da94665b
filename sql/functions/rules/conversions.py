"""Result rules of casts that are written as calls."""

from typing import Final

from catalog.types.datatypes import BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, UNKNOWN, DataType, Decimal, Time
from sql.functions.rules.call import Call, Rule
from sql.types.casts import can_cast, forces_null
from sql.types.expression_type import Typed
from sql.types.mismatch import Mismatch
from sql.types.type_names import ATOMIC


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


def to_binary(call: Call) -> Typed:
    """Null only for null where the format is base64, as in `unbase64`."""
    is_base64 = (call.text(1) or "").lower() == "base64"
    return Typed(BINARY, call.args[0].nullable or not is_base64)


RULES: Final[dict[str, Rule]] = {
    "cast": cast,
    "to_binary": to_binary,
    "to_date": _to(DATE),
    "to_timestamp": _to(TIMESTAMP),
    "to_timestamp_ntz": _to(TIMESTAMP_NTZ),
    "timestamp_seconds": _to(TIMESTAMP),
}
