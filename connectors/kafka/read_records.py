"""Records as rows: the value in the columns of the schema, and what each record says of itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, Column, TableSchema
from catalog.types.datatypes import BIGINT, BINARY, INT, STRING, TIMESTAMP, Array, DataType, Field, Map, Struct
from connectors.files.values.delimited import Formats, from_text
from connectors.files.values.left_out_rows import fitting
from connectors.interface.schema_option import declared_table
from connectors.kafka.avro_records import check_avro, declared_by_avro, is_avro, parsed_avro, registry_of, subjects_of
from connectors.kafka.new_columns import check_following
from connectors.kafka.offsets import topics_of
from connectors.kafka.options import CHANGE_FORMATS, CHANGE_METADATA, CONNECT_JSON, MARKS, METADATA
from connectors.kafka.protobuf_records import (
    check_protobuf,
    is_protobuf,
    message_columns,
    parsed_protobuf,
    table_of_message,
)
from connectors.records.avro.schemas import columns_of_avro
from connectors.records.change_logs.read_changes import METADATA_TYPES, check_changes, parsed_changes
from connectors.shared.loose_json import LOCALE, as_text, is_unreadable, read_text
from connectors.shared.select_sql import select_sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RECORD_DDL: Final = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int, "
    "headers array<struct<key: string, value: binary>>"
)
"""What Spark's data source `kafka` yields."""

_HEADERS: Final = Array(Struct((Field("key", STRING), Field("value", BINARY))))
_METADATA_TYPES: Final[Mapping[str, DataType]] = {
    "topic": STRING, "partition": INT, "offset": BIGINT, "timestamp": TIMESTAMP, "key": BINARY, "headers": _HEADERS,
    **METADATA_TYPES,
}  # fmt: skip
_NATIVE: Final = (
    Column("headers", Map(STRING, STRING)),
    Column("key", BINARY),
    Column("offset", BIGINT),
    Column("partition", INT),
    Column("timestamp", BIGINT),
    Column("timestampType", STRING),
    Column("value", BINARY),
)
_NATIVE_EXPRESSIONS: Final = {
    "headers": "map_from_entries(transform(headers, x -> struct(x.key, cast(x.value as string))))",
    "timestamp": "unix_millis(timestamp)",
    "timestampType": "case timestampType when 0 then 'CREATE_TIME' when 1 then 'LOG_APPEND_TIME' end",
}
_MARKS: Final = tuple(Column(name, STRING) for name in MARKS)
_MALFORMED: Final = "__malformed"
_JSON_SETTINGS: Final = f"map('mode', 'PERMISSIVE', 'columnNameOfCorruptRecord', '{_MALFORMED}', 'locale', '{LOCALE}')"


def table_of(options: Options, diagnostics: Diagnostics) -> CatalogTable:
    """The table that the options describe; what does not fit the format is reported."""
    kind = str(options["format"]).lower()
    table = declared_table(options, "kafka", diagnostics)
    check_changes(options, table, diagnostics)
    check_following(options, diagnostics)
    check_avro(options, None if options.flag("pattern") else topics_of(options), diagnostics)
    if kind != "protobuf":
        check_protobuf(options, diagnostics)
    if kind == "avro":
        table = table or declared_by_avro(options, diagnostics) or _of_avro(options, diagnostics)
    elif kind == "protobuf":
        table = table_of_message(options, table, diagnostics)
    elif kind in ("raw", "native"):
        table = _of_bytes(kind, table, options, diagnostics)
    elif table is None:
        table = CatalogTable.of("kafka", [Column("content", STRING)])
    added = [*_metadata(options, diagnostics), *(_MARKS if is_marking(options) else ())]
    if clash := next((column.name for column in added if table.column(column.name)), None):
        message = f"the column `{clash}` is in the `schema` and is added to it"
        diagnostics.error("PEN4005", message, options.span("schema"), "give it another name")
        return table
    columns = [replace(column, nullable=column.nullable or is_marking(options)) for column in table.columns]
    schema = TableSchema((*columns, *added), table.schema.primary_key, table.schema.constraint_keys)
    return CatalogTable(table.path, schema, comment=table.comment, has_row_kind=kind in CHANGE_FORMATS,
                        is_open=table.is_open)  # fmt: skip


