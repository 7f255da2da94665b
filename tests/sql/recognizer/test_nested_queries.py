"""Brackets that hold a query, and those that hold a value."""

import pytest

from sql.recognizer.nested_queries import starts_query
from tests.sql.recognizer.rule_rest import cursor_of


@pytest.mark.parametrize("text", ["(select 1)", "((values 1))", "(with a as (select 1) table a)", "(from t)"])
def test_a_query_in_brackets(text: str) -> None:
    assert starts_query(cursor_of(text), 0)


@pytest.mark.parametrize("text", ["(1)", "(table.a)", "(values)", "(with -> 1)", "select 1"])
def test_a_value_in_brackets(text: str) -> None:
    assert not starts_query(cursor_of(text), 0)
