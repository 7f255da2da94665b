"""Where the analyzer is known to say otherwise than Spark 4.1.

`docs/analysis.md` lists each difference, and its test fails here once it is gone.
"""

import re
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText
from sql.analyze import analyze
from tests.oracle.listed_kinds import LISTED, is_listed
from tests.oracle.spark_oracle import Accepted, SparkOracle
from tests.sql.query_cases import TABLES

DOCUMENT = Path(__file__).parents[2] / "docs" / "analysis.md"

REFUSED_BY_SPARK = [
    "select b, sum(a) as s from t group by b having s > 1",
    "select a from t group by a, (select max(c) from u where u.id = t.id)",
    "select identifier('count')(*) from t",
    "select identifier('t').a from t",
    "select q.col1 from (values (1, 2) as q)",
    "values (1 / 0)",
    "select a in (values a) from t",
    "select * from (select a as p, id as v from t) pivot (max(v) for p in (99999999999))",
    "select (select low from words limit 1) = 'a' collate unicode from words",
    "select interval 2147483647 day * 2",
    "select listagg(bin, ', ') from every",
    "select uniform(1, 2, 3.0)",
    "select try_reflect('java.wrongclass.Math', 'max', 2, 3)",
    "select st_geomfromwkb(X'00')",
    "select all as x from values (1) as v(all)",
    "select count(*) from every group by ts having max(window(ts, '1 hour').start) is null",
    "select from_csv(txt, schema_of_csv('')) from every",
    "select t.identifier(concat('a', '')) from t",
    "select identifier(base64('a')) from t",
    "select state, grouping(state) as g, grouping_id(state, placed), sum(amount) from orders group by"
    " cube(state, placed) having grouping_id(state, placed) < 3 order by 1 nulls first",
    "select sum(positive(customer)) over (partition by lines[0].sku order by placed), lag(customer) over (order by"
    " placed desc), count(id + 1) over (partition by lines[0].sku) from orders",
    "select b like any (cast(3 in (1, 2L) as string)) as c from t",
    "select max(a + 1L), explode(array(1)) from t",
    "select map(1, 'a')[1] = low from words",
    "select round(amount, -'x') from orders",
]
"""Accepted here."""

ACCEPTED_BY_SPARK = [
    "select cast(null as struct<>)",
    "select in(a, 1) from t",
    "select transform(arr, (x -> x)) from t",
    "select 'a' as arr from t group by arr having arr[0] > 0 order by arr[0]",
    "select a in (select c from u) from t group by a in (select c from u), a order by a in (select c from u)",
    "select * from values ('z', 1) as t(q, all) order by all",
    "select struct(x => 1) as s",
    "select lateral from (select 1 as lateral)",
    "select 1 as 2e3S",
    "select a in (values (1) limit 1) from t",
    "table t |> order by a order by b",
    "table t |> left join u using (id) |> drop c |> select u.id",
    "select count(s.*) from t",
    "select id from orders as o where 99999999999999999999 > (select sum(max(1)) from orders where id = o.id)",
    "select array_append(array(map(word, num)), by_low) from words",
    "select round(a, 'x') from t",
]
"""Refused here."""

OTHERWISE = {
    "select from_csv(txt, schema_of_csv('1;2', map('sep', ';'))) as c from every": "struct<_c0:int,_c1:int>",
    "select from_xml(txt, schema_of_xml('<p><a>1</a></p>')) as c from every": "struct<a:bigint>",
    "select identifier(format_string('%s', 'a')) as c from t": "int",
}
"""Of unknown type here, and of which in Spark."""

