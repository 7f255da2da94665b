"""Rows as records: key, value, topic, partition and headers, as Spark's data source `kafka` takes them."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, Column
from catalog.types.avro_types import AvroSchemaError
from catalog.types.datatypes import BINARY, STRING
from connectors.files.values.delimited import Formats, line_of, to_text
from connectors.interface.sink import WriteTask, refuse_unknown_columns
from connectors.kafka.avro_records import avro_value, check_avro, is_avro, registry_of, subjects_of, written_schema
from connectors.kafka.options import CHANGE_FORMATS
from connectors.kafka.protobuf_records import MESSAGE, check_messages, check_protobuf, is_protobuf, with_messages
from connectors.kafka.whole_records import DEBEZIUM_RECORDS, NATIVE, WHOLE_FORMATS, check_whole_records, part
from connectors.records.change_logs.write_changes import change_value, seatunnel_envelope
from connectors.records.json_rows import json_of, jsonable, struct_of, to_json
from connectors.shared.tolerated import report_tolerated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RUN_HEADER: Final = "penstock.run"
RECORD_HEADER: Final = "penstock.record"
"""Headers of every record: a repeat, after an interrupted commit, has the same two."""

_PLACEHOLDER: Final = re.compile(r"\$\{(\w+)\}")
_MOST_BYTES: Final = 1_048_576
"""Kafka's default of `max.request.size`."""
_OVERHEAD: Final = 1024


