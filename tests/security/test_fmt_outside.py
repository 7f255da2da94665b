"""`penstock fmt` writes no file outside of the project."""

from pathlib import Path

import pytest

from engine.cli import main

JOB = "source{FakeSource{}}\nsink{Console{}}\n"
SECRET = "planted-4f1c"


@pytest.fixture
def outside(tmp_path, monkeypatch):
    (tmp_path / "project" / "jobs").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "theirs.conf").write_text(f"# {SECRET}\n{JOB}")
    monkeypatch.chdir(tmp_path / "project")
    Path("jobs/link.conf").symlink_to(tmp_path / "other" / "theirs.conf")
    Path("jobs/own.conf").write_text(JOB)
    Path("linked").symlink_to(tmp_path / "other")
    return tmp_path / "other" / "theirs.conf"


@pytest.mark.parametrize("has_project", [False, True])
@pytest.mark.parametrize("path", ["jobs", "jobs/link.conf", "jobs/*.conf", ".", "jobs/../jobs/link.conf"])
@pytest.mark.parametrize("option", ["", "--check", "--diff"])
def test_a_link_out_of_the_project_is_refused(outside, capsys, path, option, has_project):
    if has_project:
        Path("penstock.conf").write_text('name = "shop"\n')
    before = outside.read_text()
    assert main(["fmt", path, *option.split()]) == 2
    written = capsys.readouterr()
    assert outside.read_text() == before
    assert "PEN1602" in written.err
    assert "link.conf` leads out of the project" in written.err
    assert SECRET not in written.out + written.err


def test_the_other_files_are_formatted(outside):
    assert main(["fmt", "jobs"]) == 2
    assert Path("jobs/own.conf").read_text() != JOB
    assert Path("jobs/link.conf").is_symlink()


def test_a_folder_that_is_a_link_out_of_the_project_is_refused(outside, capsys):
    Path("penstock.conf").write_text('name = "shop"\n')
    before = outside.read_text()
    assert main(["fmt", "linked"]) == 2
    assert main(["fmt", "linked/theirs.conf"]) == 2
    assert main(["fmt", "**/*.conf"]) == 2
    assert outside.read_text() == before
    assert "theirs.conf" in capsys.readouterr().err


def test_a_link_within_the_project_is_formatted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("penstock.conf").write_text('name = "shop"\n')
    Path("a").mkdir()
    Path("b").mkdir()
    Path("b/job.conf").write_text(JOB)
    Path("a/link.conf").symlink_to("../b/job.conf")
    assert main(["fmt", "a"]) == 0
    assert Path("b/job.conf").read_text() != JOB
    assert Path("a/link.conf").is_symlink()
