"""How much of a text is GROUP BY, WINDOW, or what sorts and limits, in Spark's grammar."""

import pytest

from sql.recognizer.clauses import grouping, organization, windows
from sql.recognizer.cursor import NotSparkError
from tests.sql.recognizer.rule_rest import rest


@pytest.mark.parametrize(
    ("rule", "text", "left"),
    [
        (grouping, "a, rollup(b, (c, d)) order", "order"),
        (grouping, "a grouping sets ((a), ()) having", "having"),
        (grouping, "a, b with cube having", "having"),
        (grouping, "(a, b)", ""),
        (windows, "window w as (order by a), v as (w) order", "order"),
        (windows, "window", "window"),
        (organization, "order by a desc nulls last, b limit 3 offset 1)", ")"),
        (organization, "distribute by a sort by b union", "union"),
        (organization, "limit all)", ")"),
        (organization, ")", ")"),
    ],
)
def test_a_clause(rule, text, left):
    assert rest(rule, text) == left


@pytest.mark.parametrize(("rule", "text"), [(grouping, ""), (grouping, "rollup(a"), (organization, "order by")])
def test_a_clause_that_is_not_complete(rule, text):
    with pytest.raises(NotSparkError):
        rest(rule, text)
