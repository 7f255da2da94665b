"""Result rules of conditions and comparisons: `coalesce`, `if`, `decode`, `greatest`."""

from typing import Final

from catalog.types.datatypes import BOOLEAN, INT, UNKNOWN, VOID, DataType
from sql.functions.rules.argument_checks import becomes_null, common
from sql.functions.rules.call import Call, Rule
from sql.types.casts import forces_null
from sql.types.coercion import widest, widest_unpromoted
from sql.types.expression_type import Typed
from sql.types.mismatch import Mismatch
from sql.types.operators import comparison, is_orderable


def coalesce(call: Call) -> Typed:
    found = common(call, [arg.type for arg in call.args], f"arguments of `{call.name}`")
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


def _branches(call: Call, indices: list[int]) -> Typed:
    chosen = [call.args[index] for index in indices]
    found = common(call, [result.type for result in chosen], f"the results of `{call.name}`")
    return Typed(found, becomes_null(chosen, found))


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
    for arg in call.args:
        found = None if found is None else widest_unpromoted(found, arg.type)
        if found is None:
            raise Mismatch(f"arguments of `{call.name}` must be of one type, one is {arg.type}")
    assert found is not None
    if not is_orderable(found):
        raise Mismatch(f"`{call.name}` can't order {found}", 0)
    return Typed(found, all(arg.nullable or forces_null(arg.type, found) for arg in call.args))


RULES: Final[dict[str, Rule]] = {
    "coalesce": coalesce,
    "if": if_,
    "nvl2": if_,
    "when": when,
    "decode": decode,
    "nullif": nullif,
    "nullif_zero": nullif_zero,
    "zero_if_null": zero_if_null,
    "equal_null": equal_null,
    "greatest": greatest,
}
