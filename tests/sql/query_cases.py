"""The cases of the `.test` files beside and below this one, in folders that mirror the modules of `sql/`.

    -- the key of a USING join comes first in u.*
    select u.* from t join u using (a)
    = a int not null, id bigint not null, c int

A case is a title, a query, and what `analyze` reports about it: its columns after `=`, or a line `! CODE text message`
for each error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BIGINT, DATE, INT, STRING, Array, Decimal, Field, Map, Struct
from sql.analyze import analyze
from tests.oracle.tables import ALL

FOLDER = Path(__file__).parent
LONGEST_TITLE = 80

_STRUCT = Struct((Field("x", INT), Field("y", STRING), Field("z", Struct((Field("w", INT),)))))
TABLES = {
    "t": CatalogTable.of(
        "t",
        [
            Column("id", BIGINT, False),
            Column("a", INT),
            Column("b", STRING),
            Column("s", _STRUCT),
            Column("arr", Array(INT)),
            Column("m", Map(STRING, INT)),
            Column("ps", Array(_STRUCT)),
        ],
    ),
    "u": CatalogTable.of("u", [Column("id", BIGINT, False), Column("c", INT), Column("a", INT, False)]),
    "v": CatalogTable.of(
        "v", [Column("id", INT), Column("d", STRING, False), Column("dt", DATE), Column("money", Decimal(10, 2))]
    ),
    **{table.path.table: table for table in ALL},
}


@dataclass(frozen=True)
class Case:
    path: Path
    title: str
    query: str
    expected: str

    def __str__(self) -> str:
        """`binding/joins/using: <title>`, the id of the case in pytest."""
        return f"{self.path.relative_to(FOLDER).with_suffix('')}: {self.title}"

    def text(self) -> str:
        return f"-- {self.title}\n{self.query}\n{self.expected}"

    def check(self, actual: str, update: bool) -> None:
        """Compare `actual` with the expectation of the file; with `update`, write it there."""
        if update:
            write(self.path, [replace(c, expected=actual) if c.title == self.title else c for c in read(self.path)])
        else:
            assert actual == self.expected, self.query


def all_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.rglob("*.test")) for case in read(path)]


def read(path: Path) -> list[Case]:
    """The cases of a file; ValueError where one has no title, or the title of another one."""
    cases: list[Case] = []
    for case in _cases(path):
        if not 0 < len(case.title) <= LONGEST_TITLE:
            raise ValueError(f"{path}: begin with `-- <title>`, at most {LONGEST_TITLE} characters:\n{case.text()}")
        if any(case.title == other.title for other in cases):
            raise ValueError(f"{path}: two cases have the title {case.title!r}")
        cases.append(case)
    return cases


def write(path: Path, cases: Sequence[Case]) -> None:
    path.write_text("\n\n".join(case.text() for case in cases) + "\n")


def _cases(path: Path) -> Iterator[Case]:
    for block in path.read_text().strip("\n").split("\n\n"):
        lines = block.split("\n")
        title = lines.pop(0).removeprefix("-- ").strip() if lines[0].startswith("-- ") else ""
        first = next((number for number, line in enumerate(lines) if line.startswith(("= ", "! "))), len(lines))
        yield Case(path, title, "\n".join(lines[:first]), "\n".join(lines[first:]))


def analysis_text(query: str) -> str:
    """What `analyze` reports about a query, as the files have it."""
    analysis = analyze(PlacedText.bare(query), TABLES)
    errors = [diagnostic for diagnostic in analysis.diagnostics if diagnostic.severity is Severity.ERROR]
    if not errors:
        return f"= {', '.join(map(str, analysis.columns))}" + (" ..." if analysis.table.is_open else "")
    lines = query.split("\n")
    return "\n".join(f"! {error.code} {_texts(lines, error)} {error.message}" for error in errors)


def _texts(lines: list[str], diagnostic: Diagnostic) -> str:
    return ", ".join(f"`{_text(lines, span)}`" for span in (diagnostic.span, *diagnostic.also))


def _text(lines: list[str], span) -> str:
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    return lines[span.line - 1][span.column - 1 :] + "..."
