"""How much of a text is a type, in Spark's grammar."""

import pytest

from sql.recognizer.cursor import NotSparkError
from sql.recognizer.data_types import data_type
from tests.sql.recognizer.rule_rest import rest


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("int)", ")"),
        ("decimal(10, 2) x", "x"),
        ("array<map<string, int>> x", "x"),
        ("struct<a int, b: string not null comment 'c'>)", ")"),
        ("struct<> x", "x"),
        ("interval day to second x", "x"),
        ("timestamp without time zone x", "x"),
        ("string collate utf8_binary x", "x"),
    ],
)
def test_a_type(text, left):
    assert rest(data_type, text) == left


@pytest.mark.parametrize("text", ["array<int", "map<int>", "struct<a>", "decimal(a)", "(", "int(-1)"])
def test_no_type(text):
    with pytest.raises(NotSparkError):
        rest(data_type, text)
