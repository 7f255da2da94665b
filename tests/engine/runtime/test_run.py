"""Jobs on Spark: side by side, stopped half-way, failing, counted and recorded."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from connectors.local_file import LocalFile
from engine.cli import main
from tests.engine.commands.test_secrets import OPTIONS
from tests.engine.runtime.gates import closed_gate

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]
FILES = """
env {{ job.name = "files", parallelism = 2, failure_policy = {policy} }}
source {{
  LocalFile {{
    plugin_output = "orders", path = "{folder}/orders.csv", file_format_type = "csv", csv_use_header_line = true
    schema {{ fields {{ id = int, amount = int }} }}
  }}
  FakeSource {{ plugin_output = "others", row.num = 7, schema {{ fields {{ id = bigint }} }} }}
}}
transform {{
  Sql {{
    plugin_input = "orders", plugin_output = "some"
    query = "select id, {expression} as amount from orders where amount > 10"
  }}
}}
sink {{
  LocalFile {{
    plugin_input = "some", path = "{folder}/some", file_format_type = "parquet", data_save_mode = "DROP_DATA"
  }}
  LocalFile {{ plugin_input = "others", path = "{folder}/others", file_format_type = "parquet" }}
}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    lines = [f"{number},{number % 20}" for number in range(100)]
    (tmp_path / "orders.csv").write_text("\n".join(["id,amount", *lines]) + "\n")
    return tmp_path


def write_job(folder: Path, expression: str = "amount", policy: str = "stop") -> str:
    path = folder / "job.conf"
    path.write_text(FILES.format(folder=folder, expression=expression, policy=policy))
    return str(path)


def recorded(folder: Path) -> dict[str, dict[str, object]]:
    return {path.parent.name: json.loads(path.read_text()) for path in (folder / "state" / "runs").glob("*/run.json")}


def test_counts_come_out_right_and_are_recorded(spark, folder, capsys):
    assert main(["run", write_job(folder), "--run-id", "first"]) == 0, capsys.readouterr().err
    run = recorded(folder)["first"]
    assert run["state"] == "FINISHED"
    counts = run["counts"]
    assert counts["sources"]["orders"]["rows"] == 100
    assert counts["sources"]["others"]["rows"] == 7
    assert counts["sources"]["orders"]["bytes"] == (folder / "orders.csv").stat().st_size
    first, second = counts["sinks"].values()
    assert (first["rows"], first["filtered"], second["rows"]) == (45, 55, 7)
    assert len(counts["pipelines"]) == 2
    assert main(["runs"]) == 0
    assert "first" in capsys.readouterr().out


def test_the_same_run_id_again_writes_nothing_twice(spark, folder, capsys):
    for _ in range(2):
        assert main(["run", write_job(folder), "--run-id", "once"]) == 0, capsys.readouterr().err
    assert spark.read.parquet(str(folder / "others")).count() == 7


def test_a_dry_run_changes_nothing(spark, folder, capsys):
    assert main(["run", "--dry-run", write_job(folder)]) == 0
    assert "create the target" in capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == ["job.conf", "orders.csv"]


def test_a_failed_pipeline_keeps_the_others_from_committing(spark, folder, capsys):
    assert main(["run", write_job(folder, "amount / (id - 11)"), "--run-id", "bad"]) == 1
    captured = capsys.readouterr()
    assert "error[PEN5001]: Division by zero" in captured.err
    assert "job.conf:13:" in captured.err
    assert "FAILED" in captured.out
    assert not (folder / "some").exists()
    assert not (folder / "others").exists()
    assert not list(folder.glob(".*.penstock"))
    assert recorded(folder)["bad"]["state"] == "FAILED"


STILL_WRITING = """
env {{ job.name = "busy", parallelism = 2, failure_policy = continue, job.retry.times = 0 }}
source {{ FakeSource {{ plugin_output = "others", row.num = 7, schema {{ fields {{ id = bigint }} }} }} }}
transform {{
  Sql {{
    plugin_output = "slow"
    query = \"\"\"select case when id = 0 then if({waits_for_another} >= 0, cast(raise_error('no') as bigint), 0)
               else {waits} end as n
               from range(0, 2, 1, 2)\"\"\"
  }}
}}
sink {{
  LocalFile {{ plugin_input = "slow", path = "{folder}/slow", file_format_type = "parquet" }}
  LocalFile {{ plugin_input = "others", path = "{folder}/others", file_format_type = "parquet" }}
}}
"""


def test_a_pipeline_whose_tasks_still_write_is_not_aborted_under_them(spark, folder, capsys, monkeypatch):
    from connectors.shared.running_tasks import tag_of_run, wait_for_tasks
    from engine.runtime import job_execution

    def soon(session, tag, seconds=0, is_cancelled=lambda: False):
        return wait_for_tasks(session, tag, seconds, is_cancelled)

    monkeypatch.setattr(job_execution, "wait_for_tasks", soon)
    with closed_gate(spark) as gate:
        (folder / "job.conf").write_text(
            STILL_WRITING.format(folder=folder, waits=gate.waits, waits_for_another=gate.waits_for_another)
        )
        assert main(["run", str(folder / "job.conf"), "--run-id", "busy"]) == 1
        captured = capsys.readouterr()
        assert "warning[PEN5011]: tasks of `1: slow_out` have not ended" in captured.err, captured.err
        assert gate.is_met()
        assert spark.read.parquet(str(folder / "others")).count() == 7
        is_open, ended = folder / "state" / "open" / "busy", folder / "state" / "runs" / "busy" / "journal" / "end.json"
        assert is_open.exists(), "the next run ends it"
        assert not ended.exists()
    assert wait_for_tasks(spark, tag_of_run("busy"))
    assert main(["run", "--resume", "busy"]) == 0, capsys.readouterr().err
    assert ended.exists()
    assert not is_open.exists()
    assert not list(folder.glob(".slow*"))
    assert not (folder / "slow").exists()


ONE_AFTER_THE_OTHER = """
env {{ job.name = "rows", max_concurrent_pipelines = 1, failure_policy = {policy}
       listeners = [{{ type = jsonl, path = "{folder}/events.jsonl" }}] }}
source {{
  FakeSource {{ plugin_output = "fine", row.num = 150, schema {{ fields {{ id = int }} }} }}
  FakeSource {{ plugin_output = "bad", row.num = 5, schema {{ fields {{ id = int }} }} }}
}}
transform {{ Sql {{ plugin_input = "bad", plugin_output = "rates", query = "select 1 / (id - id) as rate from bad" }} }}
sink {{
  LocalFile {{ plugin_input = "fine", path = "{folder}/fine", file_format_type = "parquet" }}
  Console {{ plugin_input = "fine", limit = 3 }}
  LocalFile {{ plugin_input = "rates", path = "{folder}/rates", file_format_type = "parquet" }}
}}
"""


@pytest.mark.parametrize(
    ("policy", "rows", "last_line"),
    [
        ("stop", 0, "FAILED: nothing was written (153 rows were staged and removed) in "),
        ("continue", 150, "FAILED: 153 rows written in "),
    ],
)
def test_rows_that_were_not_committed_are_not_counted_as_written(
    spark, folder, capsys, monkeypatch, policy, rows, last_line
):
    monkeypatch.setenv("COLUMNS", "300")
    job = folder / "rows.conf"
    job.write_text(ONE_AFTER_THE_OTHER.format(folder=folder, policy=policy))
    assert main(["run", str(job), "--run-id", "rows"]) == 1
    printed = capsys.readouterr().out
    (line,) = (line for line in printed.splitlines() if "fine_out → " in line)
    assert line.split()[-2:] == [str(rows), "0"]
    assert last_line in printed
    assert ("+---" in printed) is (rows > 0), "Console prints only what is committed"
    event = json.loads((folder / "events.jsonl").read_text().splitlines()[-1])
    for counts in (recorded(folder)["rows"]["counts"], event["counts"]):
        assert counts["sinks"]["fine_out"]["rows"] == rows
        assert counts["rows_written"] == (153 if rows else 0)


def test_the_others_commit_where_the_policy_is_to_continue(spark, folder, capsys):
    assert main(["run", write_job(folder, "amount / (id - 11)", "continue")]) == 1
    assert "Division by zero" in capsys.readouterr().err
    assert not (folder / "some").exists()
    assert spark.read.parquet(str(folder / "others")).count() == 7
    assert not list(folder.glob(".*.penstock/*.*"))


def test_the_same_run_id_of_a_partly_failed_run_does_only_what_is_missing(spark, folder, capsys):
    job = write_job(folder, "amount / (id - 11)", "continue")
    for _ in range(2):
        assert main(["run", job, "--run-id", "part"]) == 1
        assert "Division by zero" in capsys.readouterr().err
        assert spark.read.parquet(str(folder / "others")).count() == 7


def test_what_cannot_be_removed_does_not_hide_why_the_run_failed(spark, folder, capsys, monkeypatch):
    def refuse(path, ignore_errors=False):
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", refuse)
        assert main(["run", write_job(folder, "amount / (id - 11)"), "--run-id", "bad"]) == 1
    printed = capsys.readouterr().err
    assert "error[PEN5001]: Division by zero" in printed
    assert "warning[PEN5011]" in printed
    assert "PEN9001" not in printed
    assert "Division" in recorded(folder)["bad"]["error"]


def interrupting(module, name, monkeypatch):
    """The function, with a Ctrl-C as it begins."""
    do = getattr(module, name)

    def interrupted(*arguments, **named):
        os.kill(os.getpid(), signal.SIGINT)
        return do(*arguments, **named)

    monkeypatch.setattr(module, name, interrupted)


def test_an_interrupt_while_committing_stops_the_jobs_after_it(spark, folder, capsys, monkeypatch):
    interrupting(LocalFile, "commit", monkeypatch)
    second = folder / "second.conf"
    second.write_text(Path(write_job(folder)).read_text().replace("/others", "/more").replace("/some", "/few"))
    assert main(["run", write_job(folder), str(second), "--run-id", "two"]) == 130
    assert f"not run: {second}" in capsys.readouterr().err
    assert spark.read.parquet(str(folder / "others")).count() == 7
    ((run_id, run),) = recorded(folder).items()
    assert run_id.startswith("two.")
    assert run["state"] == "FINISHED"


def test_an_interrupt_after_the_commit_does_not_pass_for_a_cancelled_run(spark, folder, capsys, monkeypatch):
    from engine.runtime import job_execution

    interrupting(job_execution, "executions", monkeypatch)
    assert main(["run", write_job(folder), "--run-id", "done"]) == 0
    assert recorded(folder)["done"]["state"] == "FINISHED"


def test_an_interrupt_while_cleaning_up_leaves_nothing_staged(spark, folder, capsys, monkeypatch):
    from engine.runtime import job_execution

    interrupting(job_execution, "abort_all", monkeypatch)
    assert main(["run", write_job(folder, "amount / (id - 11)"), "--run-id", "bad"]) == 1
    assert "Division by zero" in capsys.readouterr().err
    assert not list(folder.glob(".*.penstock"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "reaches_java"),
    [
        (signal.SIGINT, 130, False),
        pytest.param(signal.SIGTERM, 143, False, marks=pytest.mark.soak),
        (signal.SIGTERM, 143, True),
    ],
)
def test_an_interrupt_cancels_and_leaves_nothing_staged(number, code, reaches_java, folder):
    inner = "aggregate(sequence(1, 100000), 0L, (a, b) -> (a + b * id) % 1000003)"  # computed for minutes
    slow = f"amount + cast(aggregate(sequence(1, 100000), 0L, (c, d) -> c + d + {inner}) % 1000 as int)"
    job = write_job(folder, slow)
    command = [sys.executable, "-m", "engine.cli", "run", job, "--run-id", "cut", "--master", "local[2]"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=log, env=dict(os.environ), start_new_session=True
        )
    deadline = time.monotonic() + 120
    while not list(folder.glob(".some.penstock/*/data")):
        assert process.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.2)
    os.killpg(process.pid, number) if reaches_java else process.send_signal(number)
    assert process.wait(60) == code, (folder / "log").read_text()  # no task has come to its end
    assert "cancelled" in (folder / "log").read_text()
    assert not (folder / "some").exists()
    assert not (folder / "others").exists()
    assert "PEN9001" not in (folder / "log").read_text()
    if reaches_java and list(folder.glob(".*.penstock/*/data")):
        assert main(["run", "--resume", "cut"]) == 0
    assert not list(folder.glob(".*.penstock/*/data"))
    assert recorded(folder)["cut"]["state"] == "CANCELED"


