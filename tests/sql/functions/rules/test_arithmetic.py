"""The types of functions over numbers."""

import pytest

from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result


@pytest.mark.parametrize(
    ("rule", "arguments", "type"),
    [
        ("round", ["decimal(10,2)", "1"], "decimal(10,1)"),
        ("round", ["decimal(10,2)", "-2"], "decimal(9,0)"),
        ("round", ["int", "-1"], "int"),
        ("ceil", ["decimal(10,2)"], "decimal(9,0)"),
        ("ceil", ["double"], "bigint"),
        ("nanvl", ["float", "float"], "float"),
        ("nanvl", ["float", "double"], "double"),
        ("mod", ["int", "bigint"], "bigint"),
        ("divide", ["int", "int"], "double"),
        ("add", ["date", "int"], "date"),
        ("uniform", ["int", "bigint"], "bigint"),
        ("uniform", ["decimal(4,2)", "decimal(2,1)"], "decimal(4,2)"),
        ("uniform", ["float", "decimal(4,2)"], "float"),
    ],
)
def test_the_type(rule, arguments, type):
    assert result(rule, *arguments) == type


def test_the_type_is_not_known_where_the_scale_is_no_literal():
    assert result("round", "decimal(10,2)", "int") == "unknown"
    assert result("ceil", "decimal(10,2)", "int") == "unknown"


def test_uniform_names_the_argument_that_is_no_number():
    with pytest.raises(Mismatch) as error:
        result("uniform", "int", "string")
    assert error.value.argument == 1
