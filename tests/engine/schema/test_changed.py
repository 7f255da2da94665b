"""`validate --changed-since`: jobs that changed, whose includes changed, or whose lock did."""

import re
import subprocess
from pathlib import Path

import pytest

from engine.cli import main
from engine.job.model.settings import Settings
from engine.schema.git_changes import changed_since

ROOT = Path(__file__).parents[3]
JOB = "source { FakeSource { schema { fields { id = int } } } }\nsink { Console { } }"


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], check=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.conf").write_text(JOB)
    (tmp_path / "b.conf").write_text('include "part.inc"\n' + JOB)
    (tmp_path / "part.inc").write_text("env { parallelism = 1 }")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    return tmp_path


def test_what_changed(repository):
    jobs = [Path("a.conf"), Path("b.conf"), Path("c.conf")]
    assert changed_since(jobs, "HEAD", Settings()) == ()
    (repository / "part.inc").write_text("env { parallelism = 2 }")
    assert changed_since(jobs, "HEAD", Settings()) == (Path("b.conf"),)
    (repository / "c.conf").write_text(JOB)
    assert changed_since(jobs, "HEAD", Settings()) == (Path("b.conf"), Path("c.conf"))
    (repository / "penstock.lock").write_text("")
    assert changed_since(jobs, "HEAD", Settings()) == tuple(jobs)


@pytest.mark.parametrize("include", ['include "${where}/part.inc"', 'include file("parts/part.inc")'])
def test_an_include_that_a_variable_or_file_names_counts(repository, include):
    (repository / "parts").mkdir()
    (repository / "parts/part.inc").write_text("env { parallelism = 1 }")
    (repository / "d.conf").write_text(f"{include}\n{JOB}")
    git("add", ".")
    git("commit", "-qm", "second")
    settings = Settings({"where": "parts"})
    assert changed_since([Path("d.conf")], "HEAD", settings) == ()
    (repository / "parts/part.inc").write_text("env { parallelism = 2 }")
    assert changed_since([Path("d.conf")], "HEAD", settings) == (Path("d.conf"),)


def test_an_included_file_that_was_deleted_counts(repository):
    (repository / "part.inc").unlink()
    assert changed_since([Path("a.conf"), Path("b.conf")], "HEAD", Settings()) == (Path("b.conf"),)


def test_the_command(repository, capsys):
    (repository / "a.conf").write_text(JOB.replace("Console", "Consle"))
    assert main(["validate", ".", "--changed-since", "HEAD"]) == 2
    assert "1 job: 1 error" in capsys.readouterr().out
    git("commit", "-qam", "second")
    assert main(["validate", ".", "--changed-since", "HEAD"]) == 0
    assert main(["validate", ".", "--changed-since", "nowhere"]) == 2


def test_the_hook_and_the_workflow_call_commands_that_there_are():
    texts = [(ROOT / name).read_text() for name in (".pre-commit-hooks.yaml", "docs/github-action.yml")]
    commands = [words for text in texts for words in re.findall(r"(?:entry|run): penstock (\w+)", text)]
    assert set(commands) == {"validate", "schema", "test"}
    for command in commands:
        assert main([command, "--help"]) == 0
