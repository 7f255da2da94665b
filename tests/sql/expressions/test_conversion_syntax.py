"""Casts, EXTRACT, COLLATE, and TRIM, SUBSTRING, OVERLAY and POSITION in their own syntax."""

import pytest

from tests.sql.analyzed import error, typed


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("cast(num_nn as string)", "string!"),
        ("cast(txt_nn as int)", "int"),
        ("try_cast(num_nn as tinyint)", "tinyint"),
        ("try_cast(num_nn as bigint)", "bigint!"),
        ("1L::decimal(5, 2)", "decimal(5,2)"),
        ("extract(year from day_nn)", "int!"),
        ("substring(bin from 1 for 2)", "binary"),
        ("substring(txt_nn from 1)", "string!"),
        ("trim(both 'x' from txt_nn)", "string!"),
        ("position('a' in txt_nn)", "int!"),
        ("overlay(txt_nn placing 'x' from 1)", "string!"),
        ("txt_nn collate utf8_binary", "string!"),
    ],
)
def test_the_type(expression, type):
    assert typed(expression) == type


@pytest.mark.parametrize(
    ("expression", "wrong", "message"),
    [
        ("cast(flag as date)", "cast(flag as date)", "boolean can't be cast to date"),
        ("extract(day from num)", "num", "`day` can't be extracted from int"),
        ("trim(both nums from txt)", "nums", "a string is expected, this is array<int>"),
        ("substring(txt from flag)", "flag", "a number is expected, this is boolean"),
        ("num collate utf8_binary", "num", "only strings have a collation, this is int"),
    ],
)
def test_an_operand_that_is_refused(expression, wrong, message):
    _, text, found = error(f"select {expression} from every")
    assert (text, found.lower()) == (wrong, message.lower())
