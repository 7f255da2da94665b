"""Expressions in Spark's grammar: the first token that does not fit."""

import pytest

from sql.recognizer.check import recognize


@pytest.mark.parametrize(
    "expression",
    [
        "a + -b * ~c || d",
        "not a = 1 and b is not distinct from c or d is unknown",
        "a between 1 and 2 and b not in (1, 2)",
        "a like 'x' escape '!' or b not like all ('x', 'y')",
        "case a when 1 then 2 else 3 end",
        "cast(a as array<struct<x int, y: string>>)",
        "a::decimal(10, 2)::string",
        "xs[0].f['k']",
        "doc:a.b[0]['c']",
        "transform(xs, (x, i) -> x + i)",
        "f(a, name => 1)",
        "sum(distinct a) filter (where b) over (partition by c order by d rows between 1 preceding and current row)",
        "percentile_cont(0.5) within group (order by a desc)",
        "first(a) ignore nulls over w",
        "interval 1 day 2 hours + interval '1-2' year to month",
        "date '2020-01-01' + 1",
        "struct(a as b, c)",
        "extract(year from a) + position('x' in b)",
        "trim(both 'x' from a) || substring(b from 1 for 2)",
        "exists (select 1) and (select 2) > 1",
        "a collate utf8_binary",
    ],
)
def test_an_expression(expression):
    assert recognize(f"select {expression} from t").unexpected is None


@pytest.mark.parametrize(
    ("expression", "token"),
    [
        ("a = = 1", "="),
        ("a between 1 or 2", "or"),
        ("case when a then 1", "from"),
        ("cast(a int)", "int"),
        ("f(a b)", "b"),
        ("a not 1", "1"),
        ("xs[0", "from"),
        ("a is 1", "1"),
    ],
)
def test_the_token_that_does_not_fit(expression, token):
    query = f"select {expression} from t"
    unexpected = recognize(query).unexpected
    assert unexpected is not None
    assert query[unexpected.start : unexpected.end] == token
