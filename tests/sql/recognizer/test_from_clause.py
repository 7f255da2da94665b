"""FROM in Spark's grammar: relations, joins, samples and views, and the first token that does not fit."""

import pytest

from sql.recognizer.check import recognize


@pytest.mark.parametrize(
    "relations",
    [
        "t",
        "a.b.t as x (c, d)",
        "t tablesample (10 percent) repeatable (3) as x",
        "(select 1) x, (table t), (values (1), (2)) as v (a)",
        "(t join u on t.id = u.id) left join v using (id)",
        "t natural full outer join u cross join v",
        "t left semi join u on true anti join v using (id)",
        "t, lateral (select 1) x join lateral explode(xs) on true",
        "t lateral view outer explode(xs) e as x lateral view posexplode(ys) as p, c",
        "range(1, 10, 2) r (id)",
        "values 1, 2",
        "t pivot (sum(a) as s for (b, c) in ((1, 2) as x, (3, 4)))",
        "t unpivot include nulls ((v, w) for n in ((a, b) as x, (c, d))) as u",
    ],
)
def test_a_relation(relations):
    assert recognize(f"select * from {relations}").unexpected is None


@pytest.mark.parametrize(
    ("relations", "token"),
    [
        ("t u v", "u v"),
        ("t left u", "u"),
        ("t inner left join u", "left"),
        ("(t, u)", ","),
        ("t join u using id", "id"),
        ("t join u on true using (id)", "using"),
        ("t as 'x'", "'x'"),
        ("t x tablesample (10 percent)", "tablesample"),
    ],
)
def test_the_token_that_does_not_fit(relations, token):
    query = f"select * from {relations}"
    unexpected = recognize(query).unexpected
    assert unexpected is not None
    assert query[unexpected.start : unexpected.end] == token
