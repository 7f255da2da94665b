"""`penstock plan`: the changes of a project against a git revision."""

import json
import subprocess
from pathlib import Path

import pytest

from engine.cli import main

ROWS = "source { FakeSource { plugin_output = rows, row.num = 5, schema { fields { id = int, n = int, m = int } } } }"
TABLES = """
CREATE TABLE x WITH ('connector' = 'LocalFile', 'path' = '{read}', 'file_format_type' = 'parquet');
CREATE TABLE y WITH ('connector' = 'LocalFile', 'path' = '{write}', 'file_format_type' = 'parquet');
INSERT INTO y SELECT {columns} FROM x;
"""


def git(*words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.email=a@example.org", "-c", "user.name=a", *words], check=True, capture_output=True
    )


@pytest.fixture
def shop(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "shop"
    (root / "jobs").mkdir(parents=True)
    monkeypatch.chdir(root)
    Path("penstock.conf").write_text("name = shop\n")
    write("a.conf", f'{ROWS}\nsink {{ LocalFile {{ path = "lake/a", file_format_type = parquet }} }}\n')
    write("b.sql", TABLES.format(read="lake/a", write="lake/b", columns="id, n + 1 AS more"))
    write("c.sql", TABLES.format(read="lake/a", write="lake/c", columns="id"))
    write("d.sql", TABLES.format(read="lake/b", write="lake/d", columns="*"))
    git("init", "-q", str(tmp_path))
    git("add", "-A")
    git("commit", "-qm", "first")
    return root


def write(name: str, text: str) -> None:
    Path("jobs", name).write_text(text)


def planned(capsys, code: int, *words: str) -> str:
    assert main(["plan", "--against", "HEAD", *words]) == code
    return capsys.readouterr().out


def test_nothing_changed_where_only_the_text_differs(shop, capsys):
    write("b.sql", "-- more\n" + TABLES.format(read="lake/a", write="lake/b", columns="id,\n  N+1 as more"))
    Path("penstock.conf").write_text("name = shop\nvariables { unrelated = 1 }\n")
    assert planned(capsys, 0, "--fail-on", "any") == "no job changed against HEAD\n"


def test_changed_columns_are_listed_with_their_readers_and_what_must_be_rebuilt(shop, capsys):
    rows = ROWS.replace("n = int", "n = bigint").replace(", m = int", "")
    write("a.conf", f'{rows}\nsink {{ LocalFile {{ path = "lake/a", file_format_type = parquet }} }}\n')
    write("e.sql", TABLES.format(read="lake/d", write="lake/e", columns="id"))
    Path("jobs/c.sql").unlink()
    changes = json.loads(planned(capsys, 1, "--format", "json"))
    jobs = {job["name"]: job for job in changes["jobs"]}
    assert {name: (job["change"], job["breaking"]) for name, job in jobs.items()} == {
        "a": ("changed", True), "b": ("changed", False), "c": ("removed", True), "d": ("changed", False),
        "e": ("added", False),
    }  # fmt: skip
    of_a = {column["column"]: column for column in jobs["a"]["columns"]}
    assert (of_a["n"]["change"], of_a["n"]["breaking"]) == ("type widened", False)
    assert of_a["n"]["readers"] == [{"job": "b", "location": "jobs/b.sql:2:1"}]
    assert (of_a["m"]["change"], of_a["m"]["readers"]) == ("dropped", [])
    assert changes["rebuild"] == ["a", "b", "d", "e"]


def test_a_column_that_is_not_used_changes_only_its_writer(shop, capsys):
    rows = ROWS.replace("m = int", "m = string")
    write("a.conf", f'{rows}\nsink {{ LocalFile {{ path = "lake/a", file_format_type = parquet }} }}\n')
    changes = json.loads(planned(capsys, 1, "--format", "json"))
    assert [job["name"] for job in changes["jobs"]] == ["a"]


def test_other_values_in_the_same_columns_are_a_change_that_is_not_breaking(shop, capsys):
    write("b.sql", TABLES.format(read="lake/a", write="lake/b", columns="id, n + 2 AS more"))
    out = planned(capsys, 0)
    assert "~ b (jobs/b.sql)\n    other rows or values, the same columns\n" in out
    assert "to rebuild: b, d\n1 changed; nothing breaking\n" in out
    assert planned(capsys, 1, "--fail-on", "any") == out
    assert "| `b` | **changed** | other rows or values, the same columns |" in planned(
        capsys, 0, "--format", "markdown"
    )


def test_jobs_are_selected_by_what_changed_since_a_revision(shop, capsys):
    write("b.sql", TABLES.format(read="lake/a", write="lake/b", columns="id, n + 2 AS more"))
    assert main(["ls", "--select", "state:modified+", "--against", "HEAD"]) == 0
    assert capsys.readouterr().out == "b\nd\n"


def test_an_unknown_revision_is_an_error_of_the_user(shop, capsys):
    assert main(["plan", "--against", "nowhere"]) == 2
    assert "PEN1001" in capsys.readouterr().err


def test_before_the_first_commit_of_a_project_every_job_is_new(shop, capsys):
    git("rm", "-q", "--cached", "penstock.conf")
    git("commit", "-qm", "second")
    out = planned(capsys, 0)
    assert out.count("\n+ ") == 4


def test_a_type_that_is_known_only_when_the_job_runs_is_no_change(shop, capsys):
    Path("in.csv").write_text("id,value\n1,2.5\n")
    read = "LocalFile { path = in.csv, file_format_type = csv, csv_use_header_line = true, infer_schema = true }"
    write("f.conf", f'source {{ {read} }}\nsink {{ LocalFile {{ path = "lake/f", file_format_type = parquet }} }}\n')
    git("add", "-A")
    git("commit", "-qm", "second")
    assert planned(capsys, 0, "--fail-on", "any") == "no job changed against HEAD\n"
    write("g.sql", TABLES.format(read="lake/f", write="lake/g", columns="value"))  # which reads such columns
    main(["validate", "."])
    assert "PEN9001" not in capsys.readouterr().out


def test_a_renamed_job_breaks_nothing_where_it_writes_the_same_columns(shop, capsys):
    Path("jobs/b.sql").rename("jobs/fct_b.sql")
    shown = planned(capsys, 0)
    assert "- b (jobs/b.sql)\n    `lake/b` is written by `fct_b` now\n" in shown
    assert "1 added, 1 removed; nothing breaking" in shown
    write("fct_b.sql", TABLES.format(read="lake/a", write="lake/b", columns="id, n AS other"))
    shown = planned(capsys, 1)
    assert "- b (jobs/b.sql), breaking\n    `lake/b` is written by `fct_b` now\n    `more` dropped (int)" in shown
    write("fct_b.sql", TABLES.format(read="lake/a", write="lake/other", columns="id"))
    assert "    no longer writes `lake/b`\n" in planned(capsys, 2)  # and the job that reads it has an error
