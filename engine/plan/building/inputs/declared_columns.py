"""Matches the columns of a query by name with declared ones, as Spark does for `INSERT INTO … BY NAME`."""

from collections.abc import Sequence

from catalog.diagnostics.diagnostic import Diagnostics, nearest
from catalog.diagnostics.source import PlacedText, Span
from catalog.options import Options, store_assignment
from catalog.quoting import quote
from catalog.tables.checked_cast import checked_cast
from catalog.tables.evolution import StoreAssignment
from catalog.tables.narrowing import report_narrowings
from catalog.tables.store_assignment import may_change
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import UNKNOWN
from catalog.types.typetext import TypeTextError, parse_type
from engine.job.script.query_blocks import inserted_query, stored_item
from sql.scopes.output_items import output_span
from sql.script.split_statements import read_script
from sql.script.statements import ColumnDefinition, CreateTable


def matched_by_name(
    query: PlacedText, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> PlacedText | None:
    """The query, which yields `table`, as one that yields the columns of the option `columns`; None if one of them has
    no counterpart, which is reported.

    As in Spark, a declared column that the query lacks has its default, or NULL where it may be NULL; a column of the
    query that is not declared is an error.
    """
    declared = _declared(options, diagnostics)
    if not declared:
        return None
    mark = diagnostics.mark()
    given = {column.name.lower() for column in table.columns}
    _refuse_surplus(query, table, [column.name.value for column in declared], diagnostics)
    for column in declared:
        name = column.name.value
        if not (column.nullable or column.default or table.is_open or name.lower() in given):
            message = f"the query has no `{name}`, which is declared NOT NULL without a default"
            help = f"add `{name}` to the query, or a DEFAULT to its declaration"
            diagnostics.error("PEN3004", message, options.span("columns"), help)
    policy = store_assignment(options)
    typed = CatalogTable.of(table.path.table, [_typed(column) for column in declared])
    count = len(table.columns)
    report_narrowings(
        policy,
        table,
        typed,
        diagnostics,
        place=lambda name: _place_of(query, [column.name for column in table.columns].index(name), count),
    )
    if mark.has_errors:
        return None
    items = [_item(column, table, typed, policy) for column in declared]
    return PlacedText.join([f"SELECT {', '.join(items)} FROM (", query, ")"])


def _item(column: ColumnDefinition, table: CatalogTable, typed: CatalogTable, policy: StoreAssignment) -> str:
    """What the SELECT list says for a declared column; a value that its type would change is an error of the run."""
    name = column.name.value
    given, target = table.column(name), typed.column(name)
    is_checked = policy is StoreAssignment.LOSSLESS and given is not None and target is not None
    if is_checked and given is not None and target is not None and may_change(given.type, target):
        return f"{checked_cast(quote(name), name, given.type, target)} AS {quote(name)}"
    return stored_item(column, table.is_open or given is not None)


def _typed(column: ColumnDefinition) -> Column:
    """The declared column; of an unknown type where the analysis of the query reports it."""
    try:
        type = parse_type(column.type.value) if column.type else UNKNOWN
    except TypeTextError:
        type = UNKNOWN
    return Column(column.name.value, type, column.nullable)


def _place_of(query: PlacedText, index: int, count: int) -> Span:
    own = inserted_query(query)
    return output_span(own, index, index, count) or own.span()


def _declared(options: Options, diagnostics: Diagnostics) -> list[ColumnDefinition]:
    """The columns that the definitions declare; none if one of them cannot be read, which is reported."""
    columns: list[ColumnDefinition] = []
    for definition in options.strings("columns"):
        report = Diagnostics()
        statements = read_script(PlacedText.bare(f"CREATE TABLE t ({definition})"), report)
        read = [
            column for statement in statements if isinstance(statement, CreateTable) for column in statement.columns
        ]
        if len(read) != 1 or report.items:
            help = "write its name and type, as in CREATE TABLE: `id INT NOT NULL`, `name STRING DEFAULT 'none'`"
            diagnostics.error("PEN2004", f"`{definition}` declares no column", options.span("columns"), help)
            return []
        columns += read
    return columns


def _refuse_surplus(query: PlacedText, table: CatalogTable, declared: Sequence[str], diagnostics: Diagnostics) -> None:
    """Report the columns of the query that are not declared, each where the query names it."""
    known, count = {name.lower() for name in declared}, len(table.columns)
    given = {column.name.lower() for column in table.columns}
    by_place: dict[Span, list[str]] = {}
    for index, column in enumerate(table.columns):
        if column.name.lower() not in known:
            place = output_span(query, index, index, count) or query.span()
            by_place.setdefault(place, []).append(column.name)
    free = [name for name in declared if name.lower() not in given]
    for place, names in by_place.items():
        listed = ", ".join(map(quote, names))
        them, are = ("it", "is") if len(names) == 1 else ("them", "are")
        message = f"{listed} {are} not among the declared columns {', '.join(map(quote, declared))}"
        similar = nearest(names[0], free) if len(names) == 1 else None
        help = f"did you mean `{similar}`?" if similar else f"leave {them} out of the query, or declare {them}"
        diagnostics.error("PEN3004", message, place, help)
