"""Jars of the modules whose functions a query calls."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.shared.spark_jars import spark_jar
from engine.compile import Settings, compile_job
from engine.plan.query_jars import jars_of_queries, jars_of_text

JOB = """
CREATE TABLE t (value BINARY) WITH ('connector' = 'FakeSource', 'row.num' = '1');
CREATE VIEW v AS SELECT {item} AS x FROM t;
CREATE TABLE out WITH ('connector' = 'Console');
INSERT INTO out SELECT * FROM v;
"""


@pytest.mark.parametrize("query", ["select from_avro(v, 's')", "select TO_AVRO (v)", "select 1, schema_of_avro('s')"])
def test_a_query_of_avro_needs_its_jar(query):
    assert jars_of_text(query) == (spark_jar("avro"),)


@pytest.mark.parametrize("query", ["select from_avro from t", "select from_json(v, 'a int')", "select my_to_avro(v)"])
def test_other_queries_need_none(query):
    assert jars_of_text(query) == ()


@pytest.mark.parametrize(("item", "jars"), [("from_avro(value, '\"long\"')", (spark_jar("avro"),)), ("value", ())])
def test_the_jars_of_a_job(tmp_path, item, jars):
    path = tmp_path / "job.sql"
    path.write_text(JOB.format(item=item))
    compiled = compile_job(path, Settings(), Diagnostics())
    assert compiled is not None
    assert jars_of_queries(compiled.plan.nodes()) == jars