NAMED_OTHERWISE = {
    "select explode(arr), struct(a + 1L as q) from t": "struct((a + 1))",
    "select explode(arr), max(nvl(struct(a as q), null)) over () from t": "max(nvl(struct(a AS q), NULL)) OVER "
    "(ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "select struct(s.*) from t": "struct(s.x AS x, s.y AS y, s.z AS z)",
    "select * from (select b as p, id as v from t) pivot (max(v) for p in (upper('x')))": "X",
    "select str_to_map(low) from words": "str_to_map(low, ',' collate UTF8_LCASE, ':' collate UTF8_LCASE)",
    "select b::string collate unicode from t": "b",
    "select .10D": "0.1",
    "select date'12345-01-01'": "DATE '+12345-01-01'",
    "select interval -'-1' day": "INTERVAL '1' DAY",
    "select -10L :: interval second": "CAST(-10 AS INTERVAL SECOND)",
    "select * from (select a + 1 as k from t), lateral (select k + 1)": "(outer(__auto_generated_subquery_name.k) + 1)",
    "select transform(arr, 1) from t": "transform(arr, lambdafunction(1, namedlambdavariable()))",
}
"""What Spark calls the last column, which has another name here."""

OF_THE_MOMENT = ["select timestamp 'now'", "select timestamp '10:00'", "select date 'today'"]
"""Whose names are those of the moment in Spark, and as written here."""


def errors(query):
    found = analyze(PlacedText.bare(query), TABLES)
    return [diagnostic for diagnostic in found.diagnostics if diagnostic.severity is Severity.ERROR]


@pytest.mark.parametrize("query", REFUSED_BY_SPARK)
def test_spark_refuses_what_is_accepted_here(query):
    assert not errors(query), "gone: take it out here and in docs/analysis.md"


@pytest.mark.parametrize("query", ACCEPTED_BY_SPARK)
def test_spark_accepts_what_is_refused_here(query):
    assert errors(query), "gone: take it out here and in docs/analysis.md"


@pytest.mark.parametrize("query", OTHERWISE)
def test_a_type_that_spark_knows_is_unknown_here(query):
    (column,) = analyze(PlacedText.bare(query), TABLES).columns
    assert "unknown" in str(column.type), "gone: take it out here and in docs/analysis.md"


@pytest.mark.parametrize("query", NAMED_OTHERWISE)
def test_a_column_has_another_name_in_spark(query):
    column = analyze(PlacedText.bare(query), TABLES).columns[-1]
    assert column.name != NAMED_OTHERWISE[query], "gone: take it out here and in docs/analysis.md"


@pytest.fixture(scope="module")
def oracle(spark):
    return SparkOracle(spark, TABLES.values())


@pytest.mark.spark
def test_spark_answers_as_is_documented(oracle):
    assert not [query for query in REFUSED_BY_SPARK if isinstance(oracle.ask(query), Accepted)]
    for query in ACCEPTED_BY_SPARK:
        assert isinstance(oracle.ask(query), Accepted), query
    for query, type in OTHERWISE.items():
        assert [str(column.type) for column in oracle.ask(query).columns] == [type], query
    for query in OF_THE_MOMENT:
        assert oracle.ask(query).columns[0].name != analyze(PlacedText.bare(query), TABLES).columns[0].name
    for query, name in NAMED_OTHERWISE.items():
        assert oracle.ask(query).columns[-1].name == name, query


def test_each_kind_that_the_oracle_passes_over_is_a_known_difference():
    assert not set(LISTED).difference(REFUSED_BY_SPARK, ACCEPTED_BY_SPARK, OTHERWISE, NAMED_OTHERWISE)
    assert is_listed("accepted: CAST_OVERFLOW '…' :: select interval 2147483647 day * 2")
    assert not is_listed("accepted: AMBIGUOUS_REFERENCE '…' :: select a")


def test_each_known_difference_is_documented():
    text = re.sub(r"\s+", " ", DOCUMENT.read_text("utf-8"))
    cases = [*REFUSED_BY_SPARK, *ACCEPTED_BY_SPARK, *OTHERWISE, *NAMED_OTHERWISE, *OF_THE_MOMENT]
    assert not [query for query in cases if query not in text]
