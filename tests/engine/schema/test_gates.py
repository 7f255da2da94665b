"""A gate that cannot compare fails, and an internal error in one job hides no other."""

import os
import subprocess

import pytest

from engine.cli import main

JOB = """source { FakeSource { plugin_output = "a", schema { fields { id = int, name = string } } } }
sink { LocalFile { path = "out", file_format_type = parquet } }
"""

_CSV = 'LocalFile { plugin_output = "a", path = "data.csv", file_format_type = csv, csv_use_header_line = true'


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], check=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/a.conf").write_text(JOB)
    (tmp_path / "jobs/b.conf").write_text(JOB.replace('"out"', '"${lake}/out"'))
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "jobs/a.conf").write_text(JOB.replace(", name = string", ""))
    return tmp_path


def test_schema_diff_takes_an_absolute_path(repository, capsys):
    assert main(["schema", "diff", str(repository / "jobs/a.conf"), "--against", "HEAD"]) == 1
    assert "source a: breaking: `name` dropped" in capsys.readouterr().out


def test_schema_diff_reads_the_revision_in_a_process_of_its_own(repository, monkeypatch, capsys):
    (repository / "data.csv").write_text("id,name\n1,a\n")
    job = JOB.replace('FakeSource { plugin_output = "a", schema { fields { id = int, name = string } }', _CSV)
    (repository / "jobs/a.conf").write_text(job)
    git("add", ".")
    git("commit", "-qm", "second")
    (repository / "data.csv").write_text("id\n1\n")
    here, change = os.getpid(), os.chdir
    monkeypatch.setattr(os, "chdir", lambda path: change(path) if os.getpid() != here else pytest.fail("changed"))
    assert main(["schema", "diff", "jobs/a.conf", "--against", "HEAD"]) == 1
    assert "source a: breaking: `name` dropped" in capsys.readouterr().out


def test_schema_diff_fails_where_a_variable_is_missing(repository, capsys):
    git("checkout", "-q", "jobs/a.conf")
    assert main(["schema", "diff", "jobs", "--against", "HEAD"]) == 1
    said = capsys.readouterr().out
    assert "jobs/b.conf: broken: [PEN1003]" in said
    assert "no schema changed" not in said
    assert main(["schema", "diff", "jobs", "--against", "HEAD", "-i", "lake=x"]) == 0
    assert "no schema changed" in capsys.readouterr().out


def test_schema_diff_says_which_job_is_new(repository, capsys):
    (repository / "jobs/c.conf").write_text(JOB)
    assert main(["schema", "diff", "jobs/c.conf", "--against", "HEAD"]) == 0
    assert "jobs/c.conf: not compared: it is not in HEAD" in capsys.readouterr().out


def test_schema_diff_refuses_a_path_outside_the_repository(repository, tmp_path_factory, capsys):
    other = tmp_path_factory.mktemp("other") / "job.conf"
    other.write_text(JOB)
    assert main(["schema", "diff", str(other), "--against", "HEAD"]) == 2
    assert "is not in the repository" in capsys.readouterr().err


def test_an_internal_error_in_one_job_hides_no_other(repository, monkeypatch, capsys):
    import engine.validation.check_jobs as checked

    compile_job = checked.compile_job

    def failing(path, settings, diagnostics):
        if path.name == "a.conf":
            raise ZeroDivisionError("a bug")
        return compile_job(path, settings, diagnostics)

    monkeypatch.setattr(checked, "compile_job", failing)
    assert main(["validate", "jobs"]) == 2
    said = capsys.readouterr().out
    assert "error[PEN9001]: in `jobs/a.conf`: ZeroDivisionError: a bug" in said
    assert "error[PEN1003]" in said
    assert "2 jobs: 2 errors" in said
