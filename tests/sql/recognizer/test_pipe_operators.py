"""Pipe operators in Spark's grammar: what each takes, and the first token that does not fit."""

import pytest

from sql.recognizer.check import recognize


@pytest.mark.parametrize(
    "operators",
    [
        "where a > 1",
        "select a, b as c, *",
        "extend a + 1 as x, 2 y",
        "set a = 1, b = upper(b)",
        "drop a, b",
        "as q",
        "join u using (a)",
        "left join lateral explode(xs) as e on true",
        "union all (table v)",
        "order by a desc, b",
        "limit 3 offset 1",
        "aggregate sum(a) as s, count(*) group by b as k, c",
        "aggregate group by b",
        "pivot (sum(a) for b in (1, 2))",
        "tablesample (10 percent)",
        "unpivot (v for n in (a, b))",
    ],
)
def test_an_operator(operators):
    assert recognize(f"from t |> {operators} |> where true").unexpected is None


@pytest.mark.parametrize(
    ("operators", "token"),
    [("foo", "foo"), ("drop t.a", "."), ("where", "|>"), ("as 'q'", "'q'")],
)
def test_the_token_that_does_not_fit(operators, token):
    query = f"from t |> {operators} |> where true"
    unexpected = recognize(query).unexpected
    assert unexpected is not None
    assert query[unexpected.start : unexpected.end] == token
