"""Columns of directories that are not visible when a job is checked: SeaTunnel reads `in/day=1/a.csv` with `day`."""

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from engine.cli import main
from engine.compile import Settings, compile_job

JOB = """
source {
  LocalFile {
    plugin_output = "rows", path = "FOLDER", file_format_type = "FORMAT"
    SCHEMA
  }
}
transform { Sql { plugin_output = "shown", query = "select id, day from rows where day = '1'" } }
sink {
  Assert { rules {
    row_rules = [{ rule_type = MIN_ROW, rule_value = 2 }, { rule_type = MAX_ROW, rule_value = 2 }]
    field_rules = [{ field_name = "day", field_type = "string", field_value = [{ equals_to = "1" }] }]
  } }
}
"""


def compiled(tmp_path, folder, kind="csv", schema="schema { fields { id = int } }"):
    path = tmp_path / "job.conf"
    path.write_text(JOB.replace("FOLDER", str(folder)).replace("FORMAT", kind).replace("SCHEMA", schema))
    diagnostics = Diagnostics()
    return compile_job(path, Settings(compat=Compat.SEATUNNEL_2), diagnostics), diagnostics


@pytest.mark.parametrize("folder", ["/nowhere/in", "s3a://bucket/in", "hdfs://names:9000/in"])
def test_a_name_may_be_that_of_a_directory_that_is_not_visible(tmp_path, folder):
    job, diagnostics = compiled(tmp_path, folder)
    assert job is not None, diagnostics.items
    [warning] = [item for item in diagnostics if item.code == "PEN4002"]
    assert warning.message == f"no file at `{folder}` is visible: columns that `schema` lacks must be its directories'"


def test_a_name_may_be_that_of_a_directory_outside_of_the_project(tmp_path, monkeypatch, capsys):
    """Which `validate` does not open."""
    (tmp_path / "in" / "day=1").mkdir(parents=True)
    (tmp_path / "in" / "day=1" / "a.csv").write_text("1\n")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    compiled(tmp_path / "project", tmp_path / "in")
    assert main(["validate", "--compat", "seatunnel", "job.conf"]) == 0, capsys.readouterr()
    assert "`--allow-outside` reads it" in capsys.readouterr().out
    assert main(["validate", "--compat", "seatunnel", "--strict=data", "job.conf"]) == 2


S3 = 'S3File { bucket = "s3a://b", access_key = a, secret_key = b, fs.s3a.endpoint = "http://127.0.0.1:1", '
S3 += 'fs.s3a.aws.credentials.provider = "x", '
SFTP = "SftpFile { host = localhost, port = 22, user = a, password = b, "


@pytest.mark.parametrize("block", [S3, SFTP])
def test_a_path_on_a_server_is_none_of_this_machine(tmp_path, monkeypatch, capsys, block):
    monkeypatch.chdir(tmp_path)
    compiled(tmp_path, "/etc")
    path = tmp_path / "job.conf"
    path.write_text(path.read_text().replace("LocalFile {", block))
    assert main(["validate", "--compat", "seatunnel", "job.conf"]) == 0, capsys.readouterr()
    assert "PEN1602" not in capsys.readouterr().out


def test_visible_files_decide(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1\n")
    job, diagnostics = compiled(tmp_path, tmp_path / "in")
    assert job is None
    assert "PEN3004" in [item.code for item in diagnostics]


def test_without_partitions_an_unknown_name_is_an_error(tmp_path):
    schema = "schema { fields { id = int } }\n parse_partition_from_path = false"
    assert compiled(tmp_path, "/nowhere/in", schema=schema)[0] is None


def test_other_errors_are_reported_with_it(tmp_path):
    schema = "schema { fields { id = int } }\n compress_codec = xz"
    job, diagnostics = compiled(tmp_path, "/nowhere/in", schema=schema)
    assert job is None
    assert {item.code for item in diagnostics if item.severity.value == "error"} == {"PEN2004"}


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_files_that_hold_their_schema_may_come_later(tmp_path, kind):
    job, diagnostics = compiled(tmp_path, "/nowhere/in", kind, "")
    assert job is not None, diagnostics.items
    assert [item.severity.value for item in diagnostics if item.code == "PEN4002"] == ["warning"]


@pytest.mark.spark
def test_the_columns_are_read_when_the_job_runs(spark, tmp_path, monkeypatch):
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest
    from engine.state.run_state import State

    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job, diagnostics = compiled(tmp_path, tmp_path / "in")
    assert job is not None, diagnostics.items
    for day in (1, 2):
        (tmp_path / "in" / f"day={day}").mkdir(parents=True)
        (tmp_path / "in" / f"day={day}" / "a.csv").write_text("1\n2\n")
    result = run_job(spark, job, RunRequest("unseen"))
    assert result.state is State.FINISHED, result.diagnostics