def is_marking(options: Options) -> bool:
    return str(options["format_error_handle_way"]).lower() == "mark"


def rows_of(records: "DataFrame", options: Options, table: CatalogTable, more: Sequence[str] = ()) -> "DataFrame":
    """The rows of records as Spark yields them. A record without a value (a tombstone) has no row, but for the formats
    `raw` and `native`. `more`: SQL for other columns, of what Kafka says of each record."""
    added = [column.name for column in _MARKS] if is_marking(options) else []
    columns = [column for column in table.columns if column.name not in (*added, *_names(options))]
    columns = list(undeclared_columns(options)) if table.is_open else columns
    metadata = [*(f"{quote(name.removeprefix('_'))} as {quote(name)}" for name in _names(options)), *more]
    kind = str(options["format"]).lower()
    if kind == "native":
        return select_sql(records, [*(_native(column.name) for column in columns), *metadata])
    if kind == "raw":
        name, type = columns[0].name, columns[0].type
        value = "cast(value as string)" if type == STRING else "value"
        marks = [f"cast(null as string) as {quote(name)}" for name in added]
        return select_sql(records, [f"{value} as {quote(name)}", *metadata, *marks])
    text = "base64(value)" if kind in ("avro", "protobuf") else "cast(value as string)"
    texts = select_sql(records.where("value is not null"), ["*", f"{text} as __text"])
    parsed = _parsed(texts, options, columns)
    marks = ["__error as `_error`", "if(__error is null, null, __text) as `_value`"] if added else []
    hidden = [quote(ROW_KIND)] if table.has_row_kind else []
    is_right = "if(__error is null, {}, null)" if added else "{}"
    values = (f"{is_right.format(f'__row.{quote(c.name)}')} as {quote(c.name)}" for c in columns)
    rows = select_sql(parsed, [*values, *metadata, *marks, *hidden, f"{_READ_ONCE} as __error", *_RECORD])
    way = str(options["format_error_handle_way"]).lower()
    if way == "skip":
        rows = rows.where(fitting("__error is null"))
    elif way == "fail":
        rows = rows.where(f"if(__error is null, true, raise_error({_message()}))")
    return rows.drop("__error", "__text", "__topic", "__partition", "__offset")


_READ_ONCE: Final = "if(spark_partition_id() >= 0, __error, null)"
"""Spark moves no filter below a projection with a function that is not deterministic: one that it moved would read each
record a second time, by expressions that contain each other."""
_RECORD: Final = ("__text", "topic as __topic", "partition as __partition", "offset as __offset")
"""What the message about a record needs in addition to the error."""


@dataclass(frozen=True, slots=True)
class _Parsed:
    """SQL for the columns of one record: `struct` of them, and the cause where they cannot be read (NULL: they can)."""

    struct: str
    error: str


def _parsed(texts: "DataFrame", options: Options, columns: list[Column]) -> "DataFrame":
    """The records with `__row`, their columns, and `__error`, why they do not fit."""
    kind = str(options["format"]).lower()
    if kind == "avro":
        return parsed_avro(texts, options, columns, topics_of(options))
    if kind == "protobuf":
        return parsed_protobuf(texts, options, columns)
    if kind in CHANGE_FORMATS:
        return parsed_changes(texts, options, columns)
    if not options.mapping("schema"):
        row = f"named_struct({quote_text(columns[0].name)}, __text) as __row"
        return select_sql(texts, ["*", row, "cast(null as string) as __error"])
    if kind == "json":
        stored = [Column(column.name, as_text(column.type)) for column in columns]
        ddl = columns_to_ddl([*stored, Column(_MALFORMED, STRING)])
        settings = _JSON_SETTINGS
        split = select_sql(texts, ["*", f"from_json(__text, {quote_text(ddl)}, {settings}) as __in"])
        made = _typed_json(columns, options)
    elif kind == CONNECT_JSON:
        split, made = _connect_json(texts, options, columns), _typed_json(columns, options)
    else:
        split = select_sql(texts, ["*", f"{_split(options, len(columns))} as __in"])
        made = _typed_texts(columns, options)
    return select_sql(split, ["*", f"{made.error} as __error", f"{made.struct} as __row"])


