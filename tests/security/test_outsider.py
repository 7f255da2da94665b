"""What an outside engineer tried on a CI that runs Penstock: nothing is shown, written, hung or broken by it.

A part of the cases in the normal run, all in `make soak`. Those that may hang run in a process of their own, with
limits of time and memory.
"""

import os
import re
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.cli import main
from tests.security import hostile_pulls, outsider_cases
from tests.security.outsider_cases import ESC, OUTSIDE, SECRET, SECRET_NAME, Case
from tests.security.own_process import OwnProcess, own_process
from tests.security.test_shown_names import COMMANDS, MOVES

ALL = os.environ.get("PENSTOCK_TEST_ALL_VALUES") == "1"
EACH = 1 if ALL else 9
EACH_PULL = 1 if ALL else 21
SECONDS, MEGABYTES = 5.0, 1500
OURS = re.compile(r"^::(error|warning|notice) (file=[^\n:]*,)?[\w=,]*title=PEN\d+::", re.MULTILINE)
CASES = {
    f"{kind.__name__}: {name}": case
    for kind in (outsider_cases.reading, outsider_cases.lakes, outsider_cases.bombs, outsider_cases.printed,
                 outsider_cases.limits, outsider_cases.secrets)
    for name, case in kind()
}  # fmt: skip
PULLS = {f"{kind.__name__}: {name}": case for kind in hostile_pulls.KINDS for name, case in kind()}


def test_there_are_enough_cases():
    assert len(CASES) > 600
    assert sum(case.in_own_process for case in CASES.values()) > 50
    assert len(PULLS) > 1500
    assert sum(case.in_own_process for case in PULLS.values()) > 200


def shown_by(case: Case, command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, float]:
    """The exit code, what was printed, and the seconds of processor time."""
    words = [*command.split(), *case.arguments]
    if not case.in_own_process:
        started = time.process_time()
        try:
            code = main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
        written = capsys.readouterr()
        return code, written.out + written.err, time.process_time() - started

    ended = OTHERS[0].run(words, Path.cwd(), {SECRET_NAME: SECRET})
    assert ended.megabytes < MEGABYTES
    return ended.code, ended.shown, ended.seconds


OTHERS: list[OwnProcess] = []


@pytest.fixture(scope="module", autouse=True)
def _others():
    with own_process() as found:
        OTHERS[:] = [found]
        yield
    OTHERS.clear()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_no_case_does_harm(part, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(SECRET_NAME, SECRET)
    for number, (name, case) in list(enumerate(CASES.items()))[part::8][::EACH]:
        try_case(name, case, number, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("part", range(8))
def test_no_pull_request_does_harm(part, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(SECRET_NAME, SECRET)
    for number, (name, case) in list(enumerate(PULLS.items()))[part::8][part % 3 :: EACH_PULL]:
        try_case(name, case, number, tmp_path, monkeypatch, capsys)


def try_case(
    name: str, case: Case, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder, outside = tmp_path / str(number) / "project", tmp_path / str(number) / "outside"
    folder.mkdir(parents=True)
    outside.mkdir()
    kept = f"{OUTSIDE},b\n{OUTSIDE} : 1 }}\n"
    (outside / "secret.conf").write_text(kept)
    case.furnish(folder, outside)
    monkeypatch.chdir(folder)
    given = case.commands or ("",)  # the words are its arguments
    commands = given if ALL else [given[number % len(given)]]
    for command in commands:
        code, shown, taken = shown_by(case, command, capsys)
        at = (name, command, shown[-3000:])
        assert code in (0, 1, 2), at
        assert "PEN9" not in shown, at
        for planted in (OUTSIDE, SECRET, SECRET.replace("/", "\\/"), "9c1e"):
            assert planted not in shown, at
        assert not MOVES.search(shown), at
        assert not COMMANDS.search(OURS.sub("", shown)), at
        assert taken < SECONDS, (*at, taken)
        assert [path.name for path in outside.iterdir()] == ["secret.conf"], at
        assert (outside / "secret.conf").read_text() == kept, at
        assert [path.name for path in folder.parent.iterdir()] in (["project", "outside"], ["outside", "project"])


def test_a_page_of_junit_is_one_whatever_the_names_are(tmp_path):
    from catalog.diagnostics.diagnostic import Diagnostic
    from catalog.masks import Masks
    from engine.testing.junit import write_junit
    from engine.testing.read_tests import JobTest
    from engine.testing.run_tests import Result

    masks = Masks()
    masks.add(SECRET)
    for name in (*outsider_cases.NAMES_IN_ROWS, "\uffff", "\x00"):
        test = JobTest.__new__(JobTest)
        for field, value in {"name": name, "file": Path(name.replace("\x00", "0")), "job": Path("a")}.items():
            object.__setattr__(test, field, value)
        failure = Diagnostic("PEN6001", f"{name} {SECRET}", notes=(name,), help=ESC)
        write_junit(tmp_path / "junit.xml", [Result(test, (failure,), 1.0)], masks)
        text = (tmp_path / "junit.xml").read_text()
        ElementTree.fromstring(text)
        assert SECRET not in text
        assert not MOVES.search(text)


def test_a_name_in_markdown_is_code():
    from engine.project.changes.show_changes import _code

    for name in outsider_cases.NAMES_IN_ROWS:
        shown = _code(name)
        fence = re.match("`+", shown)[0]
        assert shown.endswith(fence)
        assert fence not in shown[len(fence) : -len(fence)].replace("`" * (len(fence) + 1), "")
        assert "\n" not in shown
        assert re.search(r"(?<!\\)\|", shown) is None
