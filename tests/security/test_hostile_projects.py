"""A `penstock.conf` of somebody hostile, and a state directory in the repository: every command has an answer."""

import json
import os
from pathlib import Path

import pytest

from engine.cli import main
from tests.security.hostile_jobs import SINK, SOURCE
from tests.security.test_every_option import DEEP_MAP
from tests.security.test_shown_names import COMMANDS, MOVES

SECRET, VALUE = "planted-4f1c", "wJalr/planted+secret"
NAME = "AWS_SECRET_ACCESS_KEY"
SHOWN = json.dumps("a\x1b]0;t\x07\u202e\n::add-mask::x\r##[error]y")

PROJECTS: dict[str, str] = {
    "deep blocks": "a = " + "{x=" * 3000 + "1" + "}" * 3000,
    "a text that doubles itself": "a = xx\n" + "a = ${a} ${a}\n" * 40,
    "variables that double": "variables {\n v0 = x\n"
    + "".join(f' v{n} = "${{v{n - 1}}}${{v{n - 1}}}"\n' for n in range(1, 40)) + "}",
    "selectors of themselves": 'selectors { a = "selector:a", b = "selector:c", c = "selector:b" }',
    "selectors that double": 'selectors { s0 = "name:a"\n' + "".join(
        f's{n} = {{ union = ["selector:s{n - 1}", "selector:s{n - 1}"] }}\n' for n in range(1, 40)) + "}",
    "deep selectors": "selectors { s = " + "{ union = [" * 2000 + '"x"' + "] }" * 2000 + "}",
    "patterns of selectors": f'selectors {{ s = "name:{"*a" * 3000}b", t = "path:{"**/" * 500}", u = "tag:[a-" }}',
    "steps of selectors": f'selectors {{ s = "{"9" * 5000}+a", t = "{"+" * 5000}a" }}',
    "an include of what is outside": 'include "../outside/broken.conf"',
    "an include of the environment": 'include "/proc/self/environ"',
    "jobs outside": 'jobs = ["../outside"]', "jobs above": 'jobs = [".."]', "jobs of devices": 'jobs = ["/dev"]',
    "jobs by a link": 'jobs = ["link"]', "a NUL in jobs": 'jobs = ["a\\u0000b"]', "jobs often": "jobs = ["
    + '"jobs",' * 2000 + "]",
    "a state directory outside": 'state_dir = "../outside/state"', "one on a pipe": 'state_dir = "fifo"',
    "one in a store": 'state_dir = "s3a://me:planted-4f1c@bucket/state"', "one with a NUL": 'state_dir = "a\\u0000b"',
    "one by its environment": 'environments { "../../outside" { default = true } }',
    "values of the environment": f'name = ${{{NAME}}}\nvariables {{ x = ${{{NAME}}} }}\nstate_dir = "x${{{NAME}}}"\n'
    f'folders {{ jobs {{ tags = ["z${{{NAME}}}"], owner = ${{{NAME}}} }} }}\nspark {{ x = ${{{NAME}}} }}',
    "a connection": f'connections {{ c {{ url = "jdbc:oracle:thin:scott/{SECRET}@h", pasword = "{SECRET}" }} }}\n'
    f"nope {{ password = {SECRET} }}",
    "hostile names": f"name = {SHOWN}\nenvironments {{ {SHOWN} {{ default = true }}, e {{ }} }}\n"
    f"connections {{ {SHOWN} {{ url = {SHOWN} }} }}\nfolders {{ {SHOWN} {{ tags = [{SHOWN}] }} }}\n"
    f"selectors {{ {SHOWN} = {SHOWN} }}\nvariables {{ {SHOWN} = {SHOWN} }}\n{SHOWN} = 1",
    "values of other types": "name = [1]\njobs = { a = 1 }\nenvironments = 3\nconnections = x\ndefaults = [1]\n"
    "spark = 1\nfolders = 2\nselectors = 4\nvariables = 5\nstate_dir = {}",
    "inner values of other types": "environments { a = 1 }\nconnections { a = 1 }\n"
    "defaults { source = 1, sink { x = 1 } }\n"
    "folders { jobs = 1 }\nselectors { s = 1, t = [1], v = null }\nvariables { a = [1], b { c = 1 }, d = null }",
    "many environments": "environments { " + " ".join(f"e{n} {{ }}" for n in range(3000)) + " }",
    "a list": "[1, 2]", "a NUL": "\x00", "an open quote": 'name = "x', "three megabytes": "#" + "x" * 3_000_000,
}  # fmt: skip
VERBS = ("validate", "ls --output json", "plan", "explain jobs/a.conf", "ls -s state:modified", "ls --selector s",
         "graph jobs -o page.html", "validate --format sarif")  # fmt: skip