def _connect_json(texts: "DataFrame", options: Options, columns: list[Column]) -> "DataFrame":
    """The rows of records that Kafka Connect's JsonConverter has written, in `__in`: a record holds one or an array."""
    row = columns_to_ddl([Column(column.name, as_text(column.type)) for column in columns])
    is_wrapped = options.flag("value_converter_schema_enabled")
    text = "__text" if is_wrapped else "concat('{\"payload\":', __text, '}')"
    settings = _JSON_SETTINGS
    is_many = f"startswith(ltrim(get_json_object({text}, '$.payload')), '[')"
    one = f"from_json({text}, {quote_text(f'payload struct<{row}>, {_MALFORMED} string')}, {settings})"
    many = f"from_json({text}, {quote_text(f'payload array<struct<{row}>>, {_MALFORMED} string')}, {settings})"
    whole = select_sql(texts, ["*", f"{one} as __one", f"if({is_many}, {many}, null) as __many"])
    entries = f"transform(__many.payload, x -> struct(x as payload, __many.{_MALFORMED} as {_MALFORMED}))"
    own = f"array(struct(__one.payload as payload, __one.{_MALFORMED} as {_MALFORMED}))"
    each = select_sql(whole, ["*", f"explode_outer(if(__many is null, {own}, {entries})) as __entry"])
    values = {column.name: f"__entry.payload.{quote(column.name)}" for column in columns}
    made = _struct({**values, _MALFORMED: f"__entry.{_MALFORMED}"})
    return select_sql(each, ["*", f"if(__entry.payload is null, null, {made}) as __in"])


def _typed_json(columns: list[Column], options: Options) -> _Parsed:
    rounds = options.seatunnel is not None
    is_broken = f"__in is null or __in.{_MALFORMED} is not null"
    errors = [f"when {is_broken} then 'it is not a JSON object of these columns'"]
    errors += [_unfit(c, is_unreadable(f"__in.{quote(c.name)}", c.type, rounds=rounds)) for c in columns]
    return _Parsed(_struct({c.name: read_text(f"__in.{quote(c.name)}", c.type) for c in columns}), _case(errors))


def _typed_texts(columns: list[Column], options: Options) -> _Parsed:
    """Values of arrays, maps and structs are read strictly: one that cannot be read fails the job."""
    values, errors = (
        {},
        [f"when size(__in) > {len(columns)} then concat(size(__in), ' values for {len(columns)} columns')"],
    )
    for index, column in enumerate(columns):
        text, is_nested = f"get(__in, {index})", isinstance(column.type, Array | Map | Struct)
        values[column.name] = from_text(
            text, column.type, Formats(is_lenient=not is_nested, is_exact=options.seatunnel is None)
        )
        if not is_nested:
            is_unfit = f"(nullif({text}, '') is not null and {values[column.name]} is null)"
            errors.append(_unfit(column, is_unfit))
    return _Parsed(_struct(values), _case(errors))


