"""A run with `--defer` writes nothing outside of its own environment."""

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main

pytestmark = pytest.mark.spark

PROJECT = {
    "penstock.conf": """
name = "shop"
jobs = ["jobs"]
environments {
  dev { default = true, variables { lake = "lake/dev" } }
  prod { variables { lake = "lake/prod" } }
}
""",
    "jobs/orders.conf": """
source { LocalFile { plugin_output = "read", path = "in", file_format_type = "csv"
  schema { fields { id = int, amount = int } } } }
sink { LocalFile { plugin_input = "read", path = "${lake}/orders", file_format_type = parquet } }
""",
    "jobs/sums.conf": """
source { LocalFile { plugin_output = "orders", path = "${lake}/orders", file_format_type = parquet } }
transform { Sql { plugin_input = "orders", plugin_output = "sums", query = "select sum(amount) as n from orders" } }
sink { LocalFile { plugin_input = "sums", path = "${lake}/sums", file_format_type = parquet
  data_save_mode = DROP_DATA } }
""",
}


def files(folder: Path) -> dict[str, float]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_deferred_run_reads_there_and_writes_here(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PENSTOCK_ENV", raising=False)
    monkeypatch.delenv("PENSTOCK_STATE_DIR", raising=False)
    for name, text in {**PROJECT, "in/orders.csv": "1,10\n2,20\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert main(["run", "orders", "--env", "prod", "--quiet"]) == 0, capsys.readouterr().err
    before = files(tmp_path / "lake" / "prod")
    assert main(["run", "sums", "--defer", "prod"]) == 0, capsys.readouterr().err
    assert "read in prod: orders" in capsys.readouterr().err
    assert [row.n for row in spark.read.parquet(str(tmp_path / "lake" / "dev" / "sums")).collect()] == [30]
    assert files(tmp_path / "lake" / "prod") == before
    assert [path.name for path in (tmp_path / "lake" / "dev").iterdir() if not path.name.startswith(".")] == ["sums"]
