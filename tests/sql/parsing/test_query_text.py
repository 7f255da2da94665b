"""The tables that a query names, and whether it is one statement."""

import pytest

from sql.parsing.query_text import is_one_statement, tables_named


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("select * from b join a.c on true where x in (select y from d)", ("b", "a.c", "d")),
        ("with c as (select * from t) select * from c, t", ("t",)),
        ("select * from `x y`.z, explode(xs)", ("x y.z",)),
        ("with t as (select * from t) select * from t", ("t",)),
        ("with recursive t as (select 1 union all select * from t) select * from t", ()),
        ("with a as (select * from b), b as (select 1) select * from a, b, t", ("b", "t")),
        ("select * from t, (with t as (select 1) select * from t) u", ("t",)),
        ("with c as (select 1) from t |> join c on true", ("t",)),
        ("select a from (select 4) as t(a)", ()),
        ("select t.a from (values (1)) as t(a) lateral view explode(a) u as v", ()),
        ("select 1 union all table t", ("t",)),
        ("select 'from t'", ()),
        ("select from where", ()),
    ],
)
def test_the_tables_in_order_of_appearance(query, names):
    assert tables_named(query) == names


@pytest.mark.parametrize(
    ("query", "is_one"),
    [
        ("select (1)", True),
        ("select 1;", False),
        ("1) from (select 2", False),
        ("select (1", False),
        ("'", False),
    ],
)
def test_one_statement(query, is_one):
    assert is_one_statement(query) is is_one
