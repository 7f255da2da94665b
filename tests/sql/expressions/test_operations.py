"""Arithmetic, bits and joined strings in an expression: the types, and which operand is refused."""

import pytest

from tests.sql.analyzed import column, error, typed


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("num_nn + big_nn", "bigint!"),
        ("money_nn * 2", "decimal(12,2)"),
        ("day_nn + 1", "date!"),
        ("interval 1 day 2 hours", "interval day to hour!"),
        ("1 << num_nn", "int!"),
        ("big << 1", "bigint"),
        ("-128Y", "tinyint!"),
        ("~num_nn", "int!"),
        ("txt_nn || num_nn", "string!"),
        ("'a' 'b'", "string!"),
    ],
)
def test_the_type(expression, type):
    assert typed(expression) == type


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("day + interval 1 day", "date_add(day, extractansiintervaldays(INTERVAL '1' DAY))"),
        ("2 * interval 1 day", "(INTERVAL '1' DAY * 2)"),
        ("interval 1 day + interval 2 hours", "(INTERVAL '1' DAY + INTERVAL '02' HOUR)"),
        ("null + null", "(NULL + NULL)"),
    ],
)
def test_the_name_follows_the_types(expression, name):
    assert column(expression).name == name


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("num + flag", "flag"),
        ("flag << 1", "flag"),
        ("1 << flag", "flag"),
        ("-day", "day"),
        ("~dbl", "dbl"),
        ("txt || dict", "dict"),
    ],
)
def test_the_operand_that_is_refused(expression, wrong):
    code, text, _ = error(f"select {expression} from every")
    assert (code, text) == ("PEN3008", wrong)
