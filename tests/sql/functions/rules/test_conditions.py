"""The types of `coalesce`, `if`, `decode` and other conditions, and when they may be null."""

import pytest

from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result


@pytest.mark.parametrize(
    ("rule", "arguments", "type"),
    [
        ("coalesce", ["int", "bigint!"], "bigint!"),
        ("coalesce", ["int", "bigint"], "bigint"),
        ("coalesce", ["string!", "date"], "date"),
        ("if", ["boolean!", "int!", "bigint!"], "bigint!"),
        ("if", ["boolean!", "int!", "void"], "int"),
        ("when", ["boolean", "int!"], "int"),
        ("when", ["boolean", "int!", "int!"], "int!"),
        ("decode", ["int", "int", "string!"], "string"),
        ("decode", ["int", "int", "string!", "string!"], "string!"),
        ("nullif", ["int", "bigint"], "int"),
        ("zero_if_null", ["bigint"], "bigint"),
        ("equal_null", ["int", "int"], "boolean"),
        ("greatest", ["int!", "decimal(3,1)!"], "decimal(11,1)!"),
        ("greatest", ["void", "int!"], "int!"),
    ],
)
def test_the_type(rule, arguments, type):
    assert result(rule, *arguments) == type


@pytest.mark.parametrize(
    ("rule", "arguments", "argument"),
    [
        ("when", ["int", "int"], 0),
        ("decode", ["int", "array<int>", "string"], 1),
        ("greatest", ["map<string,int>", "map<string,int>"], 0),
        ("greatest", ["int", "string"], None),
        ("coalesce", ["int", "array<int>"], None),
        ("nullif", ["int", "array<int>"], 1),
    ],
)
def test_the_argument_that_is_refused(rule, arguments, argument):
    with pytest.raises(Mismatch) as error:
        result(rule, *arguments)
    assert error.value.argument == argument