RECORDS: dict[str, str] = {
    "no JSON": "{", "a text": '"x"', "a list": "[]", "an empty one": "{}", "deep": '{"a":' * 100_000,
    "deep jobs": json.dumps({"command": "x", "results": {}, "jobs": {"a": DEEP_MAP}}),
    "other types": '{"command": [], "results": {"a": {}}, "jobs": {"a": 1}}',
    "wrong writes": '{"command": "", "results": {}, "jobs": {"a": {"path": 1, "fingerprint": 2, "writes": [1]}}}',
    "wrong columns": '{"command": "", "results": {}, "jobs": {"a": {"path": "", "fingerprint": "", "writes":'
    ' {"x": [1]}}}}',
    "hostile names": '{"command": %s, "results": {%s: %s}, "jobs": {%s: {"path": %s, "fingerprint": "", "writes":'
    ' {%s: [{"name": %s, "type": %s, "nullable": true}]}}}}' % ((SHOWN,) * 8),
}  # fmt: skip


@pytest.fixture
def root(tmp_path, monkeypatch):
    outside, folder = tmp_path / "outside", tmp_path / "root"
    (folder / "jobs").mkdir(parents=True)
    (outside / "state").mkdir(parents=True)
    (outside / "broken.conf").write_text(f"{SECRET} : }}{{ {SECRET}\n")
    (outside / "state/project.json").write_text(SECRET)
    (folder / "jobs/a.conf").write_text(SOURCE + SINK)
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "fifo")
    monkeypatch.chdir(folder)
    monkeypatch.setenv(NAME, VALUE)
    return folder


def check(command: str, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) in (0, 1 if command.startswith("plan") else 0, 2), (case, command)  # 1: breaking
    written = capsys.readouterr()
    shown = written.out + written.err
    assert "PEN9" not in shown, (case, command, shown[-3000:])
    for planted in (SECRET, VALUE, "planted+secret"):
        assert planted not in shown, (case, command, shown[-3000:])
    assert not MOVES.search(shown), (case, command, shown[-3000:])
    assert not COMMANDS.search(shown), (case, command, shown[-3000:])


@pytest.mark.parametrize("case", PROJECTS)
def test_a_project_has_an_answer_and_shows_nothing_from_outside(case, root, capsys):
    Path("penstock.conf").write_bytes(PROJECTS[case].encode("utf-8", "surrogatepass"))
    number = list(PROJECTS).index(case)
    for command in {VERBS[0], *(VERBS[(number + step) % len(VERBS)] for step in range(3))}:
        check(command, case, capsys)


@pytest.mark.parametrize("case", RECORDS)
def test_a_record_that_no_run_has_written_has_an_answer(case, root, capsys):
    Path("penstock.conf").write_text('state_dir = "state"\n')
    Path("state").mkdir()
    Path("state/project.json").write_text(RECORDS[case])
    for command in ("plan", "ls -s state:modified", "ls -s result:error", "plan --format json"):
        check(command, case, capsys)


@pytest.mark.parametrize(
    "target", ["/dev/zero", "../fifo", "../../outside/broken.conf", "project.json", "/proc/self/environ"]
)
def test_a_record_that_is_a_link_has_an_answer(target, root, capsys):
    Path("penstock.conf").write_text('state_dir = "state"\n')
    Path("state").mkdir()
    Path("state/project.json").symlink_to(target)
    for command in ("plan", "ls -s state:modified"):
        check(command, target, capsys)
