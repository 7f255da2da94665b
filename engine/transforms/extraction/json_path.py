"""`JsonPath`: values out of JSON texts, and out of nested columns, into columns of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType, Value
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import BINARY, STRING, Array, DataType, Map, Struct
from catalog.types.typenames import TypeTextError, to_ddl, to_spark, type_of_value
from engine.functions.json_queries import PathError, parse
from engine.transforms.base import check_columns, with_columns
from engine.transforms.support.simple_json_path import Steps, steps_of
from engine.transforms.support.tolerant_json import strict_json
from sql.rewrite.select_query import Select

_COLUMN_KEYS: Final = ("src_field", "dest_field", "path", "dest_type", "column_error_handle_way")
_ROW_WAYS: Final = ("FAIL", "SKIP", "ROUTE_TO_TABLE")
_COLUMN_WAYS: Final = ("FAIL", "SKIP", "SKIP_ROW")


@dataclass(frozen=True, slots=True)
class _Column:
    """One output column; `way` is what an error in it does: FAIL, SKIP (NULL) or SKIP_ROW."""

    source: str
    path: str
    name: str
    type: DataType
    way: str
    place: str


class JsonPath:
    name: ClassVar[str] = "JsonPath"
    doc: ClassVar[str] = (
        "Extract values by JSON path into new columns, from a JSON text or from an array, map or row. A path that the "
        "text does not have, and a value that does not fit the type, are errors: the job fails, the row is skipped, or "
        "the column is NULL. Filters, slices, `..` and functions (`$.items[?(@.price < 10)].name`, `$.items.length()`) "
        "work as in Jayway's JsonPath; Python computes them."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "columns",
            OptionType.LIST,
            "List of `{src_field, path, dest_field, dest_type = string, column_error_handle_way}`; `path`, "
            "`dest_field` and `dest_type` may be lists of equal length, or texts with `;` between the parts. "
            "`column_error_handle_way` is `FAIL`, `SKIP` or `SKIP_ROW`.",
            required=True,
            element=OptionType.MAP,
        ),
        Option(
            "row_error_handle_way",
            OptionType.STRING,
            "What an error in a column without its own way does: `FAIL`, or `SKIP` the row. `ROUTE_TO_TABLE` fails, as "
            "there.",
            default="FAIL",
            choices=_ROW_WAYS,
        ),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        mark = diagnostics.mark()
        columns = _columns(options, diagnostics)
        sources = {column.source: f"{column.place}.src_field" for column in columns}
        if mark.has_errors or not check_columns(table, sources, options, diagnostics) or table.is_open:
            return None
        added: dict[str, str] = {}
        predicates: list[str] = []
        for column in columns:
            extracted = _extracted(column, table, options, diagnostics)
            if extracted is None:
                return None
            added[column.name], predicate = extracted
            predicates += [predicate] if predicate else []
        select = with_columns(table, added)
        return Select(select.source, select.projections, tuple(predicates))


def _columns(options: Options, diagnostics: Diagnostics) -> list[_Column]:
    found: list[_Column] = []
    value = options["columns"]
    row_way = "SKIP_ROW" if options.string("row_error_handle_way") == "SKIP" else "FAIL"
    for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
        place = f"columns.{index}"
        if isinstance(item, Mapping):
            found += _of_block(item, place, row_way, options, diagnostics)
    return found


def _of_block(
    block: Mapping[str, Value], place: str, row_way: str, options: Options, diagnostics: Diagnostics
) -> list[_Column]:
    missing = [key for key in ("src_field", "dest_field", "path") if block.get(key) is None]
    if missing:
        diagnostics.error("PEN2005", f"a column of `JsonPath` needs `{missing[0]}`", options.span(place))
        return []
    way = str(block.get("column_error_handle_way") or row_way).upper()
    if way not in _COLUMN_WAYS:
        span = options.span(f"{place}.column_error_handle_way")
        diagnostics.error("PEN2004", "`column_error_handle_way` must be `FAIL`, `SKIP` or `SKIP_ROW`", span)
        return []
    names = _listed(block["dest_field"])
    separated = len(names) > 1
    paths = _listed(block["path"], separated=separated)
    types = _listed(block.get("dest_type") or "string", separated=separated)
    types = types * len(paths) if len(types) == 1 else types
    if not len(paths) == len(names) == len(types):
        message = f"{len(paths)} paths, {len(names)} fields and {len(types)} types: they must be equally many"
        diagnostics.error("PEN2004", message, options.span(f"{place}.path"))
        return []
    found = []
    for path, name, text in zip(paths, names, types, strict=True):
        try:
            type = type_of_value(text).type
        except TypeTextError as error:
            diagnostics.error("PEN4001", str(error), options.span(f"{place}.dest_type"))
            continue
        found.append(_Column(str(block["src_field"]), str(path), str(name), type, way, place))
    return found


def _listed(value: Value, *, separated: bool = True) -> list[Value]:
    """The parts of a list, or of a text with `;` between them: a path alone may have a `;` of its own."""
    if isinstance(value, str) and separated:
        return [part.strip() for part in value.split(";")]
    return list(value) if isinstance(value, list | tuple) else [value]


def _extracted(
    column: _Column, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> tuple[str, str | None] | None:
    """The column's expression, and the predicate that rows must keep where an error skips them."""
    source = table.column(column.source)
    steps, rest = steps_of(column.path)
    if source is None or (rest and not _can_be_read(column.path)):
        diagnostics.error(
            "PEN2004", f"`{column.path}` is not a path that can be read", options.span(f"{column.place}.path"),
            "for example `$.items[0].price`, `$.items[?(@.price < 10)].name`, `$..price` or `$.items[0:2]`",
        )  # fmt: skip
        return None
    is_loose = options.seatunnel is not None
    text, is_missing = _text(quote(column.source), source.type, steps, rest, is_loose=is_loose)
    value = _converted(text, column.type)
    is_wrong = f"({is_missing} OR ({text} IS NOT NULL AND {value} IS NULL))"
    match column.way:
        case "SKIP":
            return value, None
        case "SKIP_ROW":
            return value, f"NOT {is_wrong}"
        case _:
            message = quote_text(
                f"JsonPath: `{column.source}` has no {column.path}, or no {to_spark(column.type)} there"
            )
            return f"CASE WHEN {is_wrong} THEN raise_error({message}) ELSE {value} END", None


