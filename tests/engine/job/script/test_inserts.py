"""Several INSERTs into one table: their columns are matched with those of the first."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.cli import main
from engine.compile import Settings, compile_job
from engine.job.convert import convert
from engine.plan.rendering.explain_text import explain

SCRIPT = """
CREATE TABLE s (a INT, b STRING) WITH (
  'connector' = 'FakeSource', 'rows' = '[{{"kind": "INSERT", "fields": [1, "x"]}}]');
CREATE VIEW v AS SELECT a + 1 AS z, upper(b) AS y FROM s;
CREATE TABLE t WITH ('connector' = 'LocalFile', 'path' = '{folder}/t', 'file_format_type' = 'parquet');
INSERT INTO t SELECT a, b FROM s;
INSERT INTO t SELECT 2L * a, a FROM s;
INSERT INTO t BY NAME SELECT b, a + 2 AS a FROM s;
INSERT INTO t (b, a) SELECT 'listed', a + 3 FROM s;
INSERT INTO t SELECT * FROM v;
"""


def plan_of(path):
    diagnostics = Diagnostics()
    compiled = compile_job(path, Settings(), diagnostics)
    assert compiled is not None, diagnostics.items
    assert {diagnostic.code for diagnostic in diagnostics} <= {"PEN4501"}, diagnostics.items
    return compiled.built


def test_columns_have_the_names_and_types_of_the_first(tmp_path):
    job = tmp_path / "job.sql"
    job.write_text(SCRIPT.format(folder=tmp_path))
    plan = plan_of(job)
    (write,) = plan.writes
    assert [f"{column.name} {column.type}" for column in write.table.columns] == ["a int", "b string"]
    shown = explain(plan)
    assert "SELECT lossless_cast(`(2 * a)` as int) AS a, CAST(a AS string) AS b\n" in shown
    assert "SELECT a, b\n" in shown
    assert "SELECT z AS a, y AS b\n" in shown


def test_equal_columns_are_united_as_they_are(tmp_path):
    job = tmp_path / "job.sql"
    first, _, _ = SCRIPT.format(folder=tmp_path).partition("INSERT INTO t SELECT 2L")
    job.write_text(f"{first} INSERT INTO t SELECT z AS a, y AS b FROM v")
    assert "match" not in explain(plan_of(job))


def test_the_hocon_form_has_the_same_plan(tmp_path):
    script, hocon, again = (tmp_path / name for name in ("job.sql", "job.conf", "again.sql"))
    script.write_text(SCRIPT.format(folder=tmp_path))
    hocon.write_text(convert(script, Diagnostics()))
    again.write_text(convert(hocon, Diagnostics()))
    assert 'match_columns = ["position", "name", "name", "position"]' in hocon.read_text()
    assert explain(plan_of(script)) == explain(plan_of(hocon)) == explain(plan_of(again))


BY_NAME = """
CREATE TABLE s (a INT, b STRING, c INT) WITH (
  'connector' = 'FakeSource', 'rows' = '[{{"kind": "INSERT", "fields": [1, "x", 2]}}]');
CREATE TABLE t (a INT, b STRING DEFAULT 'none', d DATE, c BIGINT NOT NULL) WITH (
  'connector' = 'LocalFile', 'path' = '{folder}/t', 'file_format_type' = 'parquet');
INSERT INTO t BY NAME SELECT c, a FROM s;
"""


def test_columns_by_name_that_a_query_lacks_have_their_default(tmp_path):
    script, hocon, again = (tmp_path / name for name in ("job.sql", "job.conf", "again.sql"))
    script.write_text(BY_NAME.format(folder=tmp_path))
    hocon.write_text(convert(script, Diagnostics()))
    again.write_text(convert(hocon, Diagnostics()))
    shown = explain(plan_of(script))
    assert "CAST('none' AS STRING) AS `b`, CAST(NULL AS DATE) AS `d`, CAST(`c` AS BIGINT) AS `c`" in shown
    assert shown == explain(plan_of(hocon)) == explain(plan_of(again))


@pytest.mark.parametrize("definition", ["a", "a INT, b INT", "INT) x", ""])
def test_columns_of_a_query_need_a_name_and_a_type(tmp_path, definition):
    job = tmp_path / "job.conf"
    job.write_text(
        "source { FakeSource { plugin_output = s, schema { fields { a = int } } } }\n"
        f'transform {{ Sql {{ query = "select a from s", columns = ["{definition}"] }} }}\nsink {{ Console {{}} }}'
    )
    diagnostics = Diagnostics()
    compile_job(job, Settings(), diagnostics)
    assert [item.message for item in diagnostics.items] == [f"`{definition}` declares no column"]


@pytest.mark.spark
def test_rows_are_written_under_the_columns_of_the_first(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job = tmp_path / "job.sql"
    job.write_text(SCRIPT.format(folder=tmp_path))
    assert main(["run", str(job)]) == 0
    rows = spark.read.parquet(str(tmp_path / "t"))
    assert rows.dtypes == [("a", "int"), ("b", "string")]
    assert sorted(map(tuple, rows.collect())) == [(1, "x"), (2, "1"), (2, "X"), (3, "x"), (4, "listed")]


@pytest.mark.parametrize(
    "insert",
    [
        "INTO o(b, a) SELECT * FROM s",
        "INTO p SELECT * FROM s",
        "INTO q SELECT a, b, count(*) FROM s GROUP BY a, b",
        "INTO o(b, a, n) SELECT a, b, count(*) FROM s GROUP BY a, b",
    ],
)
def test_columns_whose_names_say_another_order_are_a_warning(insert, tmp_path, capsys):
    job = tmp_path / "job.sql"
    job.write_text(f"""
CREATE TABLE s (a INT, b INT) WITH ('connector' = 'FakeSource', 'row.num' = '1');
CREATE TABLE o WITH ('connector' = 'Console');
CREATE TABLE p (b INT, a INT) WITH ('connector' = 'Console');
CREATE TABLE q (b INT, a INT, n BIGINT) WITH ('connector' = 'Console');
INSERT {insert};
""")
    assert main(["validate", str(job)]) == 0
    assert "PEN2017" in (shown := capsys.readouterr().out)
    assert "`a` goes into the column `b`: columns are matched by position" in shown
