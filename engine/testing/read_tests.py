"""Test files: `orders.test.sql` and `orders.test.conf` next to `orders.sql` or `orders.conf`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText, Span
from catalog.options import Value
from engine.job.find import SUFFIXES, TEST_SUFFIXES
from engine.job.hocon.parse import parse
from engine.job.hocon.substitution import resolve
from engine.job.load import bounded_by, read_file
from engine.job.model.settings import Settings
from engine.job.model.tree import ListNode, MapNode, Node, TextNode, plain
from sql.script.scripted_tests import read_tests

Records: TypeAlias = tuple[Mapping[str, Value], ...]


@dataclass(frozen=True, eq=False, slots=True)
class NamedRows:
    """Rows under a name: a query, or records. `span` is where they are written."""

    name: str
    rows: str | Records
    span: Span | None
    ordered: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class JobTest:
    """A test of the job in `job`."""

    name: str
    file: Path
    job: Path
    given: tuple[NamedRows, ...]
    expected: tuple[NamedRows, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


def find_tests(paths: list[str], diagnostics: Diagnostics) -> tuple[JobTest, ...]:
    """The tests below the paths; a test file without a job, or that cannot be read, is an error."""
    tests: list[JobTest] = []
    for path in map(Path, paths):
        files = (
            sorted(candidate for candidate in path.rglob("*") if candidate.name.endswith(TEST_SUFFIXES))
            if path.is_dir()
            else [path]
        )
        if not files or not path.exists():
            diagnostics.error(
                "PEN6005", f"no test of a job at `{path}`", help=f"tests end in {' or '.join(TEST_SUFFIXES)}"
            )
        for file in files if path.exists() else ():
            tests.extend(_tests(file, diagnostics))
    return tuple(tests)


def tests_of(job: Path, diagnostics: Diagnostics) -> tuple[JobTest, ...]:
    """The tests of a job, which are next to it."""
    files = (job.with_name(f"{job.stem}{suffix}") for suffix in TEST_SUFFIXES)
    return tuple(test for file in files if file.exists() for test in _tests(file, diagnostics) if test.job == job)


def _tests(file: Path, diagnostics: Diagnostics) -> Iterator[JobTest]:
    stem = file.name.rsplit(".test.", 1)[0]
    own = f".{file.suffix.lstrip('.')}"
    job = next(
        (file.with_name(stem + suffix) for suffix in (own, *SUFFIXES) if file.with_name(stem + suffix).exists()), None
    )
    source = read_file(file, diagnostics)
    if job is None:
        diagnostics.error(
            "PEN6005", f"no job belongs to the test `{file}`", help=f"a job `{stem}.sql` or `{stem}.conf` beside it"
        )
    if source is None or job is None:
        return
    if own == ".sql":
        for test in read_tests(PlacedText.verbatim(source, 0, len(source.text)), diagnostics):
            given = tuple(NamedRows(rows.name.value, rows.query.value, rows.query.span()) for rows in test.given)
            expected = tuple(
                NamedRows(rows.name.value, rows.query.value, rows.query.span(), rows.ordered) for rows in test.expected
            )
            if not expected:
                span = given[0].span if given else None
                diagnostics.error("PEN6005", "the test expects nothing", span, "EXPECT node AS SELECT …")
            yield JobTest(test.name, file, job, given, expected, dict(test.variables))
        return
    with bounded_by(file, Settings()):
        root = resolve(parse(source, diagnostics), diagnostics)
    tests = root.get("tests") if isinstance(root, MapNode) else None
    if not isinstance(tests, ListNode):
        diagnostics.error("PEN6005", f"`{file}` has no `tests = [ … ]`", root.place.span)
        return
    for node in tests.items:
        if isinstance(node, MapNode):
            yield _of_node(node, file, job, diagnostics)
        else:
            diagnostics.error("PEN6005", "a test is an object", node.place.span, f"{{ {_SHAPE} }}")


_SHAPE = "name = …, given { source = [{ … }] }, expect { node = [{ … }] }"
_KEYS = ("name", "given", "expect", "variables", "ordered")


def _of_node(node: MapNode, file: Path, job: Path, diagnostics: Diagnostics) -> JobTest:
    for entry in node.entries:
        if entry.key not in _KEYS:
            help = did_you_mean(entry.key, _KEYS)
            diagnostics.error("PEN6005", f"a test has no `{entry.key}`", entry.key_place.span, help)
    name = node.get("name")
    if node.get("expect") is None:
        diagnostics.error("PEN6005", "the test expects nothing", node.place.span, _SHAPE)
    ordered = plain(node.get("ordered") or ListNode((), node.place))
    names = {str(key) for key in ordered} if isinstance(ordered, list) else {str(ordered)}
    return JobTest(
        name.value if isinstance(name, TextNode) else "test", file, job,
        tuple(_rows("given", node.get("given"), set(), diagnostics)),
        tuple(_rows("expect", node.get("expect"), names, diagnostics)),
        _variables(node.get("variables"), diagnostics),
    )  # fmt: skip


def _variables(node: Node | None, diagnostics: Diagnostics) -> Mapping[str, str]:
    values = plain(node) if node is not None else {}
    if isinstance(values, Mapping):
        return {key: str(value) for key, value in values.items()}
    assert node is not None
    diagnostics.error("PEN6005", "`variables` is an object", node.place.span, "variables { name = value }")
    return {}


def _rows(key: str, node: Node | None, ordered: set[str], diagnostics: Diagnostics) -> Iterator[NamedRows]:
    if node is not None and not isinstance(node, MapNode):
        diagnostics.error("PEN6005", f"`{key}` is an object with a list of rows for each name", node.place.span, _SHAPE)
    for entry in node.entries if isinstance(node, MapNode) else ():
        items = entry.value.items if isinstance(entry.value, ListNode) else (entry.value,)
        records = [(item, plain(item)) for item in items]
        for item, record in records:
            if not isinstance(record, Mapping):
                help = f"{entry.key} = [{{ column = value }}]"
                diagnostics.error("PEN6005", f"the rows of `{entry.key}` are objects", item.place.span, help)
        rows = tuple(record for _, record in records if isinstance(record, Mapping))
        yield NamedRows(entry.key, rows, entry.key_place.span, entry.key in ordered)
