"""Names of a query bound to columns: joins, grouping, set operations, CTEs and limits, one query each."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BIGINT, INT, STRING
from sql.analyze import analyze

TABLES = {
    "t": CatalogTable.of("t", [Column("id", BIGINT, nullable=False), Column("a", INT)]),
    "u": CatalogTable.of("u", [Column("id", BIGINT, nullable=False), Column("s", STRING, nullable=False)]),
}


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("select * from t join u using (id)", ["id bigint not null", "a int", "s string not null"]),
        ("select * from t left join u using (id)", ["id bigint not null", "a int", "s string"]),
        ("select t.id, s from t full join u on t.id = u.id", ["id bigint", "s string"]),
        ("select id from t union all select a from t", ["id bigint"]),
        ("select id from t except select id from u", ["id bigint not null"]),
        ("select a, count(*) n from t group by all", ["a int", "n bigint not null"]),
        ("select a, sum(id) from t group by rollup (a)", ["a int", "sum(id) bigint"]),
        ("with t as (select s from u) select * from t", ["s string not null"]),
        ("select x.* from (values (1, 'a')) as x (n, v)", ["n int not null", "v string not null"]),
        ("from t |> select id |> extend id + 1 as next", ["id bigint not null", "next bigint not null"]),
    ],
)
def test_columns(query, columns):
    found = analyze(PlacedText.bare(query), TABLES)
    assert found.diagnostics == ()
    assert [str(column) for column in found.columns] == columns


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ("select id from t join u on t.id = u.id", "PEN3003", "id"),
        ("select nope from t", "PEN3004", "nope"),
        ("select * from nowhere", "PEN3002", "nowhere"),
        ("select a, sum(id) from t", "PEN3009", "a"),
        ("select id from t where sum(a) > 1", "PEN3011", "sum(a)"),
        ("select id, a from t union select id from u", "PEN3010", "id"),
        ("select id from t limit -1", "PEN3017", "1"),
    ],
)
def test_errors(query, code, text):
    (error,) = analyze(PlacedText.bare(query), TABLES).diagnostics
    span = error.span
    assert (error.code, query[span.column - 1 : span.end_column - 1]) == (code, text)
