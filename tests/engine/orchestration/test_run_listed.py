"""Listed jobs run in the order given, each planned after those before it."""

import pytest

from engine.cli import main

WIDEN = """
source {{ FakeSource {{ row.num = 3, schema {{ fields {{ id = {type} }} }} }} }}
sink {{
  LocalFile {{
    path = "table", file_format_type = parquet
    schema_save_mode = RECREATE_SCHEMA, data_save_mode = DROP_DATA
  }}
}}
"""
READ = """
source { LocalFile { plugin_output = t, path = "table", file_format_type = parquet } }
transform { Sql { plugin_input = t, plugin_output = q, query = "select id, typeof(id) as type from t" } }
sink { LocalFile { plugin_input = q, path = "copy", file_format_type = parquet, data_save_mode = DROP_DATA } }
"""

pytestmark = pytest.mark.spark


def test_a_job_is_planned_after_the_jobs_before_it(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.conf").write_text(WIDEN.format(type="int"))
    (tmp_path / "widen.conf").write_text(WIDEN.format(type="bigint"))
    (tmp_path / "read.conf").write_text(READ)
    assert main(["run", "first.conf"]) == 0, capsys.readouterr().err
    assert main(["run", "widen.conf", "read.conf"]) == 0, capsys.readouterr().err
    rows = spark.read.parquet(str(tmp_path / "copy")).collect()
    assert [row["type"] for row in rows] == ["bigint"] * 3
