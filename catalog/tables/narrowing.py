"""Reports columns whose values the type of the target may change, before any row is read."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity
from catalog.diagnostics.source import Span
from catalog.tables.evolution import Problem, SchemaEvolution, StoreAssignment, fits
from catalog.tables.store_assignment import can_up_cast, may_change, seconds_digits, shown_type, stored_column
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, is_numeric
from catalog.types.typenames import ddl_or_unknown, quote_name


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A column whose values the target's type may change."""

    column: str
    source: DataType
    target: Column

    def __str__(self) -> str:
        return f"`{self.column}` is {self.source}, and {shown_type(self.target)} in the target"

    @property
    def remedy(self) -> str:
        return f"cast it in the query: `{cast_of(self.column, self.target)}`"


def narrowings(
    incoming: CatalogTable, target: CatalogTable, evolution: SchemaEvolution = SchemaEvolution.FAIL
) -> Iterator[Narrowing]:
    """The columns of the rows that may lose something in the target, in its order; not those of untyped texts."""
    for column, given in _pairs(incoming, target):
        if given.type != STRING and may_change(given.type, stored_column(column, given.type, evolution)):
            yield Narrowing(given.name, given.type, column)


def known_loss(source: DataType, target: Column) -> bool:
    """Whether a number, or a timestamp in a date, may change in a column as a source of the table declares it: other
    types of databases have several of Spark's."""
    is_cut = source in (TIMESTAMP, TIMESTAMP_NTZ) and target.type == DATE
    are_numbers = is_numeric(source) and is_numeric(target.type)
    return is_cut or (are_numbers and may_change(source, target))


def not_wider(
    incoming: CatalogTable, target: CatalogTable, evolution: SchemaEvolution = SchemaEvolution.FAIL
) -> Iterator[Narrowing]:
    """The columns that `strict` refuses."""
    for column, given in _pairs(incoming, target):
        if not can_up_cast(given.type, stored_column(column, given.type, evolution).type):
            yield Narrowing(given.name, given.type, column)


def remedy_of(problem: Problem, incoming: CatalogTable, target: CatalogTable, evolutions: Iterable[str]) -> str:
    """How the rows or the target could be changed so that they fit, without loss of rows; `evolutions`: those that the
    sink can do."""
    for evolution in evolutions:
        if problem not in fits(incoming.schema, target.schema, evolution):
            return f"schema_evolution = {evolution} changes the target and keeps its rows"
    if target.column(problem.column) is None:
        return f"leave `{problem.column}` out of the query, or add the column to the target first"
    if not incoming.is_open and incoming.column(problem.column) is None:
        return f"add `{problem.column}` to the query, or give the column a default in the target"
    return f"cast `{problem.column}` in the query to the target's type"


def left_out(incoming: CatalogTable, target: CatalogTable) -> Iterator[Column]:
    """The columns of the target that the rows lack, and that no default fills: they are written as NULL."""
    for column in target.columns:
        if column.nullable and column.default is None and incoming.column(column.name) is None:
            yield column


def left_out_warning(name: str, incoming: CatalogTable, target: CatalogTable, place: Span | None) -> Diagnostic | None:
    """The warning (PEN4454) of columns that the rows `name` lack: NULL in new rows, and in those that an upsert
    updates."""
    missing = list(left_out(incoming, target))
    if not missing:
        return None
    listed = ", ".join(f"`{column.name}`" for column in missing)
    message = f"rows of `{name}` lack {listed} of the target: NULL is written there"
    nulls = f"CAST(NULL AS {ddl_or_unknown(missing[0].type)}) AS {quote_name(missing[0].name)}"
    help = f"add it to the query, or say that it is meant: `{nulls}`"
    return Diagnostic("PEN4454", message, place, help, Severity.WARNING)


def report_narrowings(
    policy: StoreAssignment,
    incoming: CatalogTable,
    target: CatalogTable,
    diagnostics: Diagnostics,
    *,
    evolution: SchemaEvolution = SchemaEvolution.FAIL,
    place: Callable[[str], Span | None],
) -> None:
    """Warn of columns that may lose something (PEN4501); under `strict`, refuse what is not wider (PEN4003). `place`:
    where a column of the rows is written."""
    match policy:
        case StoreAssignment.LOSSLESS:
            for found in narrowings(incoming, target, evolution):
                message = f"{found}: the run fails at a value that does not fit without loss"
                diagnostics.warning("PEN4501", message, place(found.column), found.remedy)
        case StoreAssignment.STRICT:
            for found in not_wider(incoming, target, evolution):
                message = f"{found}, which `store_assignment = strict` refuses"
                diagnostics.error("PEN4003", message, place(found.column), found.remedy)
        case StoreAssignment.ANSI:
            pass


def cast_of(name: str, target: Column) -> str:
    """The cast that a query needs, for messages."""
    digits = seconds_digits(target)
    if digits is not None:
        return f"date_trunc('{'SECOND' if digits < 3 else 'MILLISECOND'}', {quote_name(name)})"
    return f"CAST({quote_name(name)} AS {ddl_or_unknown(target.type)})"


def _pairs(incoming: CatalogTable, target: CatalogTable) -> Iterator[tuple[Column, Column]]:
    for column in target.columns:
        given = incoming.column(column.name)
        if given is not None:
            yield column, given
