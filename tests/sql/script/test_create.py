"""CREATE TABLE and CREATE VIEW of a SQL job: clauses that a job does not have, and what is read behind an error."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from sql.script.split_statements import read_script
from sql.script.statements import CreateTable, CreateView


def read(text: str):
    diagnostics = Diagnostics()
    return read_script(PlacedText.bare(text, "job.sql"), diagnostics), list(diagnostics)


def test_a_table_by_its_query():
    (table,), errors = read("CREATE TABLE t WITH ('connector' = 'Console') AS SELECT 1 a")
    assert errors == []
    assert isinstance(table, CreateTable)
    assert table.query is not None
    assert (table.name.value, table.query.value) == ("t", "SELECT 1 a")


def test_a_view_by_a_transform():
    (view,), errors = read("CREATE TEMPORARY VIEW v WITH ('transform' = 'Copy', n = 5)")
    assert errors == []
    assert isinstance(view, CreateView)
    assert [(option.key.value, option.value.value, option.is_text) for option in view.properties] == [
        ("transform", "Copy", True),
        ("n", "5", False),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE t USING csv", "a clause that a job file does not have"),
        ("CREATE TABLE t (a int) LOCATION '/x'", "a clause that a job file does not have"),
        ("CREATE VIEW v", "expected `AS` and a query"),
        ("CREATE VIEW v AS", "expected a query"),
        ("CREATE TEMPORARY TABLE t (a int)", "expected `VIEW`"),
        ("CREATE VIEW v PARTITIONED BY (a) AS SELECT 1 a", "a view has no partitions"),
        ("CREATE INDEX i", "expected `TABLE`, `TABLES` or `VIEW`"),
    ],
)
def test_what_is_refused(text, message):
    _, (error,) = read(text)
    assert error.message.startswith(message)


def test_a_missing_comma_between_options_is_reported_and_both_are_read():
    (table,), (error,) = read("CREATE TABLE t WITH ('a' = 'x' 'b' = 'y')")
    assert error.message == "a comma is missing before 'b'"
    assert [option.key.value for option in table.properties] == ["a", "b"]


def test_an_invalid_column_leaves_the_others():
    (table,), errors = read("CREATE TABLE t (a int NOT NULL NOPE, b string) WITH ('connector' = 'Console')")
    assert len(errors) == 1
    assert "b" in [column.name.value for column in table.columns]