def _split(options: Options, count: int) -> str:
    """The values of a text, as an array."""
    delimiter = options.string("field_delimiter")
    if str(options["format"]).lower() == "text":
        return f"split(__text, {quote_text(_literally(delimiter))}, -1)"
    names = [f"c{index}" for index in range(count + 1)]  # one more, to see whether there are too many
    ddl = ", ".join(f"{name} string" for name in names)
    read = f"from_csv(__text, {quote_text(ddl)}, map('sep', {quote_text(delimiter)}, 'mode', 'PERMISSIVE'))"
    values = f"if(r.{names[-1]} is null, array({_listed(names[:-1])}), array({_listed(names)}))"
    return f"transform(array({read}), r -> {values})[0]"


def _listed(names: list[str]) -> str:
    return ", ".join(f"r.{name}" for name in names)


def _literally(text: str) -> str:
    return "".join(f"\\{character}" if character in r"\.[]{}()*+-?^$|" else character for character in text)


def _unfit(column: Column, condition: str) -> str:
    return f"when {condition} then {quote_text(f'the value of `{column.name}` is not {column.type}')}"


def _case(errors: list[str]) -> str:
    return f"case {' '.join(errors)} end"


def _struct(values: dict[str, str]) -> str:
    return f"named_struct({', '.join(f'{quote_text(name)}, {value}' for name, value in values.items())})"


def _message() -> str:
    """SQL for the error of a record that does not fit."""
    return (
        "concat('a record does not fit: ', __error, ' (topic ', __topic, ', partition ', __partition, ', offset ', "
        "__offset, '): ', left(__text, 200))"
    )


def _native(name: str) -> str:
    return f"{_NATIVE_EXPRESSIONS.get(name, name)} as {quote(name)}"


def _names(options: Options) -> list[str]:
    return [f"_{name.lower()}" for name in dict.fromkeys(options.strings("metadata_columns"))]


def _metadata(options: Options, diagnostics: Diagnostics) -> list[Column]:
    is_change = str(options["format"]).lower() in CHANGE_FORMATS
    known = (*METADATA, *CHANGE_METADATA) if is_change else METADATA
    for name in options.strings("metadata_columns"):
        if name.lower() not in known:
            help = did_you_mean(name, known) or f"known: {', '.join(f'`{column}`' for column in known)}"
            diagnostics.error("PEN2004", f"a record has no `{name}`", options.span("metadata_columns"), help)
            return []
    return [Column(name, _METADATA_TYPES[name.removeprefix("_")]) for name in _names(options)]


def undeclared_columns(options: Options) -> tuple[Column, ...]:
    """The columns of the message in Protobuf, or of the last schema that the registry has for the topics; none without
    either."""
    if is_protobuf(options):
        return message_columns(options)
    registry = registry_of(options) if is_avro(options) else None
    subjects = subjects_of(options, topics_of(options))
    return columns_of_avro(registry.latest(subjects[0])) if registry is not None else ()


def _of_avro(options: Options, diagnostics: Diagnostics) -> CatalogTable:
    """The table of records in Avro without `schema` and `avro_schema`: the registry knows it."""
    if options.get("schema_registry.url") is None and options.get("avro_schema") is None:
        message = "`format = avro` needs `schema`, `avro_schema` or `schema_registry.url`"
        diagnostics.error("PEN2005", message, options.span("format"), "schema { fields { id = bigint } }")
    return CatalogTable.unknown("kafka")


def _of_bytes(kind: str, table: CatalogTable | None, options: Options, diagnostics: Diagnostics) -> CatalogTable:
    if kind == "native":
        if table is not None:
            message = "`format = native` has columns of its own"
            diagnostics.error("PEN2011", message, options.span("schema"), "leave `schema` out")
        return CatalogTable.of("kafka", _NATIVE)
    if table is None:
        return CatalogTable.of("kafka", [Column("value", BINARY)])
    if len(table.columns) != 1 or table.columns[0].type not in (STRING, BINARY):
        message = "`format = raw` yields one column, of bytes or a string"
        diagnostics.error("PEN2011", message, options.span("schema"), "schema { fields { value = bytes } }")
    return table
