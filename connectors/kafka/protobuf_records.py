"""Values of records in Protobuf: messages of `protobuf_schema` or `protobuf_descriptor_file`.

Spark's tasks read and write them with the package protobuf: the module of Spark's own `from_protobuf`,
`spark-protobuf_2.13`, was not found in Maven Central.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import Diagnostics, RunError, did_you_mean, run_error
from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import Array, Map, Struct
from catalog.types.typenames import to_ddl
from connectors.records.protobuf import message_values
from connectors.records.protobuf.descriptors import (
    INSTALL,
    Message,
    MissingPackageError,
    ProtobufSchemaError,
    files_of_file,
    files_of_text,
    message_in,
    message_names,
)
from connectors.records.protobuf.message_types import (
    check_required,
    columns_of_message,
    field_named,
    parts_of,
    read_as,
)
from connectors.records.protobuf.message_values import Batch, Parts
from connectors.shared.select_sql import select_sql
from connectors.shared.tolerated import report_tolerated, report_without_effect
from connectors.storage.paths import local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME: Final = "protobuf_message_name"
_SCHEMA: Final = "protobuf_schema"
_FILE: Final = "protobuf_descriptor_file"
_SERIALIZED: Final = "value binary, error string"
_NOTHING: Final = "'nothing', true"
"""A struct's field where all columns are headers."""


def is_protobuf(options: Options) -> bool:
    return str(options.get("format")).lower() == "protobuf"


def check_protobuf(options: Options, diagnostics: Diagnostics) -> Message | None:
    """The message of the records; None with another format, or where it cannot be read. Errors in the options and the
    schema are reported, and that the schema cannot be read here as a warning: it may be where the job runs."""
    if not is_protobuf(options):
        for name in (NAME, _SCHEMA, _FILE):
            if options.get(name) is not None:
                message = f"`{name}` has no effect with `format = {options['format']}`"
                report_without_effect(name, message, "format = protobuf", options, diagnostics)
        return None
    mark, span = diagnostics.mark(), options.span("format")
    if options.get(NAME) is None:
        diagnostics.error("PEN2005", f"`format = protobuf` needs `{NAME}`", span, f"{NAME} = Order")
    if options.get(_SCHEMA) is None and options.get(_FILE) is None:
        message = f"`format = protobuf` needs `{_SCHEMA}` or `{_FILE}`"
        diagnostics.error("PEN2005", message, span, f'{_FILE} = "orders.proto"')
    elif options.get(_SCHEMA) is not None and options.get(_FILE) is not None:
        message = f"`{_SCHEMA}` and `{_FILE}` are the same twice"
        diagnostics.error("PEN2011", message, options.span(_FILE), "leave one of them out")
    if mark.has_errors:
        return None
    try:
        return message_of(options)
    except RunError as error:
        [found] = error.diagnostics
        if found.code == "PEN2004":
            diagnostics.extend([found])
        else:
            message = f"the Protobuf message `{options[NAME]}` is not checked: {found.message}"
            diagnostics.warning("PEN4002", message, found.span, found.help)
        return None


def message_of(options: Options, *, code: str = "PEN5004") -> Message:
    """The message of the records. Raises `RunError`: PEN2004 where the schema is not valid, PEN9003 without the package
    that reads it, `code` where its file cannot be read."""
    text, file = options.optional_string(_SCHEMA), options.optional_string(_FILE)
    span = options.span(_FILE if text is None else _SCHEMA)
    try:
        files = files_of_text(text) if text is not None else files_of_file(_path(file or "", options))
        message_names(files)
    except ProtobufSchemaError as cause:
        raise run_error("PEN2004", str(cause), span, cause.help) from cause
    except MissingPackageError as cause:
        raise run_error("PEN9003", str(cause), span, INSTALL) from cause
    except OSError as cause:
        message = f"`{os.path.abspath(file or '')}` cannot be read: {cause.strerror}"
        raise run_error(code, message, span, "a relative path starts where the command is run") from cause
    try:
        return message_in(files, options.string(NAME))
    except ProtobufSchemaError as cause:
        raise run_error("PEN2004", str(cause), options.span(NAME), cause.help) from cause


def _path(file: str, options: Options) -> str:
    path = local_path(file)
    if path is None:
        raise run_error("PEN2004", f"`{_FILE}` is read on this machine, and `{file}` is elsewhere", options.span(_FILE))
    return path


def table_of_message(options: Options, declared: CatalogTable | None, diagnostics: Diagnostics) -> CatalogTable:
    """The declared table, checked against the message, or that of the message."""
    message = check_protobuf(options, diagnostics)
    if message is None:
        return declared or CatalogTable.unknown("kafka")
    if declared is None:
        try:
            return CatalogTable.of("kafka", columns_of_message(message))
        except ProtobufSchemaError as cause:
            diagnostics.error("PEN2004", str(cause), options.span(NAME), cause.help)
            return CatalogTable.unknown("kafka")
    fields = message.descriptor.fields
    for column in declared.columns:
        span, field = options.key_span(f"schema.fields.{column.name}"), field_named(fields, column.name)
        if field is None:
            text = f"the Protobuf message `{message.name}` has no field `{column.name}`"
            help = did_you_mean(column.name, [known.name for known in fields])
            report_tolerated(options, diagnostics, "PEN2004", text, span, help=help)
            continue
        try:
            read_as(field, column.type)
        except ProtobufSchemaError as cause:
            diagnostics.error("PEN2004", str(cause), span, cause.help)
    return declared


