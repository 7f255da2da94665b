"""No command that only reads shows or changes a file outside of the project, by whatever file of the project."""

import os
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from engine.cli import main
from tests.security.hostile_jobs import SINK, SOURCE

SECRET = "planted-4f1c"
ALL = "PENSTOCK_TEST_ALL_VALUES" in os.environ
"""Each command with each file, in a project and without one, as `make soak` does; else in one of the two."""
COMMANDS = (
    "validate jobs/a.conf", "validate jobs", "validate jobs --format json", "explain jobs/a.conf",
    "explain jobs/a.conf --columns --rules", "lineage jobs/a.conf", "schema show jobs/a.conf",
    "schema diff jobs/a.conf",
    "graph jobs/a.conf -o page.html", "graph jobs -o page.html", "convert jobs/a.conf", "migrate jobs/a.conf", "ls",
    "plan", "encrypt --job jobs/a.conf", "decrypt --job jobs/a.conf", "fmt --diff jobs",
    "validate jobs/a.conf -i x=1", "test jobs --list", "schema json",
)  # fmt: skip
OUTSIDE_JOB = f"# {SECRET}\n{SOURCE.replace('a = int', f'{SECRET} = int')}{SINK}"
READS = (
    'source {{ LocalFile {{ plugin_output = d, path = "{path}", file_format_type = csv, csv_use_header_line = true }} '
    "}}\nsink {{ Console {{ plugin_input = d }} }}\n"
)


def job_link(root: Path, outside: Path) -> None:
    (root / "jobs/a.conf").symlink_to(outside / "job.conf")


def include(name: str):
    def make(root: Path, outside: Path) -> None:
        (root / "jobs/a.conf").write_text(f'include "{name.format(outside=outside)}"\n{SOURCE}{SINK}')

    return make


def include_by_link(root: Path, outside: Path) -> None:
    (root / "jobs/part.conf").symlink_to(outside / "job.conf")
    include("part.conf")(root, outside)


def include_of_package(root: Path, outside: Path) -> None:
    include("x")(root, outside)
    (root / "jobs/a.conf").write_text(f'include package("pyspark:errors/error-conditions.json")\n{SOURCE}{SINK}')


def project_link(root: Path, outside: Path) -> None:
    good_job(root)
    (root / "penstock.conf").unlink(missing_ok=True)
    (root / "penstock.conf").symlink_to(outside / "broken.conf")


def project_include(root: Path, outside: Path) -> None:
    good_job(root)
    (root / "penstock.conf").write_text(f'include "{outside}/broken.conf"\n')


def lock_link(root: Path, outside: Path) -> None:
    good_job(root)
    for folder in (root, root / "jobs"):
        (folder / "penstock.lock").symlink_to(outside / "broken.conf")


def header(root: Path, outside: Path) -> None:
    (root / "jobs/a.conf").write_text(READS.format(path=outside / "in.csv"))


def header_by_link(root: Path, outside: Path) -> None:
    (root / "in.csv").symlink_to(outside / "in.csv")
    (root / "jobs/a.conf").write_text(READS.format(path="in.csv"))


def test_link(root: Path, outside: Path) -> None:
    good_job(root)
    (root / "jobs/a.test.conf").symlink_to(outside / "broken.conf")


def good_job(root: Path) -> None:
    (root / "jobs/a.conf").write_text(SOURCE + SINK)


CASES = {
    "a link to a job": job_link, "an include": include("{outside}/job.conf"), "an include by dots":
    include("../../outside/job.conf"), "an include by a link": include_by_link, "an include of a package":
    include_of_package, "an include of many": include("../../outside/*.conf"), "a link to a project": project_link,
    "an include of a project": project_include, "a link to a lock": lock_link, "a header": header,
    "a header by a link": header_by_link, "a link to tests": test_link, "an include of a broken file":
    include("{outside}/broken.conf"), "an include by a variable": include("${{x:{outside}}}/broken.conf"),
}  # fmt: skip
del test_link  # it makes files, and is no test


@pytest.mark.slow
@pytest.mark.parametrize("has_project", [False, True], ids=["alone", "project"])
@pytest.mark.parametrize("case", CASES)
def test_no_command_shows_what_is_outside(case, has_project, tmp_path, monkeypatch, capsys):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "jobs").mkdir(parents=True)
    outside.mkdir()
    (outside / "job.conf").write_text(OUTSIDE_JOB)
    (outside / "broken.conf").write_text(f"{SECRET} : }}{{ {SECRET}\n")
    (outside / "in.csv").write_text(f"{SECRET},b\n1,2\n")
    if has_project:
        (root / "penstock.conf").write_text('name = "shop"\n')
    CASES[case](root, outside)
    before = {path: path.read_text() for path in outside.iterdir()}
    monkeypatch.chdir(root)
    for command in COMMANDS if ALL else COMMANDS[(list(CASES).index(case) + has_project) % 2 :: 2]:
        code = main(command.split())
        written = capsys.readouterr()
        shown = written.out + written.err
        assert code in (0, 1, 2), (command, shown)
        assert "PEN9" not in shown, (command, shown)
        made = "".join(path.read_text(errors="replace") for path in root.glob("*.html"))
        assert SECRET not in shown + made, (command, shown)
        assert "APPLICATION_NAME_NOT_SET" not in shown + made, (command, shown)
    assert {path: path.read_text() for path in outside.iterdir()} == before


