"""Records of a change log as rows with row kinds."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BINARY, STRING, TIMESTAMP, TIMESTAMP_NTZ, VARIANT, DataType
from connectors.records.change_logs.change_log import CHANGE, CHANGE_LOGS, ChangeLog, text
from connectors.records.change_logs.change_values import UNAVAILABLE, ChangeValues
from connectors.records.change_logs.debezium_values import TYPES, TYPES_EXPRESSION
from connectors.shared.tolerated import report_without_effect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

METADATA_TYPES: Final[Mapping[str, DataType]] = {
    "database": STRING, "schema": STRING, "table": STRING, "table_path": STRING, "change_time": TIMESTAMP,
}  # fmt: skip
"""What a change says of its table, by the names of `metadata_columns`."""

_ONE: Final = "__one"


def check_changes(options: Options, table: CatalogTable | None, diagnostics: Diagnostics) -> None:
    """Report options of change logs that do not fit the format; `table` is that of `schema`."""
    kind = str(options["format"]).lower()
    if kind in CHANGE_LOGS and not options.mapping("schema"):
        message = f"`format = {kind}` needs a `schema`: the columns of the rows that change"
        help = "schema { fields { id = bigint, … }, primaryKey { columnNames = [id] } }"
        diagnostics.error("PEN2005", message, options.span("format"), help)
    for name in ("debezium_record_table_filter", "debezium_record_include_schema", "debezium_decimals"):
        if name in options.places and kind != "debezium_json":
            message = f"`{name}` has no effect with `format = {kind}`"
            report_without_effect(name, message, "format = debezium_json", options, diagnostics)
    for name in ("database.include", "table.include"):
        if options.get(name) is not None and kind not in CHANGE_LOGS:
            message = f"`{name}` has no effect with `format = {kind}`: it is for change logs"
            diagnostics.error("PEN2011", message, options.span(name), "format = debezium_json")
    _check_units(options, table, diagnostics)
    for name in options.mapping("debezium_record_table_filter"):
        if name not in _FILTER:
            message = f"`debezium_record_table_filter` has no `{name}`"
            known = ", ".join(f"`{known}`" for known in _FILTER)
            diagnostics.error("PEN2003", message, options.span("debezium_record_table_filter"), f"known: {known}")


def _check_units(options: Options, table: CatalogTable | None, diagnostics: Diagnostics) -> None:
    """Warn of timestamps of Debezium whose unit neither the records nor the schema give."""
    if str(options["format"]).lower() != "debezium_json" or options.flag("debezium_record_include_schema"):
        return
    columns = table.columns if table is not None else ()
    open_ones = [c.name for c in columns if c.type in (TIMESTAMP, TIMESTAMP_NTZ) and c.scale is None]
    if open_ones:
        message = (
            f"numbers in `{open_ones[0]}` are milli-, micro- or nanoseconds by their size: its unit is not declared"
        )
        help = f"columns = [{{ name = {open_ones[0]}, type = timestamp, columnScale = 3 }}] (6: microseconds)"
        diagnostics.warning("PEN4040", message, options.key_span(f"schema.fields.{open_ones[0]}"), help)


def parsed_changes(texts: "DataFrame", options: Options, columns: list[Column]) -> "DataFrame":
    """One row for each row before and after a change, with `__row`, its columns, `__error`, why they cannot be read,
    and its kind. `texts` has the value of each record in `__text`."""
    kind = str(options["format"]).lower()
    log = CHANGE_LOGS[kind]
    is_seatunnel = options.seatunnel is not None
    values = ChangeValues(kind, str(options["debezium_decimals"]).lower(), is_seatunnel)
    types = TYPES_EXPRESSION if values.needs_types(columns) else f"cast(null as {_NO_TYPES})"
    changes = (
        texts.selectExpr("*", "try_parse_json(__text) as __json")
        .selectExpr("*", f"{log.envelope} as {CHANGE}", *([f"{types} as {TYPES}"] if values.is_debezium else []))
        .selectExpr("*", f"lower({text(log.operation)}) as __op", *table_of_change(log))
        .selectExpr("*", f"{log.changes} as __changes")
        .selectExpr("*", f"{_envelope_error(log)} as __envelope_error")
        .where(" and ".join(conditions(options)))
    )
    broken = f"array(named_struct({_NOTHING}))"
    exploded = changes.selectExpr("*", f"explode(if(__envelope_error is null, __changes, {broken})) as {_ONE}")
    found = exploded.selectExpr("*", *(f"{_found(column, log)} as __x{index}" for index, column in enumerate(columns)))
    read = found.selectExpr("*", *(f"try_variant_get(__x{index}, '$', 'string') as __t{index}"
                                   for index in range(len(columns))))  # fmt: skip
    made = read.selectExpr(
        "*",
        *(
            f"{values.value(column, f'__t{index}', f'__x{index}')} as __v{index}"
            for index, column in enumerate(columns)
        ),
    )
    row = ", ".join(f"{quote_text(column.name)}, __v{index}" for index, column in enumerate(columns))
    return made.selectExpr(
        "*", f"{_row_error(log, columns)} as __error", f"named_struct({row}) as __row",
        f"coalesce({_ONE}.kind, '+I') as {quote(ROW_KIND)}",
    )  # fmt: skip


_NO_TYPES: Final = "map<string,struct<name:string,scale:string>>"
_NOTHING: Final = (
    "'kind', cast(null as string), 'image', cast(null as variant), 'rest', cast(null as variant)"
)  # fmt: skip
_FILTER: Final[Mapping[str, str]] = {"database_name": "database", "schema_name": "schema", "table_name": "table"}


def table_of_change(log: ChangeLog) -> Iterator[str]:
    """Columns with the table that a change is of."""
    yield f"{log.database} as `database`"
    yield f"{log.schema} as `schema`"
    yield f"{log.table} as `table`"
    path = f"concat_ws('.', {log.database}, {log.schema}, {log.table})"
    yield f"nullif({path}, '') as table_path"
    yield f"{log.changed_at} as change_time"


def _envelope_error(log: ChangeLog) -> str:
    operation = log.operation.removeprefix("$.")
    return (
        f"case when __json is null then 'it is not JSON' "
        f"when __op is null then 'it is no change of {log.title}: it has no `{operation}`' "
        f"when __op in ('t', 'truncate') then 'it truncates the table, which row kinds cannot express' "
        f"when __changes is null then concat('it is no change of {log.title}: `{operation}` is ', __op) end"
    )


def conditions(options: Options) -> Iterator[str]:
    """Conditions on the table of a change; records that cannot be read pass, to be reported."""
    yield "true"
    wanted = options.mapping("debezium_record_table_filter")
    wanted_values = [
        f"{quote(column)} = {quote_text(str(wanted[name]))}" for name, column in _FILTER.items() if name in wanted
    ]
    for name, column in (("database.include", "database"), ("table.include", "table")):
        pattern = options.optional_string(name)
        if pattern is not None:
            wanted_values.append(f"{quote(column)} rlike {quote_text(f'^(?:{pattern})$')}")
    for condition in wanted_values:
        yield f"(__op is null or coalesce({condition}, false))"


def _found(column: Column, log: ChangeLog) -> str:
    """The value of a column in a row's image, as a variant; what the image lacks is in the rest."""
    path = _path(column.name)
    own, other = (f"try_variant_get({_ONE}.{of}, {path}, 'variant')" for of in ("image", "rest"))
    if log is CHANGE_LOGS["debezium_json"]:
        return f"if({_is_unavailable(own)}, {other}, {own})" if column.type in _UNAVAILABLE else own
    return f"coalesce({own}, {other})"


