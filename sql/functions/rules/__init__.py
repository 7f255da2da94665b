"""The result rules that the catalogue names `@rule`: from the arguments of a call to the type of its result.

A rule returns a type, whose nullability is in the catalogue, or a type with its nullability.
"""

from typing import Final

from sql.functions.rules import (
    aggregates,
    arithmetic,
    arrays,
    conditions,
    conversions,
    dates,
    elements,
    lambdas,
    maps,
    semi_structured,
    strings,
    structs,
)
from sql.functions.rules.call import Call, Rule
from sql.types.expression_type import NOT_KNOWN, Typed


def unknown(call: Call) -> Typed:
    return NOT_KNOWN


RULES: Final[dict[str, Rule]] = {
    **dict.fromkeys(("unknown", "generated", "percentile_cont", "percentile_disc"), unknown),
    **aggregates.RULES,
    **arithmetic.RULES,
    **arrays.RULES,
    **conditions.RULES,
    **conversions.RULES,
    **dates.RULES,
    **elements.RULES,
    **lambdas.RULES,
    **maps.RULES,
    **semi_structured.RULES,
    **strings.RULES,
    **structs.RULES,
}