@pytest.mark.parametrize(
    "command",
    ["graph jobs/a.conf -o out", "convert jobs/a.conf -o out", "migrate jobs/a.conf -o out",
     "package jobs/a.conf -o out.zip",
     "test jobs --junit out", "schema sync jobs"],
)  # fmt: skip
def test_no_command_writes_through_a_link(command, tmp_path, monkeypatch, capsys):
    root, victim = tmp_path / "root", tmp_path / "victim"
    (root / "jobs").mkdir(parents=True)
    victim.write_text("mine")
    good_job(root)
    for name in ("out", "out.zip", "out.py", "penstock.lock", "jobs/penstock.lock"):
        (root / name).symlink_to(victim)
    monkeypatch.chdir(root)
    main(command.split())
    assert victim.read_text() == "mine", command


def test_a_package_has_nothing_that_a_link_leads_to(tmp_path, monkeypatch, capsys):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "jobs").mkdir(parents=True)
    outside.mkdir()
    (outside / "job.conf").write_text(OUTSIDE_JOB)
    (outside / "broken.conf").write_text(f"{SECRET} : }}{{ {SECRET}\n")
    lock_link(root, outside)
    (root / "jobs/penstock.conf").symlink_to(outside / "broken.conf")
    (root / "jobs/part.conf").symlink_to(outside / "job.conf")
    (root / "jobs/b.conf").symlink_to(outside / "job.conf")
    with (root / "jobs/a.conf").open("a") as file:
        file.write('include "part.conf"\n')
    monkeypatch.chdir(root)
    assert main(["package", "jobs/b.conf", "-o", "b.zip"]) == 2
    assert "error[PEN1602]" in capsys.readouterr().err
    assert main(["package", "jobs/a.conf", "-o", "a.zip"]) == 0
    with ZipFile("a.zip") as package:
        texts = [package.read(name).decode() for name in package.namelist() if name.startswith("jobs/")]
    assert any("FakeSource" in text for text in texts)
    assert not [text for text in texts if SECRET in text]


@pytest.mark.parametrize("command", ["plan --against", "ls -s state:modified --against", "schema diff jobs --against",
                                     "validate jobs --changed-since"])  # fmt: skip
def test_a_revision_is_no_option_of_git_and_its_links_are_left_out(command, tmp_path, monkeypatch, capsys):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "jobs").mkdir(parents=True)
    outside.mkdir()
    (outside / "job.conf").write_text(OUTSIDE_JOB)
    good_job(root)
    (root / "penstock.conf").write_text('name = "shop"\n')
    for name, target in (("b.conf", outside / "job.conf"), ("loop", "loop"), ("up.conf", "../../outside/job.conf")):
        (root / "jobs" / name).symlink_to(target)
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "x")):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    monkeypatch.chdir(root)
    for revision in ("HEAD", f"--output={tmp_path}/made", "HEAD:jobs", "nope"):
        *words, option = command.split()
        assert main([*words, f"{option}={revision}"]) in (0, 1, 2)
        written = capsys.readouterr()
        assert "PEN9" not in written.out + written.err, (revision, written)
        assert SECRET not in written.out + written.err, (revision, written)
    assert not (tmp_path / "made").exists()


def test_init_writes_through_no_link(tmp_path, monkeypatch, capsys):
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    monkeypatch.chdir(root)
    (root / "dir").symlink_to(outside)
    (root / ".gitignore").symlink_to(outside / "new")
    for folder in ("dir", "."):
        assert main(["init", folder]) == 2
        assert "PEN1602" in capsys.readouterr().err
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "command", ["plan --against=HEAD", "schema diff jobs --against=HEAD", "validate --changed-since=HEAD"]
)
def test_a_folder_that_looks_like_a_repository_starts_no_program(command, tmp_path, monkeypatch, capsys):
    """A checkout may hold a repository without a work tree, whose settings name programs."""
    root, marker = tmp_path / "root" / "etl", tmp_path / "written"
    for folder in ("jobs", "objects", "refs/heads"):
        (root / folder).mkdir(parents=True)
    good_job(root)
    (root / "penstock.conf").write_text("")
    (root / "HEAD").write_text("ref: refs/heads/main\n")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    (root / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = {program}\n"
        f"\talternateRefsCommand = {program}\n[diff]\n\texternal = {program}\n"
    )
    subprocess.run(["git", "init", "-q"], cwd=root.parent, check=True)
    monkeypatch.chdir(root)
    assert main(command.split()) in (0, 1, 2)
    assert "PEN9" not in "".join(capsys.readouterr())
    assert not marker.exists()