_UNAVAILABLE: Final = (STRING, BINARY, VARIANT)
_PLACEHOLDERS: Final = (UNAVAILABLE, "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")


def _is_unavailable(found: str) -> str:
    return f"coalesce(try_variant_get({found}, '$', 'string') in ({', '.join(map(quote_text, _PLACEHOLDERS))}), false)"


def _row_error(log: ChangeLog, columns: list[Column]) -> str:
    """Why a row cannot be read; NULL where it can."""
    image = f"{_ONE}.image"
    errors = [
        "when __envelope_error is not null then __envelope_error",
        f"when {image} is null then concat('the row ', if({_ONE}.kind in ('-U', '-D'), 'before', 'after'), "
        "' the change is missing')",
    ]
    texts = ", ".join(f"__t{index}" for index in range(len(columns)))
    is_object = f"startswith(schema_of_variant({image}), 'OBJECT')"
    errors.append(f"when coalesce({texts}) is null and not {is_object} then 'a row of it is not a JSON object'")
    for index, column in enumerate(columns):
        unreadable = quote_text(f"the value of `{column.name}` is not {column.type}")
        if log is CHANGE_LOGS["debezium_json"] and column.type in _UNAVAILABLE:
            own = f"try_variant_get({image}, {_path(column.name)}, 'variant')"
            missing = quote_text(f"the database did not send the value of `{column.name}`: REPLICA IDENTITY FULL does")
            unsent = f"{_is_unavailable(own)} and (__x{index} is null or {_is_unavailable(f'__x{index}')})"
            errors.append(f"when {unsent} then {missing}")
        if log.has_all:
            absent = quote_text(f"the update lacks the column `{column.name}`")
            errors.append(f"when {_ONE}.kind = '+U' and __x{index} is null then {absent}")
        errors.append(f"when __t{index} is not null and __v{index} is null then {unreadable}")
    return f"case {' '.join(errors)} end"


def _path(name: str) -> str:
    """The path of a column in an image."""
    mark = '"' if '"' not in name else "'"
    return quote_text(f"$[{mark}{name}{mark}]")
