"""Types that a query writes, held to Spark's names and sizes."""

import pytest

from sql.parsing.cast_type_names import type_issues
from sql.parsing.parse import parse


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("select cast(a as text)", "text"),
        ("select a::datetime + 1", "datetime"),
        ("select try_cast(a as array<nosuch>)", "nosuch"),
        ("select cast(cast(a as number) as int)", "number"),
        ("select a::array<text>, b", "text"),
        ("select cast(a as int(5))", "("),
    ],
)
def test_the_word_that_is_no_type(query, wrong):
    (issue,) = type_issues(query, parse(query).tokens)
    assert (query[issue.start : issue.end], issue.code) == (wrong, "PEN3013")


@pytest.mark.parametrize(
    "query",
    [
        "select cast(a as decimal(10, 2)), b::map<string, array<int>>",
        "select cast(a as struct<x: int, `y z`: string not null>)",
        "select 1L, 'a::text'",
        "select cast(a as string collate utf8_binary)",
        "select text, cast from t",
    ],
)
def test_what_spark_accepts(query):
    assert list(type_issues(query, parse(query).tokens)) == []
