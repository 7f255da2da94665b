"""What a batch run cost, in its record and its file of metrics."""

import json
import re

import pytest

from engine.cli import main
from engine.runtime.counting import costs

pytestmark = pytest.mark.spark

JOB = """
env {{ job.name = paid, metrics_file = "{folder}/paid.prom" }}
source {{
  FakeSource {{
    plugin_output = r, row.num = 5000, split.num = 4, parallelism = 4, schema {{ fields {{ id = int, word = string }} }}
  }}
}}
transform {{ Sql {{ plugin_output = counted, query = "select id % 7 as k, count(*) as n from r group by id % 7" }} }}
sink {{ LocalFile {{ path = "{folder}/out", file_format_type = parquet }} }}
"""


def test_a_run_records_what_its_pipelines_cost_and_writes_its_metrics(spark, tmp_path, capsys):
    (tmp_path / "job.conf").write_text(JOB.format(folder=tmp_path))
    assert main(["run", str(tmp_path / "job.conf"), "--run-id", "first", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["runs", "first", "--state-dir", str(tmp_path / ".penstock"), "--format", "json"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    (pipeline,) = counts["pipelines"].values()
    assert pipeline["cpu_seconds"] > 0
    assert pipeline["shuffle_bytes"] > 0
    assert pipeline["spilled_bytes"] == 0
    text = (tmp_path / "paid.prom").read_text()
    found = {name: float(value) for name, value in re.findall(r"^(penstock_\w+)\{.*\} (\S+)$", text, re.MULTILINE)}
    assert found["penstock_run_finished"] == 1
    assert found["penstock_run_rows_read"] == 5000
    assert found["penstock_run_rows_written"] == counts["rows_written"] > 0
    assert found["penstock_run_bytes_written"] > 0
    assert found["penstock_run_cpu_seconds"] == pipeline["cpu_seconds"]
    assert 'penstock_run_shuffle_bytes{job="paid",run="first",pipeline=' in text


def test_each_run_of_an_application_is_asked_only_for_its_own_stages(spark, tmp_path, capsys, monkeypatch):
    asked = []

    def read(session, listed):
        found = real(session, listed)
        asked.append(len(found))
        return found

    real = costs._read
    monkeypatch.setattr(costs, "_read", read)
    found = []
    for number in range(3):
        (tmp_path / "job.conf").write_text(JOB.format(folder=tmp_path))
        assert main(["run", str(tmp_path / "job.conf"), "--run-id", f"run{number}", "--quiet"]) == 0
        capsys.readouterr()
        main(["runs", f"run{number}", "--state-dir", str(tmp_path / ".penstock"), "--format", "json"])
        (pipeline,) = json.loads(capsys.readouterr().out)["counts"]["pipelines"].values()
        found.append(pipeline)
    assert len({pipeline["shuffle_bytes"] for pipeline in found}) == 1
    assert all(pipeline["cpu_seconds"] > 0 for pipeline in found)
    assert asked[2:4] == asked[4:6], "jobs and stages of the second run, and of the third"


def test_metrics_that_cannot_be_written_are_a_warning(spark, tmp_path, capsys):
    (tmp_path / "file").touch()
    text = JOB.format(folder=tmp_path).replace("/paid.prom", "/file/paid.prom")
    (tmp_path / "job.conf").write_text(text)
    assert main(["run", str(tmp_path / "job.conf")]) == 0
    assert "PEN5054" in capsys.readouterr().err
