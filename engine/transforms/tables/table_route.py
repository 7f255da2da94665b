"""`TableRoute`: rows that carry the name of their table become a set of tables.

TableRoute {
  plugin_input = "changes", plugin_output = "crm"
  table_column = "table_name"
  tables_configs = [
    { schema { table = "shop.orders", fields { id = bigint, amount = "decimal(10,2)" } } }
    { schema { table = "shop.people", fields { id = bigint, name = string } } }
  ]
}
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import Span
from catalog.options import Option, Options, OptionType, Value
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable, Column, TablePath, TableSchema
from catalog.tables.violation import OnViolation
from catalog.types.datatypes import STRING, Map, Struct, has_unknown
from catalog.types.typenames import to_ddl
from connectors.interface.schema_option import declared_table
from engine.transforms.base import Route, check_columns
from sql.rewrite.select_query import Projection, Select

_ENTRY_KEYS = ("schema", "value")


class TableRoute:
    name: ClassVar[str] = "TableRoute"
    doc: ClassVar[str] = (
        "Make a set of tables of rows that carry the name of their table in a column. Each table has columns of its "
        "own. The rows are read once, where that costs less than to read them for each table."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("table_column", OptionType.STRING, "The column with the name of each row's table.", required=True),
        Option(
            "tables_configs",
            OptionType.LIST,
            'The tables: `{ schema { table = "database.table", fields { … } }, value = "…" }`. `value` is what '
            "`table_column` holds for its rows, by default the name in `schema.table`. Without `fields`, "
            "a table has all columns of the input but `table_column`.",
            required=True,
            element=OptionType.MAP,
        ),
        Option(
            "data_column",
            OptionType.STRING,
            "A column that holds the row itself: a struct, a map, or a text in JSON. Without it, the columns of a "
            "table are columns of the input.",
        ),
        Option(
            "unknown_tables",
            OptionType.STRING,
            "What rows of no listed table do: fail the job, be dropped with or without a warning, or go into the "
            "output that `quarantine` names. They are counted.",
            default=OnViolation.FAIL.value,
            choices=tuple(action.value for action in OnViolation),
        ),
        Option("quarantine", OptionType.STRING, "The output for rows of no listed table, with `QUARANTINE`."),
    )

    def on_unknown_table(self, options: Options, diagnostics: Diagnostics) -> tuple[OnViolation, str | None]:
        action, into = options.choice("unknown_tables", OnViolation), options.optional_string("quarantine")
        if (action is OnViolation.QUARANTINE) != (into is not None):
            place = options.span("quarantine" if into is not None else "unknown_tables")
            help = "unknown_tables = QUARANTINE, quarantine = strays; a sink then reads `strays`"
            diagnostics.error("PEN2011", "`QUARANTINE` and `quarantine` need each other", place, help)
        return action, into

    def routes(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> tuple[Route, ...] | None:
        mark = diagnostics.mark()
        key = options.string("table_column")
        named = {key: "table_column"}
        if data := options.optional_string("data_column"):
            named[data] = "data_column"
        column = table.column(key)
        if check_columns(table, named, options, diagnostics) and column is not None and column.type != STRING:
            message = f"`table_column` must be a string, and `{key}` is {column.type}"
            diagnostics.error("PEN3008", message, options.span("table_column"), "cast it in a query before")
        routes = tuple(self._routes(table, options, diagnostics))
        _refuse_equal_values(routes, options, diagnostics)
        return routes if mark.is_last else None

    def _routes(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Iterator[Route]:
        entries = options["tables_configs"]
        for index, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
            own = _entry(options, index, entry if isinstance(entry, Mapping) else {})
            for key in own.values:
                if key not in _ENTRY_KEYS:
                    help = did_you_mean(key, _ENTRY_KEYS)
                    diagnostics.error("PEN2003", f"a table has no option `{key}`", own.key_span(key), help)
            declared = _declared(table, options, own, diagnostics)
            if declared is None:
                continue
            value = own.get("value")
            value = str(own.mapping("schema")["table"] if value is None else value)
            if not value:
                diagnostics.error("PEN2004", "`value` is empty", own.span("value"), 'value = "orders"')
            projections = tuple(_projections(table, declared, options, own, diagnostics))
            predicate = f"{quote(options.string('table_column'))} = {quote_text(value)}"
            yield Route(value, declared, Select(table.path.table, projections, (predicate,)))


def _entry(options: Options, index: int, values: Mapping[str, Value]) -> Options:
    """One entry of `tables_configs` as the options of a block."""
    prefix = f"tables_configs.{index}."

    def own(places: Mapping[str, Span]) -> dict[str, Span]:
        return {name.removeprefix(prefix): place for name, place in places.items() if name.startswith(prefix)}

    texts = {name.removeprefix(prefix): text for name, text in options.texts.items() if name.startswith(prefix)}
    block = options.places.get(prefix[:-1]) or options.span("tables_configs")
    return replace(
        options, values=values, block=block, places=own(options.places), texts=texts,
        key_places=own(options.key_places),
    )  # fmt: skip


def _declared(table: CatalogTable, options: Options, own: Options, diagnostics: Diagnostics) -> CatalogTable | None:
    """The table of an entry; without columns of its own, with those of the input."""
    named = own.mapping("schema").get("table")
    if named is None:
        help = 'schema { table = "database.table", fields { … } }'
        diagnostics.error("PEN2005", "a table needs a name: `schema.table`", own.span("schema"), help)
        return None
    mark = diagnostics.mark()
    declared = declared_table(own, str(named), diagnostics)
    if declared is not None or not mark.is_last:
        return declared
    if options.optional_string("data_column"):
        message = f"`{named}` needs `fields`: they are not known from `data_column`"
        diagnostics.error("PEN2005", message, own.span("schema"), "fields { id = bigint, name = string }")
        return None
    try:
        path = TablePath.parse(str(named))
    except ValueError as cause:
        diagnostics.error("PEN2004", str(cause), own.span("schema.table"))
        return None
    key = options.string("table_column").lower()
    columns = tuple(column for column in table.columns if column.name.lower() != key)
    return CatalogTable(path, TableSchema(columns), is_open=table.is_open)


def _projections(
    table: CatalogTable, declared: CatalogTable, options: Options, own: Options, diagnostics: Diagnostics
) -> Iterator[Projection]:
    data = options.optional_string("data_column")
    holder = table.column(data) if data else None
    if data and holder is None:
        return  # reported: there is no such column
    for column in declared.columns:
        if has_unknown(column.type):
            continue  # reported: the schema has no such type
        if holder is None:
            value = _of_input(table, column, own, diagnostics)
        else:
            value = _of_data(holder, declared, column, own, diagnostics)
        if value is None:
            continue
        given = table.column(column.name) if holder is None else None
        if not column.nullable and (given is None or given.nullable):
            said = quote_text(f"TableRoute: `{column.name}` of `{declared.path}` is NULL")
            value = f"coalesce({value}, raise_error({said}))"
        yield Projection(column.name, value)


def _of_input(table: CatalogTable, column: Column, own: Options, diagnostics: Diagnostics) -> str | None:
    """A column of the input, in the type that the table has for it."""
    given = table.column(column.name)
    if given is None:
        if not table.is_open:
            message = f"column `{column.name}` does not exist in `{table.path.table}`"
            place = own.key_span(f"schema.fields.{column.name}")
            diagnostics.error("PEN3004", message, place, did_you_mean(column.name, table.schema.names))
            return None
        return f"cast({quote(column.name)} as {to_ddl(column.type)})"
    value = quote(given.name)
    return value if given.type == column.type else f"cast({value} as {to_ddl(column.type)})"


def _of_data(
    holder: Column, declared: CatalogTable, column: Column, own: Options, diagnostics: Diagnostics
) -> str | None:
    """A field of the column that holds the row."""
    name = quote(holder.name)
    match holder.type:
        case Struct(fields):
            field = next((candidate for candidate in fields if candidate.name.lower() == column.name.lower()), None)
            if field is None:
                place = own.key_span(f"schema.fields.{column.name}")
                help = did_you_mean(column.name, [candidate.name for candidate in fields])
                diagnostics.error("PEN3005", f"`{holder.name}` has no field `{column.name}`", place, help)
                return None
            return f"cast({name}.{quote(field.name)} as {to_ddl(column.type)})"
        case Map():
            return f"cast({name}[{quote_text(column.name)}] as {to_ddl(column.type)})"
        case _ if holder.type == STRING:
            fields_declared = [(field.name, field.type) for field in declared.columns if not has_unknown(field.type)]
            schema = ", ".join(f"{quote(name)} {to_ddl(type)}" for name, type in fields_declared)
            return f"from_json({name}, {quote_text(schema)}, map('mode', 'FAILFAST')).{quote(column.name)}"
        case _:
            message = f"`{holder.name}` is {holder.type}: `data_column` is a struct, a map or a text in JSON"
            diagnostics.error("PEN3008", message, own.span())
            return None


def _refuse_equal_values(routes: tuple[Route, ...], options: Options, diagnostics: Diagnostics) -> None:
    first: dict[str, Route] = {}
    for index, route in enumerate(routes):
        other = first.setdefault(route.value, route)
        if other is not route:
            message = f"rows of `{route.value}` would go into `{other.table.path}` and `{route.table.path}`"
            place = options.places.get(f"tables_configs.{index}") or options.span("tables_configs")
            diagnostics.error("PEN2006", message, place, "list each value once")


transform = TableRoute()
