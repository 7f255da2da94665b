"""Jobs that cannot be committed together are refused without Spark."""

from pathlib import Path

import pytest

from engine.cli import main

SOURCE = """source { LocalFile { plugin_output = "read", path = "in", file_format_type = "csv"
  schema { fields { id = int, day = date } } OPTIONS } }
"""
WRITES = 'sink { Delta { plugin_input = "read", path = "lake/a", data_save_mode = DROP_DATA } }\n'
READS = """source { Delta { plugin_output = "read", path = "lake/a" } }
sink { Delta { plugin_input = "read", path = "lake/b" } }
"""
JOBS = {"jobs/a.conf": SOURCE + WRITES, "jobs/b.conf": READS}


def check(folder: Path, jobs: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.chdir(folder)
    for name, text in {"penstock.conf": 'name = "shop"\n', **jobs}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.replace("OPTIONS", ""))
    return main(["run", "--together", "--check"])


def test_a_reader_of_rows_that_replace_all_others_is_accepted(tmp_path, monkeypatch, capsys):
    assert check(tmp_path, JOBS, monkeypatch) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        (
            "data_save_mode = DROP_DATA",
            "write_mode = upsert, primary_keys = [id]",
            "PEN1661",
            "after upsert, which rows",
        ),
        ('path = "lake/a" }', 'path = "lake/a", versionAsOf = 1 }', "PEN1661", "`version` of the source"),
        ("source {", "env { job.mode = STREAMING }\nsource {", "PEN1660", "it is a streaming job"),
        ("OPTIONS", ", incremental {}", "PEN1660", "it has incremental sources"),
        ("source {", "env { failure_policy = continue }\nsource {", "PEN1660", "commits a part of a job"),
        ("source {", "env { spark.sql.mapKeyDedupPolicy = LAST_WIN }\nsource {", "PEN1660", "settings of Spark SQL"),
    ],
)
def test_a_job_that_cannot_be_committed_with_others_is_refused(tmp_path, monkeypatch, capsys, old, new, code, message):
    jobs = {name: text.replace(old, new) if "settings" not in message or name.endswith("b.conf") else text
            for name, text in JOBS.items()}  # fmt: skip
    assert check(tmp_path, jobs, monkeypatch) == 2
    shown = capsys.readouterr().err
    assert f"error[{code}]" in shown
    assert message in shown
