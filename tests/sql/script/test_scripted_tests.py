"""Tests of a job that are written in SQL."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from sql.script.scripted_tests import ScriptedTest, read_tests


def read(text: str) -> tuple[tuple[ScriptedTest, ...], Diagnostics]:
    diagnostics = Diagnostics()
    return read_tests(PlacedText.bare(text, "orders.test.sql"), diagnostics), diagnostics


def test_tests_in_their_order_with_rows_and_variables():
    tests, diagnostics = read(
        """TEST 'new orders';
           SET 'day' = '2024-01-01';
           GIVEN orders AS SELECT 1 AS id;
           EXPECT total ORDERED AS SELECT 1 AS id, 2 AS n;
           TEST 'none';
           GIVEN orders AS SELECT 1 AS id WHERE false;
           EXPECT total AS SELECT 1 AS id WHERE false;"""
    )
    assert not list(diagnostics)
    first, second = tests
    assert (first.name, first.variables) == ("new orders", (("day", "2024-01-01"),))
    assert [(rows.name.value, rows.query.value) for rows in first.given] == [("orders", "SELECT 1 AS id")]
    assert [(rows.name.value, rows.ordered) for rows in first.expected] == [("total", True)]
    assert (second.name, second.expected[0].ordered) == ("none", False)


def test_a_script_without_test_is_one_test():
    (only,), diagnostics = read("GIVEN a AS SELECT 1 x; EXPECT b AS SELECT 1 x")
    assert not list(diagnostics)
    assert only.name == "test"


def test_a_test_without_rows_is_left_out():
    assert read("TEST 'empty'; SET a = 'b'")[0] == ()


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("GIVEN a AS", "expected a query", 1),
        ("INSERT INTO a SELECT 1", "expected `TEST`, `SET`, `GIVEN` or `EXPECT`", 1),
        ("GIVEN a SELECT 1", "expected `AS`", 9),
        ("TEST 'a' b", "expected `;`", 10),
    ],
)
def test_an_error_and_its_column(text, message, at):
    _, diagnostics = read(text)
    (error,) = diagnostics
    assert error.message.startswith(message)
    assert error.span is not None
    if at != 1:
        assert error.span.column == at


def test_the_statements_behind_an_error_are_read():
    tests, diagnostics = read("GIVEN a AS; GIVEN b AS SELECT 1; EXPECT c AS SELECT 1")
    assert len(list(diagnostics)) == 1
    assert [rows.name.value for rows in tests[0].given] == ["b"]
