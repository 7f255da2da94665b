"""Matches the columns of a sink's further inputs with those of its first one, by position or by name.

As Spark stores rows in a table: as many columns, each cast to the type that it goes into.
"""

from dataclasses import dataclass, replace

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText, Span
from catalog.quoting import quote
from catalog.tables.checked_cast import checked_cast
from catalog.tables.evolution import StoreAssignment, can_store
from catalog.tables.narrowing import report_narrowings
from catalog.tables.store_assignment import may_change
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import VOID, has_unknown
from catalog.types.typenames import to_ddl
from engine.job.model.job import ColumnMatch, Reference
from engine.plan.building.inputs.output_tables import like_input, with_untyped
from engine.plan.nodes import Input, Node, Query
from sql.analyze import analyze
from sql.rewrite.select_query import Projection, Select
from sql.scopes.output_items import output_span
from sql.types.casts import can_cast


@dataclass(frozen=True, slots=True)
class First:
    """The first input of a sink: its table, and the location where the job names it."""

    table: CatalogTable
    span: Span | None

    def __str__(self) -> str:
        return f"the first rows (line {self.span.line})" if self.span else "the first rows"


def matched(
    node: Node, first: First, reference: Reference, diagnostics: Diagnostics, policy: StoreAssignment
) -> Node | None:
    """The input with the names and types of the first one's columns; None if they do not match, which is reported.

    An input whose columns are not known, or that has two of one name, stays as it is. `policy`: what happens to values
    that the first one's types would change.
    """
    if node.table.is_open or first.table.is_open or node.table.repeated or first.table.repeated:
        return node
    columns = _in_order(node, first, reference, diagnostics)
    if columns is None or not _can_store(node, columns, first, reference, diagnostics):
        return None
    if reference.match is ColumnMatch.POSITION:
        _warn_of_order(node, first, reference, diagnostics)
    pairs = list(zip(columns, first.table.columns, strict=True))
    named_so = [replace(column, name=target.name) for column, target in pairs]
    mark = diagnostics.mark()
    report_narrowings(
        policy,
        CatalogTable.of(node.name, named_so),
        first.table,
        diagnostics,
        place=lambda name: _place_of(node, columns[first.table.schema.names.index(name)], reference),
    )
    if mark.has_errors:
        return None
    if columns == node.table.columns and all(_is_equal(column, target) for column, target in pairs):
        return node
    select = Select(
        node.name, tuple(Projection(target.name, _stored(column, target, policy)) for column, target in pairs)
    )
    inputs = (Input(node.name, node),)
    analysis = analyze(select.to_text(), {node.name: node.table.renamed(node.name)}, output=node.name)
    analysis = with_untyped(replace(analysis, table=like_input(analysis.table, node.table, select)), inputs)
    return Query(f"{node.name}_matched", "match_columns", select, inputs, analysis, span=reference.span)


def _in_order(node: Node, first: First, reference: Reference, diagnostics: Diagnostics) -> tuple[Column, ...] | None:
    """The columns of the input, each at the position of the column that it goes into."""
    given, wanted = node.table.columns, first.table.columns
    by_name = {column.name.lower(): column for column in given}
    names = [column.name.lower() for column in wanted]
    if reference.match is ColumnMatch.NAME:
        if set(by_name) == set(names):
            return tuple(by_name[name] for name in names)
        _report_names(node, first, reference, diagnostics)
        return None
    if len(given) != len(wanted):
        message = f"{_counted(given)} for the {_counted(wanted)} of {first}: {_listed(wanted)}"
        place = (len(wanted), len(given) - 1) if len(given) > len(wanted) else (0, len(given) - 1)
        help = "columns are matched by position: give one for each, NULL where there is no value"
        diagnostics.error("PEN2012", message, _place(node, *place, reference), help)
        return None
    return given


def _warn_of_order(node: Node, first: First, reference: Reference, diagnostics: Diagnostics) -> None:
    """Warn of columns that have the names of the first rows in another order: they may be meant by name."""
    given, wanted = node.table.columns, first.table.columns
    moved = [at for at, target in enumerate(wanted) if given[at].name.lower() != target.name.lower()]
    if moved and {column.name.lower() for column in given} == {column.name.lower() for column in wanted}:
        column, target = given[moved[0]].name, wanted[moved[0]].name
        message = f"`{column}` goes into the column `{target}`: columns are matched by position"
        help = f"{_by_name(reference)}, or select {_listed(wanted)}; if it is meant, write `{column} AS {target}`"
        diagnostics.warning("PEN2017", message, _place(node, moved[0], moved[0], reference), help)