def message_columns(options: Options) -> tuple[Column, ...]:
    """The columns of the message. Raises `RunError`."""
    try:
        return columns_of_message(message_of(options))
    except ProtobufSchemaError as cause:
        raise run_error("PEN5004", str(cause), options.span(NAME), cause.help) from cause


def check_messages(options: Options, columns: Sequence[Column], diagnostics: Diagnostics) -> None:
    """Report rows that cannot be written as messages."""
    message = check_protobuf(options, diagnostics)
    if message is not None:
        try:
            _written_parts(message, columns)
        except ProtobufSchemaError as cause:
            diagnostics.error("PEN4003", str(cause), options.span(NAME), cause.help)


def parsed_protobuf(records: "DataFrame", options: Options, columns: Sequence[Column]) -> "DataFrame":
    """The records with `__row`, their columns, and `__error`, why they cannot be read. A column that the message does
    not have is NULL."""
    message = message_of(options)
    fields = [(column, field) for column in columns
              if (field := field_named(message.descriptor.fields, column.name)) is not None]  # fmt: skip
    try:
        read = [(column, field.name, *read_as(field, column.type)) for column, field in fields]
    except ProtobufSchemaError as cause:
        raise run_error("PEN5004", str(cause), options.span("schema"), cause.help) from cause
    parts = tuple((column.name, name, inner) for column, name, _, inner in read)
    names = [f"c{index} {to_ddl(type)}" for index, (_, _, type, _) in enumerate(read)]
    make = partial(message_values.decoding, message.files, message.name, parts)
    rows = _by_arrow(records, "value", "__in", ", ".join([*names, "error string"]), make)
    values = {column.name: f"cast(null as {to_ddl(column.type)})" for column in columns}
    errors = ["when __in.error is not null then __in.error"]
    for index, (column, _, type, _) in enumerate(read):
        value, wanted = f"__in.c{index}", to_ddl(column.type)
        if str(type) == str(column.type) or isinstance(type, Array | Map | Struct):
            values[column.name] = f"cast({value} as {wanted})"
        else:
            values[column.name] = f"try_cast({value} as {wanted})"
            unfit = quote_text(f"the value of `{column.name}` is not {column.type}")
            errors.append(f"when {value} is not null and {values[column.name]} is null then {unfit}")
    row = ", ".join(f"{quote_text(name)}, {value}" for name, value in values.items())
    return select_sql(rows, ["*", f"case {' '.join(errors)} end as __error", f"named_struct({row}) as __row"])


def with_messages(df: "DataFrame", options: Options, columns: Sequence[Column]) -> "DataFrame":
    """The rows with `__message`, from which `MESSAGE` takes the value of the record."""
    message = message_of(options, code="PEN5005")
    try:
        parts = _written_parts(message, columns)
    except ProtobufSchemaError as cause:
        raise run_error("PEN5005", str(cause), options.span(NAME), cause.help) from cause
    keyed = tuple((f"c{index}", field, inner) for index, (_, field, inner) in enumerate(parts))
    row = ", ".join(f"'c{index}', {quote(column.name)}" for index, column in enumerate(columns))
    rows = select_sql(df, ["*", f"named_struct({row or _NOTHING}) as __row"])
    make = partial(message_values.encoding, message.files, message.name, keyed)
    return _by_arrow(rows, "__row", "__message", _SERIALIZED, make)


MESSAGE: Final = (
    "if(__message.error is null, __message.value, "
    "raise_error(concat('a row cannot be written as Protobuf: ', __message.error)))"
)


def _written_parts(message: Message, columns: Sequence[Column]) -> Parts:
    """The fields that the columns set. Raises `ProtobufSchemaError`."""
    fields, parts = message.descriptor.fields, []
    for column in columns:
        field = field_named(fields, column.name)
        if field is None:
            help = did_you_mean(column.name, [known.name for known in fields])
            raise ProtobufSchemaError(f"the Protobuf message `{message.name}` has no field `{column.name}`", help)
        parts.append((column.name, field.name, parts_of(field, column.type)))
    check_required(message.descriptor, [name for _, name, _ in parts])
    return tuple(parts)


def _by_arrow(df: "DataFrame", column: str, name: str, ddl: str, make: Callable[[Any], Batch]) -> "DataFrame":
    """The rows with one more column, a struct of these fields, made of another in Arrow batches; `make` gives the
    function of a batch for the struct's type in Arrow."""
    if find_spec("pyarrow") is None:
        raise run_error("PEN9003", "Protobuf needs pyarrow", None, INSTALL)
    import pyarrow as pa
    from pyspark import cloudpickle
    from pyspark.sql.functions import col
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import StructType

    struct = StructType.fromDDL(ddl)
    run = make(to_arrow_type(struct))

    def convert(values: pa.Array) -> pa.Array:  # Spark reads the types: they tell what kind of function it is
        return run(values)

    cloudpickle.register_pickle_by_value(message_values)  # type: ignore[no-untyped-call]
    declare: Any = arrow_udf
    return df.withColumn(name, declare(convert, struct)(col(column)))
