"""The `rows` option of FakeSource: each row's values as Spark SQL of its columns' types."""

from collections.abc import Iterator, Mapping, Sequence

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import Span
from catalog.options import Options, Value
from catalog.tables.row_kind import RowKind
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import has_unknown
from connectors.shared.literals import LiteralError, as_in_seatunnel, literal
from connectors.shared.tolerated import report_tolerated


def listed_rows(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> list[list[str]]:
    """The rows, column by column; invalid ones are reported."""
    found = []
    for index, row in enumerate(_list(options.get("rows"))):
        location = f"rows.{index}"
        values = dict(_values(row, location, table, options, diagnostics))
        found.append(
            [
                _literal(values.get(name), name, location, table=table, options=options, diagnostics=diagnostics)
                for name in table.schema.names
            ]
        )
    return found


def row_kinds(options: Options, diagnostics: Diagnostics) -> list[RowKind]:
    """The kind of every listed row."""
    kinds = []
    for index, row in enumerate(_list(options.get("rows"))):
        text = row.get("kind") if isinstance(row, Mapping) else None
        try:
            kinds.append(RowKind.INSERT if text is None else RowKind.parse(str(text)))
        except ValueError as cause:
            diagnostics.error("PEN2004", str(cause), _span(f"rows.{index}.kind", options))
            kinds.append(RowKind.INSERT)
    return kinds


def _values(
    row: Value, location: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> Iterator[tuple[str, Value]]:
    """The values of a row with their columns; `fields` is a list in the schema's order, or a block by name."""
    fields = row.get("fields") if isinstance(row, Mapping) else row
    if isinstance(fields, Mapping):
        for name, value in fields.items():
            column = table.column(name)
            if column is not None:
                yield column.name, value
            else:
                span = options.key_places.get(f"{location}.fields.{name}") or _span(location, options)
                message, help = f"the schema has no column `{name}`", did_you_mean(name, table.schema.names)
                report_tolerated(options, diagnostics, "PEN3004", message, span, help=help)
        return
    values = _list(fields)
    if len(values) != len(table.columns):
        message = f"the row has {len(values)} fields, the schema {len(table.columns)} columns"
        report_tolerated(options, diagnostics, "PEN2004", message, _span(f"{location}.fields", options))
    yield from zip(table.schema.names, values, strict=False)


def _literal(
    value: Value, name: str, location: str, *, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> str:
    column = table.column(name)
    assert column is not None
    if has_unknown(column.type):  # the type in the schema has an error, which is reported there
        return "NULL"
    try:
        read = as_in_seatunnel(value, column.type) if options.seatunnel else value
        if read is not value:
            message = f"the value of `{name}` is a text: SeaTunnel reads it as a map without entries"
            diagnostics.warning("PEN2004", message, _span(location, options), "write a block: { key = value }")
        return literal(read, column.type)
    except LiteralError as cause:
        position = table.schema.names.index(name)
        at = next(
            (key for key in (f"{location}.fields.{position}", f"{location}.fields.{name}") if key in options.places),
            location,
        )
        diagnostics.error("PEN2004", f"the value of `{name}`, `{value}`, {cause}", _span(at, options))
        return "null"


def _list(value: Value) -> Sequence[Value]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else []


def _span(location: str, options: Options) -> Span | None:
    return options.places.get(location) or options.span("rows")
