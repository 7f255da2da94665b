"""Values of records in Avro: with the schema of the block, or with those of a registry, in Confluent's wire format.

0x00, the schema's id in four bytes, the value        with a registry
the value                                             without

Without a registry, jobs of Apache SeaTunnel have its schema, in which no part may be null; others have nullable parts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable, Column
from catalog.types.avro_types import AvroSchemaError
from catalog.types.datatypes import TIMESTAMP, TIMESTAMP_NTZ, Array, DataType, Map, Struct, has_unknown
from catalog.types.typenames import to_ddl
from connectors.records.avro.registry import Registry
from connectors.records.avro.schemas import avro_of_columns, columns_of_avro, required_avro_of_columns
from connectors.shared.tolerated import report_without_effect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REGISTRY_OPTIONS: Final = (
    "schema_registry.url", "schema_registry.subject", "schema_registry.user", "schema_registry.password",
)  # fmt: skip
_RECORD: Final = "penstock"


def is_avro(options: Options) -> bool:
    return str(options.get("format")).lower() == "avro"


def check_avro(options: Options, topics: tuple[str, ...] | None, diagnostics: Diagnostics) -> None:
    """Report options of Avro that do not fit; `topics`: None where they are not known."""
    given = [name for name in ("avro_schema", *REGISTRY_OPTIONS) if options.get(name) is not None]
    if not is_avro(options):
        for name in given:
            message = f"`{name}` has no effect with `format = {options['format']}`"
            report_without_effect(name, message, "format = avro", options, diagnostics)
        return
    has_registry = options.get("schema_registry.url") is not None
    for name in given:
        if name in REGISTRY_OPTIONS[1:] and not has_registry:
            help = 'schema_registry.url = "http://registry:8081"'
            diagnostics.error("PEN2011", f"`{name}` needs `schema_registry.url`", options.span(name), help)
    if has_registry and topics is None and options.get("schema_registry.subject") is None:
        message = "`schema_registry.url` needs `schema_registry.subject`, since the topics are not fixed"
        diagnostics.error("PEN2005", message, options.span("schema_registry.url"), "schema_registry.subject = orders")


def declared_by_avro(options: Options, diagnostics: Diagnostics) -> CatalogTable | None:
    """The table that `avro_schema` declares; None without it."""
    text = options.optional_string("avro_schema")
    if text is None or not is_avro(options):
        return None
    try:
        return CatalogTable.of("kafka", columns_of_avro(text))
    except (AvroSchemaError, ValueError) as error:
        diagnostics.error("PEN2004", str(error), options.span("avro_schema"))
        return None


def registry_of(options: Options) -> Registry | None:
    url = options.optional_string("schema_registry.url")
    if url is None:
        return None
    user, password = (options.optional_string(f"schema_registry.{name}") for name in ("user", "password"))
    return Registry(url, user, password, options.span("schema_registry.url"))


def subjects_of(options: Options, topics: Iterable[str]) -> tuple[str, ...]:
    """The subjects of the values of these topics."""
    given = options.optional_string("schema_registry.subject")
    return (given,) if given is not None else tuple(f"{topic}-value" for topic in topics)


def parsed_avro(records: "DataFrame", options: Options, columns: list[Column], topics: tuple[str, ...]) -> "DataFrame":
    """The records with `__row`, their columns, and `__error`, why they cannot be read."""
    registry = registry_of(options)
    if registry is None:
        schema = written_schema(options, columns)
        return _with_rows(records.selectExpr("*", "0 as __id", "value as __body"), {0: schema}, columns, options)
    schemas: dict[int, str] = {}
    for subject in subjects_of(options, topics):
        schemas |= registry.schemas(subject)
    framed = records.selectExpr("*", f"{schema_id()} as __id", "substring(value, 6) as __body")
    return _with_rows(framed, schemas, columns, options)


def schema_id() -> str:
    """Spark SQL for the id of the schema that a record names; NULL where it names none."""
    is_framed = "length(value) > 5 and hex(substring(value, 1, 1)) = '00'"
    return f"if({is_framed}, cast(conv(hex(substring(value, 2, 4)), 16, 10) as bigint), null)"


def avro_value(columns: list[Column], schema: str, id: int | None) -> str:
    """Spark SQL for the value of a row; `id` of the schema in the registry."""
    local = {found.name.lower(): found.type for found in columns_of_avro(schema)}
    values = ", ".join(f"{quote_text(column.name)}, {_as_local(column, local)}" for column in columns)
    value = f"to_avro(named_struct({values}), {quote_text(schema)})"
    return value if id is None else f"concat(unhex('00{id:08X}'), {value})"


def _as_local(column: Column, types: Mapping[str, DataType]) -> str:
    """The value of a column, without a time zone where the schema has its timestamps so."""
    wanted = _with_local_timestamps(column.type)
    is_local = wanted != column.type and str(types.get(column.name.lower())).find("timestamp_ntz") >= 0
    return f"cast({quote(column.name)} as {to_ddl(wanted)})" if is_local else quote(column.name)


def _with_local_timestamps(type: DataType) -> DataType:
    match type:
        case Array(element):
            return Array(_with_local_timestamps(element))
        case Map(key, value):
            return Map(key, _with_local_timestamps(value))
        case Struct(fields):
            return Struct(tuple(replace(field, type=_with_local_timestamps(field.type)) for field in fields))
    return TIMESTAMP_NTZ if type == TIMESTAMP else type


def written_schema(options: Options, columns: Iterable[Column]) -> str:
    """The schema of records with these columns. Raises `AvroSchemaError`."""
    if given := options.optional_string("avro_schema"):
        return given
    is_seatunnels = options.seatunnel is not None and options.get("schema_registry.url") is None
    return required_avro_of_columns(columns) if is_seatunnels else avro_of_columns(columns, _RECORD)


def _with_rows(
    records: "DataFrame", schemas: Mapping[int, str], columns: list[Column], options: Options
) -> "DataFrame":
    read = records
    for id, schema in schemas.items():
        value = f"from_avro(__body, {quote_text(schema)}, map('mode', 'PERMISSIVE'))"
        read = read.selectExpr("*", f"if(__id = {id}, {value}, null) as __in{id}")
    known = ", ".join(map(str, schemas)) or "null"
    faults = [
        "when __id is null then 'it has no schema id: it is not in the format of a schema registry'",
        f"when not coalesce(__id in ({known}), false) then concat('the registry has no schema ', __id, ' for it')",
    ]
    rows = []
    for id, schema in schemas.items():
        values = {column.name: _value(column, id, schema, options) for column in columns}
        row = ", ".join(f"{quote_text(name)}, {value}" for name, (value, _) in values.items())
        rows.append(f"when __id = {id} then named_struct({row})")
        faults.append(f"when __id = {id} and {_is_broken(id, schema)} then 'it is not Avro of its schema'")
        faults += [f"when __id = {id} and {unfit} then {_told(column)}" for column in columns
                   if (unfit := values[column.name][1]) is not None]  # fmt: skip
    none = ", ".join(f"{quote_text(column.name)}, cast(null as {to_ddl(column.type)})" for column in columns)
    row = f"case {' '.join(rows)} else named_struct({none}) end"
    return read.selectExpr("*", f"case {' '.join(faults)} end as __error", f"{row} as __row")


def _is_broken(id: int, schema: str) -> str:
    """The condition that a body is not of a schema: Spark then has a NULL for each field. A record of nothing but NULLs
    takes one byte for each."""
    names = [column.name for column in columns_of_avro(schema)]
    nulls = " and ".join(f"__in{id}.{quote(name)} is null" for name in names) or "false"
    return f"(__in{id} is null or {nulls} and length(__body) <> {len(names)})"


def _value(column: Column, id: int, schema: str, options: Options) -> tuple[str, str | None]:
    """The value of a column in records of a schema, and the condition that it does not fit."""
    found = next((known for known in columns_of_avro(schema) if known.name.lower() == column.name.lower()), None)
    ddl = to_ddl(column.type)
    if found is None:
        return f"cast(null as {ddl})", None
    value = f"__in{id}.{quote(found.name)}"
    if str(found.type) == str(column.type):
        return f"cast({value} as {ddl})", None
    if not _is_castable(found.type, column.type) and not has_unknown(found.type):
        message = f"the Avro schema has `{found.name}` as {found.type}, and `schema` as {column.type}"
        raise run_error("PEN5004", message, options.span("schema"), "declare it as it is")
    return f"try_cast({value} as {ddl})", f"({value} is not null and try_cast({value} as {ddl}) is null)"


def _is_castable(found: DataType, declared: DataType) -> bool:
    """Whether a cast keeps the structure: the fields of structs have the same names, in order."""
    match found, declared:
        case Array(), Array():
            return _is_castable(found.element, declared.element)
        case Map(), Map():
            return found.key == declared.key and _is_castable(found.value, declared.value)
        case Struct(), Struct():
            names = [[field.name.lower() for field in type.fields] for type in (found, declared)]
            pairs = zip(found.fields, declared.fields, strict=False)
            return names[0] == names[1] and all(_is_castable(one.type, other.type) for one, other in pairs)
    return not isinstance(found, Array | Map | Struct)


def _told(column: Column) -> str:
    return quote_text(f"the value of `{column.name}` is not {column.type}")