def _can_be_read(path: str) -> bool:
    try:
        parse(path)
    except PathError:
        return False
    return True


def _text(source: str, type: DataType, steps: Steps, query: str, *, is_loose: bool) -> tuple[str, str]:
    """The value as a text (of a JSON text or a nested column), and whether it is missing in a source that is there.
    `query` is the rest of the path, from its first step that Spark cannot take."""
    expression, rest, last = _nested(source, type, steps)
    if not rest and not query:
        text = f"CAST({expression} AS STRING)"
        if isinstance(last, Array | Map | Struct):
            text = f"to_json({expression})"
        return text, "false"
    json = (
        expression
        if last == STRING
        else f"decode({expression}, 'UTF-8')"
        if last == BINARY
        else f"to_json({expression})"
    )
    json = strict_json(json) if is_loose and last in (STRING, BINARY) else json
    path = quote_text("$" + "".join(rest) + query)
    if query:
        found = f"penstock_json_path({json}, {path})"
        return f"get_json_object({found}, '$')", f"({source} IS NOT NULL AND {found} IS NULL)"
    text = f"get_json_object({json}, {path})"
    if "[*]" in rest:
        return text, f"({source} IS NOT NULL AND {text} IS NULL)"
    found = f"variant_get(try_parse_json({json}), {path}, 'variant')"
    return text, f"({source} IS NOT NULL AND {found} IS NULL)"


def _nested(expression: str, type: DataType, steps: Steps) -> tuple[str, Steps, DataType]:
    """Goes into rows (by number), arrays and maps as far as the path does; what is left is a path into JSON."""
    for at, step in enumerate(steps):
        name = step[2:-2] if step.startswith("['") else step.lstrip(".")
        number = int(step[1:-1]) if step[1:-1].isdigit() and step.startswith("[") else None
        match type:
            case Struct(fields) if number is not None and number < len(fields):
                expression, type = f"{expression}.{quote(fields[number].name)}", fields[number].type
            case Struct(fields) if any(field.name == name for field in fields):
                field = next(field for field in fields if field.name == name)
                expression, type = f"{expression}.{quote(name)}", field.type
            case Array(element) if number is not None:
                expression, type = f"get({expression}, {number})", element
            case Map(key, value) if number is None and key == STRING:
                expression, type = f"{expression}[{quote_text(name)}]", value
            case _:
                return expression, steps[at:], type
    return expression, (), type


def _converted(text: str, type: DataType) -> str:
    match type:
        case t if t == STRING:
            return text
        case t if t == BINARY:
            return f"try_to_binary({text}, 'base64')"
        case Array() | Map() | Struct():
            return f"from_json({text}, {quote_text(to_ddl(type))})"
        case _:
            return f"try_cast({text} AS {to_spark(type)})"


transform = JsonPath()
