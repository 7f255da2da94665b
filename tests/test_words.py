"""The words of messages, help texts and pages: the field's own, as the glossary of the contributors' guide has them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("catalog", "connectors", "engine", "sql")
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md")),
        *(page for folder in ("docs", "examples") for page in (ROOT / folder).rglob("*.md")),
        *(ROOT / "docs").rglob("*.yml"),
    ]
)
INSTEAD = {
    r"faults?": "error, problem",
    r"dear": "expensive",
    r"told": "reported",
    r"cannot be had": "not found, cannot be read",
    r"things?": "the name of what it is",
    r"may pass": "transient",
    r"dead (?:run|process|one)s?": "killed run",
    r"(?:names?|words?|values?) parted by": "separated by",
    r"put down": "record",
    r"(?:for|to) people": "shown, displayed",
    r"put aside": "moved to",
    r"done again": "retried, repeated",
    r"living process(?:es)?|lives": "is running, is in",
    r"(?:may|must|cannot|can) stand|stands? (?:in|for|here|beside)": "is, is in, means",
}
LONGEST_LINE = 120


def wrong_words(text: str) -> list[str]:
    return [
        f"{match[0]} (write: {good})"
        for bad, good in INSTEAD.items()
        for match in re.finditer(rf"(?i)\b(?:{bad})\b", text)
    ]


def shown_strings(path: Path) -> Iterator[tuple[int, str]]:
    """The string literals of a module that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


@pytest.mark.parametrize("package", PACKAGES)
def test_messages_and_help_texts(package):
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {word}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in shown_strings(path)
        for word in wrong_words(text)
    ]
    assert not wrong, "\n".join(wrong)


def explanations(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a module."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from enumerate(node.value.value.split("\n"), node.lineno)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_and_comments(package):
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {word}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in explanations(path)
        for word in wrong_words(text)
        if not re.match("stand|(?:may|must|can|cannot) ", word)  # "stands for" explains a symbol or a node of a tree
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page):
    lines = page.read_text(encoding="utf-8").split("\n")
    wrong = [f"{page.name}:{number}: {word}" for number, line in enumerate(lines, 1) for word in wrong_words(line)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name
)  # an entry of the changelog is one line, so that merges rarely conflict
def test_lines_of_pages_are_short(page):
    lines = page.read_text(encoding="utf-8").split("\n")
    assert [f"{number}: {line}" for number, line in enumerate(lines, 1) if len(line) > LONGEST_LINE] == []


def test_no_file_names_a_host_of_packages():
    """Package clients know where to ask; a mirror must do as well."""
    clients = ("pypi", "pythonhosted", "maven", "npmjs", "debian")
    host = re.compile(rf"\b(?:{'|'.join(clients)})\.(?:org|com)\b".encode())
    folders = (*PACKAGES, "tests", "docs", "examples", "benchmarks", ".ci")
    files = [*ROOT.glob("*.*"), ROOT / "Makefile", *(file for name in folders for file in (ROOT / name).rglob("*"))]
    assert [str(file) for file in files if file.is_file() and host.search(file.read_bytes())] == []
