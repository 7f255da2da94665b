"""Columns, literals and words that stand for functions, where no column has their name."""

import pytest

from tests.sql.analyzed import column, error, typed


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("num_nn", "int!"),
        ("'a'", "string!"),
        ("X'1F'", "binary!"),
        ("null", "void"),
        ("true", "boolean!"),
        ("1.50", "decimal(3,2)!"),
        ("current_date", "date!"),
        ("current_timestamp", "timestamp!"),
        ("user", "string!"),
        ("(1)", "int!"),
    ],
)
def test_the_type(expression, type):
    assert typed(expression) == type


def test_a_column_hides_the_function_of_its_name():
    assert str(column("user", "(select 1 as user)").type) == "int"


def test_the_column_window_is_that_of_the_grouped_call():
    assert str(column("window.start", "every group by window(ts, '1 hour')").type) == "timestamp"
    assert error("select window.start from every")[:2] == ("PEN3004", "window")


def test_an_interval_takes_a_literal_only():
    assert error("select interval num day from every")[0] == "PEN3001"
