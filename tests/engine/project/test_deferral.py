"""`--defer`: a run of some jobs reads the others in another environment, and writes its own alone."""

import json
from pathlib import Path

import pytest

from engine.cli import main
from engine.project.recorded_state import JobStatus

PROJECT = {
    "penstock.conf": """
name = "shop"
jobs = ["jobs"]
environments {
  dev { default = true, variables { lake = "lake/dev" } }
  prod { variables { lake = "lake/prod" } }
}
""",
    "jobs/raw.conf": """
source { FakeSource { plugin_output = "fake", schema { fields { id = int, amount = int } } } }
sink { LocalFile { plugin_input = "fake", path = "${lake}/raw", file_format_type = parquet } }
""",
    "jobs/typed.conf": """
source { LocalFile { plugin_output = "raw", path = "${lake}/raw", file_format_type = parquet } }
sink { LocalFile { plugin_input = "raw", path = "${lake}/typed", file_format_type = parquet } }
""",
    "jobs/marts.conf": """
source {
  LocalFile { plugin_output = "typed", path = "${lake}/typed", file_format_type = parquet }
  LocalFile { plugin_output = "raw", path = "${lake}/raw", file_format_type = parquet }
}
transform { Sql { plugin_input = [typed, raw], plugin_output = "sums"
  query = "select t.id, r.amount from typed t join raw r on t.id = r.id" } }
sink { LocalFile { plugin_input = "sums", path = "${lake}/marts", file_format_type = parquet } }
""",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PENSTOCK_ENV", raising=False)
    monkeypatch.delenv("PENSTOCK_STATE_DIR", raising=False)
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def paths(capsys, *arguments: str) -> dict[str, str]:
    """The paths that the plan of the job reads and writes."""
    capsys.readouterr()
    assert main(["explain", "marts", "--format", "json", *arguments]) == 0, capsys.readouterr().err
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    return {node["name"]: node["options"]["path"] for node in nodes if "path" in node.get("options", {})}


def test_what_is_not_built_here_is_read_there(folder, capsys):
    assert set(paths(capsys).values()) == {"lake/dev/typed", "lake/dev/raw", "lake/dev/marts"}
    deferred = paths(capsys, "--defer", "prod")
    assert set(deferred.values()) == {"lake/prod/typed", "lake/prod/raw", "lake/dev/marts"}


def test_what_is_built_here_is_read_here(folder, capsys):
    state = folder / ".penstock" / "dev"
    state.mkdir(parents=True)
    job = {"path": "jobs/typed.conf", "fingerprint": "", "writes": {}}
    results = {"typed": JobStatus.SUCCESS.value}
    (state / "project.json").write_text(json.dumps({"command": "run", "results": results, "jobs": {"typed": job}}))
    deferred = paths(capsys, "--defer", "prod")
    assert set(deferred.values()) == {"lake/dev/typed", "lake/prod/raw", "lake/dev/marts"}


@pytest.mark.parametrize(
    ("old", "new", "environment", "message"),
    [
        ("", "", "dev", "is the environment of this run"),
        ("${lake}/marts", "lake/marts", "prod", "which the environment `prod` writes, too"),
        ("", "", "staging", "staging"),
    ],
)
def test_a_run_that_would_write_the_other_environment_is_refused(folder, capsys, old, new, environment, message):
    path = Path("jobs/marts.conf")
    path.write_text(path.read_text().replace(old, new) if old else path.read_text())
    assert main(["explain", "marts", "--defer", environment]) == 2
    assert message in capsys.readouterr().err
