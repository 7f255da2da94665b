"""What a dotted name means in a query: columns, fields, aliases, variables and columns of the outer query."""

import pytest

from tests.sql.analyzed import column, error


@pytest.mark.parametrize(
    ("expression", "table", "type"),
    [
        ("id", "t", "bigint"),
        ("T.A", "t", "int"),
        ("s.z.w", "t", "int"),
        ("t.s.x", "t", "int"),
        ("a.b", "(select s as a, 1 as b from t) a", "int"),
        ("transform(arr, a -> a)", "t", "array<int>"),
        ("(select t.a)", "t", "int"),
        ("(select max(c) from u where u.id = t.id)", "t", "int"),
    ],
)
def test_what_a_name_means(expression, table, type):
    assert str(column(expression, table).type) == type


@pytest.mark.parametrize(
    ("query", "code", "wrong"),
    [
        ("select nope from t", "PEN3004", "nope"),
        ("select u.a from t", "PEN3004", "u"),
        ("select t.nope from t", "PEN3004", "nope"),
        ("select s.nope from t", "PEN3005", "nope"),
        ("select id from t, u", "PEN3003", "id"),
        ("select a as q from t where q > 1", "PEN3004", "q"),
        ("select * from t where exists (select nope from u)", "PEN3004", "nope"),
        ("select sum(a) over w from t", "PEN3017", "w"),
    ],
)
def test_a_name_that_means_nothing_or_too_much(query, code, wrong):
    assert error(query)[:2] == (code, wrong)
