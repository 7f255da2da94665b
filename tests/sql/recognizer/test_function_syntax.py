"""Functions with words among their arguments, and calls of the same names without them."""

import pytest

from sql.recognizer.expressions import expression
from sql.recognizer.function_syntax import FUNCTION_SYNTAX
from tests.sql.recognizer.rule_rest import rest

CALLS = {
    "CAST": "cast(a as map<int, string>)",
    "TRY_CAST": "try_cast(a as int)",
    "EXTRACT": "extract(day from a)",
    "POSITION": "position('a' in b)",
    "SUBSTRING": "substring(a from 1 for 2)",
    "SUBSTR": "substr(a, 1)",
    "TRIM": "trim(both 'x' from a)",
    "OVERLAY": "overlay(a placing 'b' from 1 for 2)",
    "FIRST": "first(a ignore nulls)",
    "LAST": "last(a ignore nulls)",
    "ANY_VALUE": "any_value(a ignore nulls)",
}


def test_every_function_has_a_call_here() -> None:
    assert CALLS.keys() == FUNCTION_SYNTAX.keys()


@pytest.mark.parametrize("call", [*CALLS.values(), "extract(a, b)", "position('a', b)", "trim(a)", "overlay(a, b, 1)"])
def test_a_call_is_read_to_its_end(call: str) -> None:
    assert rest(expression, f"{call} then") == "then"
