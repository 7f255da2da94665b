"""Spark's errors reach users at the place in the job file where the error stands, without Java's stack."""

import pytest

import connectors
from catalog.diagnostics.diagnostic import RunError
from catalog.diagnostics.source import PlacedText, SourceFile
from catalog.tables.table import CatalogTable
from engine.plan.nodes import Input, Query
from sql.analyze import Analysis
from sql.rewrite.select_query import Projection, Select
from tests.connectors.jobs import rows, run_writes, write

pytestmark = pytest.mark.spark

FILE = 'sink {}\n  query = """\n    {QUERY}"""\n'


def query_of(text, *inputs):
    """A Sql node whose text stands at line 3, column 5 of its job file."""
    file = SourceFile("job.conf", FILE.replace("{QUERY}", text))
    start = file.text.index(text)
    body = PlacedText.verbatim(file, start, start + len(text))
    return Query("q", "Sql", body, inputs, analysis(), id="q")


def analysis():
    return Analysis(CatalogTable.unknown("q"), (), (), (), {})


def fail(spark, tmp_path, node):
    job = [write(connectors.sink("LocalFile"), node, path=str(tmp_path / "out"), file_format_type="parquet")]
    with pytest.raises(RunError) as caught:
        run_writes(spark, job, str(tmp_path / "state"), "run")
    assert not (tmp_path / "out").exists()
    (found,) = caught.value.diagnostics
    for word in ("\tat ", "org.apache", "SQLSTATE", "Traceback", "\n"):
        assert word not in found.message
    return found


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("select nope from t", (3, 12, 3, 16), "`nope` cannot be resolved"),
        ("select id,, id from t", (3, 15, 3, 16), "Syntax error"),
        ("select id / (id - id) r from t", (3, 12, 3, 26), "Division by zero"),
        ("select id,\n  cast('x' as int) n from t", (4, 3, 4, 19), "cannot be cast"),
        ("select id from missing", (3, 20, 3, 27), "cannot be found"),
    ],
)
def test_place_in_the_query(spark, tmp_path, text, place, said):
    found = fail(spark, tmp_path, query_of(text, Input("t", rows("select id from range(3)", "id bigint"))))
    assert found.code == "PEN5001"
    assert said in found.message
    assert "`q`" in found.message
    span = found.span
    assert (span.file, span.line, span.column, span.end_line, span.end_column) == ("job.conf", *place)


def test_error_of_an_inner_query_is_reported_there(spark, tmp_path):
    inner = query_of("select 1 / id r from t", Input("t", rows("select id from range(3)", "id bigint")))
    select = Select("q", (Projection("r", "r"),))
    outer = Query("outer", "Copy", select, (Input("q", inner),), analysis(), id="outer")
    job = [write(connectors.sink("LocalFile"), outer, path=str(tmp_path / "out"), file_format_type="parquet")]
    from engine.spark.failures.errors import as_run_error
    from engine.spark.lower import lower
    from engine.spark.session import pipeline_session

    df = lower(pipeline_session(spark), job).dataframes[outer]
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO") as caught:
        df.collect()
    (found,) = as_run_error(caught.value, job[0], [outer, inner]).diagnostics
    assert (found.span.line, found.span.column) == (3, 12)


def test_two_queries_use_one_name_for_two_inputs(spark):
    from engine.plan.nodes import Union
    from engine.spark.lower import lower
    from engine.spark.session import pipeline_session

    parts = [query_of("select id from t", Input("t", rows(f"select {n}L id", "id bigint"))) for n in (1, 2)]
    union = Union("u", tuple(parts), CatalogTable.unknown("u"))
    df = lower(pipeline_session(spark), [write(connectors.sink("Console"), union)]).dataframes[union]
    assert sorted(row[0] for row in df.collect()) == [1, 2]


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("select id / (id - id) r from t", "Division by zero (in `q`)", "Use `try_divide`"),
        ("select cast('x' as int) n from t", 'cannot be cast to "INT" because it is malformed (in `q`)', "`try_cast`"),
        ("select nope from t", "`nope` cannot be resolved (in `q`)", "Did you mean"),
    ],
)
def test_what_spark_advises_is_help(spark, tmp_path, text, message, help):
    found = fail(spark, tmp_path, query_of(text, Input("t", rows("select id from range(3)", "id bigint"))))
    assert found.message.endswith(message)
    assert help in found.help
    assert "ansi" not in found.help


MISSING = "'void org.apache.spark.sql.execution.datasources.parquet.ParquetToSparkSchemaConverter.<init>(boolean)'"


def test_a_jar_that_was_made_for_another_spark(spark):
    """Java's own error for it, thrown by Java."""
    from py4j.protocol import Py4JJavaError

    from engine.spark.failures.errors import as_run_error

    java = spark._jvm.java
    error = java.lang.NoSuchMethodError(MISSING)
    with pytest.raises(Py4JJavaError) as caught:
        java.util.concurrent.CompletableFuture.failedFuture(error).join()
    node = query_of("select id from t", Input("t", rows("select id from range(3)", "id bigint")))
    (found,) = as_run_error(caught.value, node).diagnostics
    assert found.code == "PEN9003"
    assert f"than {spark.version}: it looks for {MISSING}" in found.message
