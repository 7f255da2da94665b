"""Spark's grammar: the first token that it refuses, in queries that sqlglot takes."""

import pytest

from sql.recognizer.check import recognize


@pytest.mark.parametrize(
    ("query", "token"),
    [
        ("select id,, x from t", ","),
        ("select a from t fetch first 1 rows only", "fetch first"),
        ("select a from t for update", "update"),
        ("select 1 from t where a in ()", ")"),
        ("select a from t where a >", ">"),
        ("select 'abc", "'"),
    ],
)
def test_the_refused_token(query, token):
    unexpected = recognize(query).unexpected
    assert unexpected is not None
    assert query[unexpected.start : unexpected.end] == token


@pytest.mark.parametrize(
    "query",
    [
        "select a from t",
        "with a as (select 1) select * from a where x between 1 and 2",
        "select sum(a) over (partition by b order by c rows between 1 preceding and current row) from t",
        "from t |> where a > 1 |> aggregate sum(a) as s group by b",
        "select a, b from t group by cube (a, b) having count(*) > 1 order by a desc nulls last limit 3",
        "select transform(xs, x -> x + 1), m['k'], s.f, v:a.b::int from t lateral view explode(xs) e as y",
    ],
)
def test_what_spark_accepts_is_recognized(query):
    assert recognize(query).unexpected is None


def test_what_the_rules_do_not_follow_is_not_judged():
    assert recognize("select /*+ broadcast(t) */ ,, from t").unexpected is None