def check_records(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report columns that the options name and the rows lack, and rows that the format cannot hold."""
    kind = str(options["format"]).lower()
    if options.get("topic") is None and kind not in WHOLE_FORMATS:
        diagnostics.error("PEN2005", "Kafka needs `topic`", options.span(), 'topic = "orders"')
    if table.is_open:
        check_protobuf(options, diagnostics)
        return
    if kind in WHOLE_FORMATS:
        check_whole_records(options, table, diagnostics)
    for option in ("partition_key_fields", "kafka_headers_fields"):
        refuse_unknown_columns(options.strings(option), option, options, table, diagnostics)
    for name in _PLACEHOLDER.findall(topic_text(options)):
        column = table.column(name)
        if column is None and options.get("topic") is not None:
            help = did_you_mean(name, table.schema.names)
            diagnostics.error("PEN4008", f"`topic` names the column `{name}`, which the rows do not have",
                              options.span("topic"), help)  # fmt: skip
    if options.get("partition") is not None and options.strings("assign_partitions"):
        message = "`assign_partitions` has no effect beside `partition`"
        report_tolerated(options, diagnostics, "PEN2011", message, options.span("assign_partitions"))
    _check_avro(options, table, diagnostics)
    check_messages(options, _values(options, table.columns), diagnostics)
    if is_change_log(options) and not _keys(options, table):
        message = f"`format = {options['format']}` needs a key: changes of one row must be in one partition, in order"
        help = "partition_key_fields = [id]"
        report_tolerated(options, diagnostics, "PEN2005", message, options.span("format"), help=help)
    if str(options["format"]).lower() == "raw":
        values = _values(options, table.columns)
        if len(values) != 1 or values[0].type not in (STRING, BINARY):
            message = "`format = raw` writes one column, a string or bytes, beside those of headers"
            diagnostics.error("PEN2011", message, options.span("format"), "format = json")


def _check_avro(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    check_avro(options, (topic_text(options),) if is_fixed(options) else None, diagnostics)
    try:
        if is_avro(options):
            written_schema(options, _values(options, table.columns))
    except AvroSchemaError as error:
        diagnostics.error("PEN2011", f"the rows cannot be written as Avro: {error}", options.span("format"))


def registered(task: WriteTask, columns: tuple[Column, ...]) -> int | None:
    """The id under which a registry has the schema of the records; it is registered if it is not. None without one."""
    registry = registry_of(task.options)
    if registry is None:
        return None
    [subject] = subjects_of(task.options, [topic_text(task.options)])
    return registry.register(subject, written_schema(task.options, _values(task.options, columns)))


def is_change_log(options: Options) -> bool:
    """Whether records are changes of rows, so that those of one key must stay in order."""
    return str(options["format"]).lower() in CHANGE_FORMATS


def is_fixed(options: Options) -> bool:
    """Whether all records go into one topic."""
    return not _PLACEHOLDER.search(topic_text(options))


def topic_text(options: Options) -> str:
    """The option `topic`: by default the rows' own."""
    return options.optional_string("topic") or "${topic}"


def keeps_order(options: Options) -> bool:
    """Whether records of one key must be sent in the order of their rows."""
    return is_change_log(options) or str(options["format"]).lower() == DEBEZIUM_RECORDS


def records_of(
    df: "DataFrame", task: WriteTask, columns: tuple[Column, ...], schema_id: int | None = None
) -> "DataFrame":
    """The records of the rows; one that Kafka would refuse for its size fails here, before anything is sent.

    `position` is the order of a change among those of its key; 0 where records are no changes. `schema_id`: of the
    records in Avro, in a registry.
    """
    columns = tuple(column for column in columns if column.name != ROW_KIND)
    options, values = task.options, _values(task.options, columns)
    keys = [column for name in _keys(options, task.table) for column in columns
            if column.name.lower() == name.lower()]  # fmt: skip
    key = json_of(keys) if keys else "cast(null as string)"
    partition = "cast(null as int)" if options.get("partition") is None else str(options.integer("partition"))
    if str(options["format"]).lower() in WHOLE_FORMATS:
        key, partition = part("key", columns, key), part("partition", columns, partition)
    records = (with_messages(df, options, values) if is_protobuf(options) else df).selectExpr(
        f"cast({key} as binary) as key",
        f"cast({_value(task, values, schema_id)} as binary) as value",
        f"{_topic(options, columns)} as topic",
        f"{partition} as partition",
        f"{_headers(task, columns)} as headers",
        f"{'monotonically_increasing_id()' if keeps_order(options) else 'cast(0 as bigint)'} as position",
    )
    if texts := assigned_texts(options):
        hits = (f"when contains(cast(value as string), {quote_text(text)}) then {i}" for i, text in enumerate(texts))
        records = records.selectExpr("* except (partition)", f"case {' '.join(hits)} end as partition")
    limit = int(options.texts_by_key("kafka.config").get("max.request.size", _MOST_BYTES)) - _OVERHEAD
    size = "coalesce(octet_length(value), 0) + coalesce(octet_length(key), 0)"
    message = f"concat('a record of ', {size}, ' bytes is larger than max.request.size in kafka.config allows')"
    return records.where(f"if({size} <= {limit}, true, raise_error({message}))")


def assigned_texts(options: Options) -> tuple[str, ...]:
    """The texts of `assign_partitions`; none where all records go into one partition."""
    texts = options.strings("assign_partitions") if options.get("partition") is None else ()
    return tuple(text for text in texts if text)


def in_other_partitions(records: "DataFrame", assigned: int, counts: Mapping[str, int]) -> "DataFrame":
    """The records, those without a partition in one behind the `assigned` ones. `counts`: the topics' partitions."""
    cases = (f"when {quote_text(topic)} then {count}" for topic, count in counts.items())
    others = f"{assigned} + pmod(hash(value), case topic {' '.join(cases)} end - {assigned})"
    return records.selectExpr("* except (partition)", f"cast(coalesce(partition, {others}) as int) as partition")


def _keys(options: Options, table: CatalogTable) -> tuple[str, ...]:
    """The columns of the key: of a change log, by default the table's."""
    key = table.schema.primary_key if is_change_log(options) else None
    return options.strings("partition_key_fields") or (key.columns if key else ())


def _values(options: Options, columns: tuple[Column, ...]) -> list[Column]:
    """The columns of a record's value: all that are not headers."""
    headers = {name.lower() for name in options.strings("kafka_headers_fields")}
    return [column for column in columns if column.name.lower() not in headers]


def _value(task: WriteTask, columns: list[Column], schema_id: int | None) -> str:
    options, kind = task.options, str(task.options["format"]).lower()
    if kind == "avro":
        return avro_value(columns, written_schema(options, columns), schema_id)
    if kind == "protobuf":
        return MESSAGE
    if kind in CHANGE_FORMATS:
        is_local = options.seatunnel is not None
        row = struct_of({each.name: jsonable(quote(each.name), each.type, is_local=is_local) for each in columns})
        has_kinds = task.table.has_row_kind
        if is_local:
            return to_json(seatunnel_envelope(kind, row, has_kinds=has_kinds))
        return change_value(kind, row, columns, task.table.path, to_json, has_kinds=has_kinds)
    if kind == "json":
        return json_of(columns, is_local=options.seatunnel is not None)
    if kind == "raw":
        return quote(columns[0].name)
    if kind in WHOLE_FORMATS:
        return quote("value")
    texts = [to_text(quote(column.name), column.type, Formats()) for column in columns]
    delimiter = options.string("field_delimiter")
    if kind == "csv":
        named = ", ".join(f"{quote_text(f'c{index}')}, {text}" for index, text in enumerate(texts))
        return f"to_csv(named_struct({named}), map('sep', {quote_text(delimiter)}))"
    return line_of(texts, delimiter, Formats())


def _topic(options: Options, columns: tuple[Column, ...]) -> str:
    text, parts, position = topic_text(options), [], 0
    for found in _PLACEHOLDER.finditer(text):
        parts += [quote_text(text[position : found.start()]), f"cast({quote(found[1])} as string)"]
        position = found.end()
    return f"concat({', '.join([*parts, quote_text(text[position:])])})"


def _headers(task: WriteTask, columns: tuple[Column, ...]) -> str:
    own = [(RUN_HEADER, quote_text(task.run_id))]
    own.append((RECORD_HEADER, f"concat({quote_text(f'{task.write_id}-')}, monotonically_increasing_id())"))
    wanted = {name.lower() for name in task.options.strings("kafka_headers_fields")}
    own += [(c.name, to_text(quote(c.name), c.type, Formats())) for c in columns if c.name.lower() in wanted]
    structs = (f"struct({quote_text(name)} as key, cast({value} as binary) as value)" for name, value in own)
    headers = f"array({', '.join(structs)})"
    if str(task.options["format"]).lower() == NATIVE and (given := part("headers", columns, "")):
        of_row = f"transform(map_entries({given}), x -> struct(x.key as key, cast(x.value as binary) as value))"
        return f"concat(coalesce({of_row}, array()), {headers})"
    return headers
