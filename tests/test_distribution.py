"""The distribution is penstock-etl: no text advises to install `penstock`, which is another project's."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.distribution import DISTRIBUTION, pip_install

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OTHER_PROJECT = re.compile(
    r"(?<![\w./-])penstock\[" r"|(?<![\w./-])penstock *[=<>~]=" r"|\binstall\b[^\n`]*(?<![\w./-])penstock(?![\w.-])"
)
"""An extra, a version or an installation of `penstock`."""
ADVICE = re.compile(r"pip install '([^'\n]+)'")


def texts() -> list[tuple[str, str]]:
    """Every text file of the project but this one."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name and not name.startswith("tests/test_distribution")]
    found = []
    for path in paths:
        if path.is_file() and path.suffix in ("", ".py", ".md", ".toml", ".yml", ".yaml", ".txt", ".xml", ".test"):
            found.append((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")))
    return found


def printed_extras() -> dict[str, str]:
    """The extras that messages advise to install, with the module of each."""
    found = {}
    for package in ("engine", "catalog", "sql", "connectors"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "pip_install" not in text:  # parsing all modules takes seconds, at each collection
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "pip_install":
                    (extra,) = node.args
                    assert isinstance(extra, ast.Constant), f"{path}:{node.lineno}: an extra by its name"
                    found[str(extra.value)] = path.relative_to(ROOT).as_posix()
    return found


def test_the_distribution_has_its_name_and_the_command_has_the_old_one():
    assert PROJECT["name"] == DISTRIBUTION == "penstock-etl"
    assert list(PROJECT["scripts"]) == ["penstock"]


def test_no_text_advises_to_install_the_other_project():
    wrong = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for name, text in texts()
        for match in OTHER_PROJECT.finditer(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text", ["pip install 'penstock[spark]'", "pip install penstock", "uv tool install penstock", "penstock==1.0"]
)
def test_the_old_advice_is_recognized(text):
    assert OTHER_PROJECT.search(text)


@pytest.mark.parametrize("text", ["pip install 'penstock-etl[spark]'", "python -m penstock", "penstock run job.conf"])
def test_the_new_advice_and_the_command_are_allowed(text):
    assert not OTHER_PROJECT.search(text)


def test_extras_that_refer_to_the_project_use_its_name():
    extras = PROJECT["optional-dependencies"]
    own = {text.partition("[")[0] for found in extras.values() for text in found if text.startswith("penstock")}
    assert own == {DISTRIBUTION}


def test_messages_name_extras_that_exist():
    found = printed_extras()
    assert {"spark", "quality", "openlineage", "protobuf", "paimon"} <= set(found)
    assert set(found) <= set(PROJECT["optional-dependencies"])


def advised() -> set[str]:
    """Every requirement that a message or a page advises to install as this project."""
    of_messages = {ADVICE.search(pip_install(extra))[1] for extra in printed_extras()}
    of_pages = {match[1] for name, text in texts() if name.endswith(".md") for match in ADVICE.finditer(text)}
    return of_messages | {requirement for requirement in of_pages if requirement.startswith("penstock")}
