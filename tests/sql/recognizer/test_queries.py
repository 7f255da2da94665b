"""Whole queries and pipe operators in Spark's grammar: the first token that does not fit."""

import pytest

from sql.recognizer.check import recognize


@pytest.mark.parametrize(
    "query",
    [
        "with a as (select 1), b (x) as (from a) select * from b",
        "with recursive r (n) max recursion level 3 as (select 1 union all select n + 1 from r) select * from r",
        "(select 1) union all (values (1), (2)) order by 1 limit 1",
        "select 1 except all select 2 intersect select 3 minus select 4",
        "table t",
        "from t select a, b where a > 1",
        "from t |> extend a + 1 as x, 2 y |> set a = 1 |> drop b |> as q |> where x > 1",
        "from t |> join u using (a) |> union all (table v) |> order by a |> limit 3 offset 1",
        "from t |> aggregate sum(a) as s, count(*) group by b as k, c |> pivot (sum(s) for k in (1, 2))",
        "from t |> tablesample (10 percent) |> unpivot (v for n in (a, b))",
    ],
)
def test_a_query(query):
    assert recognize(query).unexpected is None


@pytest.mark.parametrize(
    ("query", "token"),
    [
        ("with a as select 1 select 2", "select"),
        ("with a as (select 1), select 2", "2"),
        ("select 1 union all union select 2", "union"),
        ("select 1 limit 10 rows", "rows"),
        ("select a from t select b", "b"),
        ("from t |> foo", "foo"),
        ("from t |> drop a.b", "."),
        ("select 1) from t", ")"),
    ],
)
def test_the_first_token_that_does_not_fit(query, token):
    unexpected = recognize(query).unexpected
    assert unexpected is not None
    assert query[unexpected.start : unexpected.end].strip() == token
