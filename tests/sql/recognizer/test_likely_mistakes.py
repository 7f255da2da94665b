"""The cause of a syntax error is marked, not the token at which the parser stops."""

import pytest

from sql.recognizer.check import recognize, unparsed


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("select a from from t where b = 1", "from from"),
        ("select a, (select select b from u) from t", "select select"),
        ("select a from t group by group by a", "group by group by"),
        ("select a from t where a = 1 and and b = 2", "and and"),
        ("select case when a > then b end from t", "> then"),
        ("select a from t having count(*) > ", "> "),
        ("select * from select a, (b > 1) as c from t", "select"),
        ("select a from t left join lateral select 1 as b", "select"),
        ("select coalesce(select max(a) from t) from t", "(select"),
        ("select coalesce((select max(b)) from u c, 1) from t", ") from"),
        ("select a b c from t", "b c"),
        ("select a from t where exists (select 1 u c where c.a = 1)", "u c"),
        ("select f((x y) -> x) from t", ")"),
    ],
)
def test_the_cause_is_marked(query, marked):
    found = recognize(query).unexpected or unparsed(query)
    assert found is not None
    assert query[found.start : found.end] == marked


@pytest.mark.parametrize(
    "query",
    [
        "select case when a then case when b then 1 end end from t",
        "select coalesce((select max(a) from t), 1) from t",
        "select a * from t",
        "select a >> 1, a >>> 1 from t",
        "select (a as x, b as y).x from t",
    ],
)
def test_a_query_that_spark_takes_has_none(query):
    assert recognize(query).unexpected is None


@pytest.mark.parametrize("value", ["(a as b)", "(a b)", "1 = (a as b)", "a >>>> 1"])
def test_a_value_in_brackets_has_no_alias_and_no_operator_four_angles(value):
    assert recognize(f"select {value} from t").unexpected is not None