@pytest.mark.parametrize(("path", "code"), [("nowhere?token=hunter2xyz", 1), ("rows.json", 0)], ids=["fails", "ends"])
def test_a_secret_is_in_no_output_of_a_run(spark, folder, capsys, path, code):
    """In every spelling: standard output and error, the record, journal and events of a run that fails and one that
    ends well. The options are ignored by Spark's JSON source."""
    (folder / "rows.json").write_text('{"id": 1}\n')
    given = "\n".join(f'    "{name}" = "{value}"' for name, value in OPTIONS)
    job = folder / "secret.conf"
    job.write_text(
        f'env {{ listeners = [{{ type = jsonl, path = "{folder}/events.jsonl" }}, {{ type = log }}] }}\n'
        f'source {{ Spark {{ plugin_output = t, format = json, path = "{folder}/{path}"\n'
        f"  schema {{ fields {{ id = int }} }}, options {{\n{given}\n}} }} }}\n"
        f'sink {{ Spark {{ format = parquet, path = "{folder}/out", options {{\n{given}\n}} }}\n  Console {{}} }}\n'
    )
    assert main(["run", str(job), "--run-id", "secret", "--verbose"]) == code
    assert main(["runs", "--format", "json"]) == 0
    assert main(["runs", "secret"]) == 0
    shown = capsys.readouterr()
    kept = [file for file in (folder / "state").rglob("*") if file.is_file()]
    recorded = "".join(file.read_text() for file in (*kept, folder / "events.jsonl"))
    assert ("nowhere" if code else '"FINISHED"') in recorded
    assert "hunter2xyz" not in shown.out + shown.err + recorded


def test_the_state_directory_of_the_command_line_wins_over_the_jobs(spark, folder, monkeypatch):
    before = dict(os.environ)
    job = folder / "state.conf"
    text = 'env { state_dir = "%s" }\nsource { FakeSource { schema { fields { id = int } } } }\nsink { Console {} }\n'
    job.write_text(text % (folder / "jobs-own"))
    assert main(["run", str(job), "--run-id", "one", "--state-dir", str(folder / "chosen")]) == 0
    assert (folder / "chosen/runs/one/run.json").exists()
    assert not (folder / "jobs-own").exists()
    assert main(["run", str(job), "--run-id", "two"]) == 0
    assert (folder / "jobs-own/runs/two/run.json").exists()
    assert dict(os.environ) == before
