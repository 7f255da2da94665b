"""Sources whose columns only the run knows: what is said of them is what `validate` says of declared ones."""

import sqlite3

import pytest

pytest.importorskip("pyspark")

from engine.cli import main

pytestmark = pytest.mark.spark

SINKS = {
    "parquet": 'LocalFile {{ path = "{0}/out", file_format_type = parquet{1} }}',
    "delta": 'Delta {{ path = "{0}/out", write_mode = upsert, primary_keys = [id]{1} }}',
}


def change(folder, *statements):
    with sqlite3.connect(folder / "shop.db") as database:
        for statement in statements:
            database.execute(statement)
    database.close()


@pytest.mark.parametrize("sink", ["parquet", pytest.param("delta", marks=pytest.mark.delta)])
def test_a_column_that_the_target_lacks_is_refused_and_one_that_the_rows_lack_is_said(spark, tmp_path, capsys, sink):
    change(tmp_path, "create table t (id int, who text)", "insert into t values (1, 'a')")
    job, source = tmp_path / "job.conf", f'Jdbc {{ url = "jdbc:sqlite:{tmp_path}/shop.db", table_path = t }}'
    text = f"source {{ {source} }}\nsink {{ {SINKS[sink].format(tmp_path, '')} }}\n"
    job.write_text(text)
    assert main(["run", str(job), "--quiet"]) == 0
    change(tmp_path, "alter table t add extra text", "insert into t values (2, 'b', 'x')")
    capsys.readouterr()
    assert main(["run", str(job), "--quiet"]) == 1
    assert (
        "PEN4003]: rows of `out` do not fit its target: `extra`: the target has no such column"
        in capsys.readouterr().err
    )
    stored = spark.read.format(sink).load(f"{tmp_path}/out")
    assert (stored.columns, stored.count()) == (["id", "who"], 1)
    if sink == "delta":
        job.write_text(text.replace("primary_keys", "schema_evolution = add_columns, primary_keys"))
        assert main(["run", str(job), "--quiet"]) == 0
        stored = spark.read.format(sink).load(f"{tmp_path}/out")
        assert sorted(map(tuple, stored.collect())) == [(1, "a", None), (2, "b", "x")]
        return
    change(tmp_path, "drop table t", "create table t (id int)", "insert into t values (3)")
    assert main(["run", str(job), "--quiet"]) == 0
    assert "PEN4454]: rows of `jdbc` lack `who` of the target: NULL is written there" in capsys.readouterr().err
