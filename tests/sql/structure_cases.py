"""The cases of `structure/*.test`: a query, then `= column type, ...` or one `! CODE text message` per error."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catalog.datatypes import BIGINT, DATE, INT, STRING, Array, Decimal, Field, Map, Struct
from catalog.diagnostics import Diagnostic, Severity
from catalog.source import PlacedText
from catalog.table import CatalogTable, Column
from sql.analyze import analyze
from tests.oracle.tables import ALL

FILES = sorted(Path(__file__).with_name("structure").glob("*.test"))

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
    query: str
    expected: str


def read(path: Path) -> Iterator[Case]:
    for block in path.read_text().strip().split("\n\n"):
        lines = block.split("\n")
        first = next((number for number, line in enumerate(lines) if line.startswith(("= ", "! "))), len(lines))
        yield Case("\n".join(lines[:first]), "\n".join(lines[first:]))


def said(query: str) -> str:
    """What `analyze` says, as the files have it."""
    found = analyze(PlacedText.bare(query), TABLES)
    errors = [each for each in found.diagnostics if each.severity is Severity.ERROR]
    if not errors:
        return f"= {', '.join(map(str, found.columns))}" + (" ..." if found.table.is_open else "")
    lines = query.split("\n")
    return "\n".join(f"! {each.code} {_texts(lines, each)} {each.message}" for each in errors)


def _texts(lines: list[str], diagnostic: Diagnostic) -> str:
    return ", ".join(f"`{_text(lines, span)}`" for span in (diagnostic.span, *diagnostic.also))


def _text(lines: list[str], span) -> str:
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    return lines[span.line - 1][span.column - 1 :] + "..."
