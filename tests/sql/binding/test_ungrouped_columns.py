"""Columns outside of aggregate functions in a query that groups."""

import pytest

from tests.sql.analyzed import error
from tests.sql.query_cases import analysis_text


@pytest.mark.parametrize(
    "query",
    [
        "select a, sum(id) from t group by a",
        "select a + 1, upper(b) from t group by a, upper(b)",
        "select s.x from t group by s",
        "select count(*) filter (where b = 'x') from t group by a",
        "select percentile_cont(0.5) within group (order by id) from t group by a",
        "select a, (select max(c) from u) from t group by a",
        "select sum(sum(id)) over (order by a) from t group by a",
        "select grouping(a) from t group by cube(a)",
    ],
)
def test_a_grouped_query(query):
    assert analysis_text(query).startswith("= ")


@pytest.mark.parametrize(
    ("query", "code", "wrong"),
    [
        ("select a, b from t group by a", "PEN3009", "b"),
        ("select a, count(*) from t", "PEN3009", "a"),
        ("select s from t group by s.x", "PEN3009", "s"),
        ("select struct(*) from t group by a", "PEN3009", "*"),
        ("select sum(max(a)) from t", "PEN3011", "max(a)"),
        ("select sum(rand()) from t", "PEN3011", "rand"),
        ("select sum(rank() over (order by a)) from t", "PEN3011", "rank() over (order by a)"),
        ("select grouping(a) from t group by a", "PEN3011", "grouping(a)"),
        ("select grouping(b) from t group by cube(a)", "PEN3009", "b"),
        ("select (select max(t.a) from u) from t", "PEN3016", "t.a"),
    ],
)
def test_what_is_refused(query, code, wrong):
    assert error(query)[:2] == (code, wrong)
