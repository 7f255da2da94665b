"""Listed jobs run in the order given, each planned after those before it."""

import json

import pytest

pytest.importorskip("pyspark")
pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

from engine.cli import main  # noqa: E402
from engine.orchestration import run_listed  # noqa: E402

WIDEN = """
source {{ FakeSource {{ row.num = 3, schema {{ fields {{ id = {type} }} }} }} }}
sink {{
  LocalFile {{
    path = "table", file_format_type = parquet
    schema_save_mode = RECREATE_SCHEMA, data_save_mode = DROP_DATA, overwrite_foreign_files = true
  }}
}}
"""
READ = """
source { LocalFile { plugin_output = t, path = "table", file_format_type = parquet } }
transform { Sql { plugin_input = t, plugin_output = q, query = "select id, typeof(id) as type from t" } }
sink { LocalFile { plugin_input = q, path = "copy", file_format_type = parquet, data_save_mode = DROP_DATA } }
"""


def jobs(folder):
    (folder / "first.conf").write_text(WIDEN.format(type="int"))
    (folder / "widen.conf").write_text(WIDEN.format(type="bigint"))
    (folder / "read.conf").write_text(READ)


def test_explain_shows_what_the_jobs_before_will_leave(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    jobs(tmp_path)
    (tmp_path / "table").mkdir()
    parquet.write_table(pyarrow.table({"id": pyarrow.array([1], pyarrow.int32())}), "table/a.parquet")
    assert main(["explain", "read.conf", "--columns"]) == 0, capsys.readouterr().err
    assert "- id int" in capsys.readouterr().out
    assert main(["explain", "widen.conf", "read.conf", "--columns"]) == 0, capsys.readouterr().err
    widen, read = capsys.readouterr().out.split("read.conf\n=========\n")
    assert widen.startswith("widen.conf\n==========\n")
    assert "- id bigint" in read
    assert "- id int" not in read
    assert main(["explain", "widen.conf", "read.conf", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2


def test_a_target_that_is_kept_leaves_its_own_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table").mkdir()
    parquet.write_table(pyarrow.table({"id": pyarrow.array([1], pyarrow.int64())}), "table/a.parquet")
    kept = WIDEN.format(type="int").replace(
        "RECREATE_SCHEMA, data_save_mode = DROP_DATA, overwrite_foreign_files = true", "CREATE_SCHEMA_WHEN_NOT_EXIST"
    )
    (tmp_path / "add.conf").write_text(kept)
    (tmp_path / "read.conf").write_text(READ)
    assert main(["explain", "add.conf", "read.conf", "--columns"]) == 0, capsys.readouterr().err
    assert "- id bigint" in capsys.readouterr().out.partition("read.conf\n=====")[2]


@pytest.mark.spark
def test_a_run_stops_where_the_jobs_before_left_something_else(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    jobs(tmp_path)
    real = run_listed._run

    def run(spark, terminal, compile_again, job, request):
        result = real(spark, terminal, compile_again, job, request)
        if job.path.name == "widen.conf":  # another program writes the table, too
            spark.range(1).selectExpr("'a' as id").write.mode("overwrite").parquet(str(tmp_path / "table"))
        return result

    monkeypatch.setattr(run_listed, "_run", run)
    assert main(["run", "widen.conf", "read.conf"]) == 1
    said = capsys.readouterr().err
    assert "PEN5262" in said
    assert "`t` is not what the jobs before it were to leave: `id` string, not bigint" in said
    assert not (tmp_path / "copy").exists()


@pytest.mark.spark
def test_a_job_is_planned_after_the_jobs_before_it(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    jobs(tmp_path)
    assert main(["run", "first.conf"]) == 0, capsys.readouterr().err
    assert main(["run", "widen.conf", "read.conf"]) == 0, capsys.readouterr().err
    rows = spark.read.parquet(str(tmp_path / "copy")).collect()
    assert [row["type"] for row in rows] == ["bigint"] * 3