def _report_names(node: Node, first: First, reference: Reference, diagnostics: Diagnostics) -> None:
    """Report columns that the first rows do not have, or else those that are missing."""
    given, wanted = node.table.columns, first.table.columns
    known = [column.name for column in wanted]
    for index, column in enumerate(given):
        if first.table.column(column.name) is None:
            message = f"{first} have no column `{column.name}`"
            help = did_you_mean(column.name, known) or f"they have {_listed(wanted)}"
            diagnostics.error("PEN2012", message, _place(node, index, index, reference), help)
            return
    missing = tuple(column for column in wanted if node.table.column(column.name) is None)
    message = f"no value for {_listed(missing)}, which {first} have"
    help = f"add `NULL AS {missing[0].name}`, or the value"
    diagnostics.error("PEN2012", message, _place(node, 0, len(given) - 1, reference), help)


def _can_store(
    node: Node, columns: tuple[Column, ...], first: First, reference: Reference, diagnostics: Diagnostics
) -> bool:
    """Whether each column has a type that Spark writes into that of its target; the first that has not is reported."""
    for column, target in zip(columns, first.table.columns, strict=True):
        if can_store(column.type, target.type) or has_unknown(column.type) or has_unknown(target.type):
            continue
        at = node.table.columns.index(column)
        message = f"`{column.name}` is {column.type}, and `{target.name}` of {first} is {target.type}"
        diagnostics.error("PEN2012", message, _place(node, at, at, reference), _remedy(column, target, reference))
        return False
    return True


def _remedy(column: Column, target: Column, reference: Reference) -> str:
    if target.type == VOID:
        return f"give the first rows a type: `CAST(NULL AS {column.type}) AS {target.name}`"
    is_castable = can_cast(column.type, target.type)
    cast = f"cast it: `CAST({column.name} AS {target.type})`" if is_castable else f"give a value of type {target.type}"
    is_moved = reference.match is ColumnMatch.POSITION and column.name.lower() != target.name.lower()
    return f"{cast}; where the order differs, {_by_name(reference)}" if is_moved else cast


def _is_equal(column: Column, target: Column) -> bool:
    return column.name == target.name and not differ_in_type(column, target)


def differ_in_type(column: Column, target: Column) -> bool:
    """Whether the types differ in more than whether elements may be null, which a union widens."""
    return str(column.type) != str(target.type) and not (has_unknown(column.type) or has_unknown(target.type))


def _stored(column: Column, target: Column, policy: StoreAssignment) -> str:
    name = quote(column.name)
    if not differ_in_type(column, target):
        return name
    if policy is StoreAssignment.LOSSLESS and may_change(column.type, target):
        return checked_cast(name, column.name, column.type, target)
    return f"CAST({name} AS {to_ddl(target.type)})"


def _place_of(node: Node, column: Column, reference: Reference) -> Span | None:
    at = node.table.columns.index(column)
    return _place(node, at, at, reference)


def _place(node: Node, start: int, end: int, reference: Reference) -> Span | None:
    """Where the columns are written, if the query stands where the input is named, as in an INSERT; else that place."""
    if isinstance(node, Query) and isinstance(node.body, PlacedText) and _holds(reference.span, node.body.span()):
        return output_span(node.body, start, end, len(node.table.columns)) or reference.span
    return reference.span


def _holds(outer: Span | None, inner: Span) -> bool:
    if outer is None or outer.file != inner.file:
        return False
    starts_in = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts_in and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def _by_name(reference: Reference) -> str:
    is_script = reference.span is not None and reference.span.file.lower().endswith(".sql")
    return f"match them by name: `{'INSERT INTO … BY NAME' if is_script else 'match_columns = name'}`"


def _counted(columns: tuple[Column, ...]) -> str:
    return f"{len(columns)} column{'s' * (len(columns) != 1)}"


def _listed(columns: tuple[Column, ...]) -> str:
    return ", ".join(f"`{column.name}`" for column in columns)
