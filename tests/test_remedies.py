"""No remedy destroys data: help texts that advise deleting or replacing something say what is lost."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("catalog", "connectors", "engine", "sql")
REPORTS = {"error", "warning", "Diagnostic", "job_error", "run_error", "_unreadable"}
DESTROYS = re.compile(
    r"DROP_DATA|RECREATE_SCHEMA|overwrite_foreign_files"
    r"|(?<!\")\b(?:remove|delete|drop|truncate|empty|purge|rm)\b[^.;:,]*"
    r"(?:…|\b(?:files?|folder|directory|tables?|target|journal|staging|checkpoint|rows|data)\b)"
)
SAYS_SO = re.compile(r"(?:rows|files|data)\b[^;]*\b(?:are|is) (?:lost|deleted|replaced)|lets the run delete |loses ")


def _text(node: ast.expr) -> str | None:
    """A string as it is shown; `…` where a value is put in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value) or "" if isinstance(value, ast.Constant) else "…" for value in values)
    return None


def help_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings that are given to a diagnostic after its message, assigned to `help`, or returned for one."""
    places: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
                if name in REPORTS:
                    places += [*args[2:], *(keyword.value for keyword in keywords if keyword.arg == "help")]
            case ast.Assign(targets=[ast.Name(id="help"), *_], value=value):
                places.append(value)
            case ast.FunctionDef(name=name) if re.search("remedy|help|hint|advice|ways_to|in_doubt|dismissed", name):
                places.append(node)
    for place in places:
        for inner in ast.walk(place):
            if isinstance(inner, ast.expr) and (text := _text(inner)):
                yield inner.lineno, text


def advice(path: Path) -> list[tuple[int, str]]:
    return sorted(set(help_texts(ast.parse(path.read_text(encoding="utf-8")))))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_help_text_advises_to_destroy_data_without_saying_so(package):
    texts = [(path, *found) for path in sorted((ROOT / package).rglob("*.py")) for found in advice(path)]
    assert texts, "no help text was found: the test reads none"
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path, line, text in texts
        if DESTROYS.search(text) and not SAYS_SO.search(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("data_save_mode = APPEND_DATA or DROP_DATA", True),
        ("data_save_mode = DROP_DATA; the target's rows are lost", False),
        ("remove `…`: then the run is forgotten", True),
        ("where no run writes to it, delete the folder", True),
        ("`penstock runs --forget 1` dismisses the run and changes no target", False),
        ("name it in the query, or remove it", False),
    ],
)
def test_what_counts_as_such_advice(text, is_refused):
    assert bool(DESTROYS.search(text) and not SAYS_SO.search(text)) is is_refused
