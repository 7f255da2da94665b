"""Errors that a few tokens show, in queries that sqlglot's parser takes."""

import pytest

from catalog.spark_version import NEWEST
from sql.parsing.parse import parse
from sql.parsing.syntax_checks import check_syntax


@pytest.mark.parametrize(
    ("query", "text", "message"),
    [
        ("select a, from t", ",", "there is a comma before FROM"),
        ("select a,, b from t", ",", "an expression is missing between a comma and `,`"),
        ("select a from t group by ()", "()", "GROUP BY needs an expression"),
        ("select a from t where a in ()", "()", "IN needs at least one value"),
        ("select a from t order by a asc desc", "desc", "ASC is here already"),
        ("select a from t tablesample (10)", "10", "TABLESAMPLE needs a unit"),
        ("select a from t join u using a", "a", "USING takes its columns in parentheses"),
        ("select a from t limit 1 order by a", "order by", "ORDER BY must be before LIMIT"),
        ("select a from t sort by a cluster by a", "cluster by", "CLUSTER BY and SORT BY cannot be combined"),
        ("select upper(a as b) from t", "as", "AS is inside the brackets of `upper`"),
        ("select a ?? b", "??", "Spark has no operator `??`"),
    ],
)
def test_the_error_and_its_range(query, text, message):
    assert (text, message) in [
        (query[issue.start : issue.end], issue.message) for issue in check_syntax(parse(query), NEWEST)
    ]


def test_a_shift_after_an_array_is_refused():
    query = "select array(1), 4 >> 1"
    (issue,) = check_syntax(parse(query), NEWEST)
    assert (query[issue.start : issue.end], issue.help) == (">>", "use shiftright(a, b)")


@pytest.mark.parametrize(
    "query",
    [
        "select a from t distribute by a sort by a limit 3",
        "(select a from t limit 1) order by a",
        "select struct(a as b), cast(a as int), transform(xs, x -> x) from t",
        "select cast(a as array<array<int>>), 4 >> 1",
        "select t.group, a as order from t",
        "select a from t where a in (1) group by a having a > 1 order by a desc limit 1",
    ],
)
def test_what_spark_accepts(query):
    assert list(check_syntax(parse(query), NEWEST)) == []
