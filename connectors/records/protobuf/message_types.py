"""The types of Protobuf's fields, and which columns are read from them and written into them.

After `SchemaConverters.toSqlType` of Spark 4.1 with the options `upcast.unsigned.ints` and
`unwrap.primitive.wrapper.types`; a field without presence that is not set has its default, as with
`emit.default.values`.
"""

from collections.abc import Mapping
from typing import Any, Final

from catalog.diagnostics.diagnostic import did_you_mean
from catalog.tables.evolution import widens
from catalog.tables.table import Column
from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    UNKNOWN,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
)
from connectors.records.protobuf.descriptors import Message, ProtobufSchemaError
from connectors.records.protobuf.message_values import DURATION, WRAPPERS, Parts, is_map
from connectors.records.protobuf.message_values import TIMESTAMP as TIMESTAMP_MESSAGE

_UNSIGNED: Final = Decimal(20, 0)
_DURATION: Final = Interval("day", "second")
_SCALARS: Final[Mapping[str, DataType]] = {
    "INT32": INT, "SINT32": INT, "SFIXED32": INT, "UINT32": BIGINT, "FIXED32": BIGINT,
    "INT64": BIGINT, "SINT64": BIGINT, "SFIXED64": BIGINT, "UINT64": _UNSIGNED, "FIXED64": _UNSIGNED,
    "FLOAT": FLOAT, "DOUBLE": DOUBLE, "BOOL": BOOLEAN, "STRING": STRING, "BYTES": BINARY, "ENUM": STRING,
}  # fmt: skip
_WRITTEN: Final[Mapping[DataType, tuple[DataType, ...]]] = {
    INT: (TINYINT, SMALLINT, INT),
    BIGINT: (TINYINT, SMALLINT, INT, BIGINT),
    _UNSIGNED: (TINYINT, SMALLINT, INT, BIGINT, _UNSIGNED),
    DOUBLE: (FLOAT, DOUBLE),
}
"""The types of columns that are written into a field of a type, where it is not that type alone."""


def columns_of_message(message: Message) -> tuple[Column, ...]:
    """The columns of a message. Raises `ProtobufSchemaError` where Spark has no type for it."""
    fields = _struct(message.descriptor, ()).fields
    if len({field.name.lower() for field in fields}) < len(fields):
        raise ProtobufSchemaError(f"two fields of the message `{message.name}` differ in case alone",
                                  "declare one of them: `schema { fields { name = type } }`")  # fmt: skip
    return tuple(Column(field.name, field.type, field.nullable) for field in fields)


def type_of_field(field: Any, within: tuple[str, ...] = ()) -> DataType:
    """The type of the values of a field; `within`: the full names of the messages that it is in."""
    if is_map(field):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        return Map(_type_of_value(key, within), _type_of_value(value, within), value_contains_null=False)
    type = _type_of_value(field, within)
    return Array(type, contains_null=False) if field.is_repeated else type


def read_as(field: Any, declared: DataType) -> tuple[DataType, Parts]:
    """The type in which the values of a field are read for a column of this type, and the parts of its message that
    are. Raises `ProtobufSchemaError` where they cannot be cast to it."""
    if is_map(field) and isinstance(declared, Map):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        type, parts = _value_as(value, declared.value)
        return _fitting(field, Map(_type_of_value(key, ()), type, value_contains_null=False), declared), parts
    if field.is_repeated and not is_map(field) and isinstance(declared, Array):
        type, parts = _value_as(field, declared.element)
        return _fitting(field, Array(type, contains_null=False), declared), parts
    if is_map(field) or field.is_repeated:
        raise _misfit(field, type_of_field(field), declared)
    type, parts = _value_as(field, declared)
    return _fitting(field, type, declared), parts


def parts_of(field: Any, type: DataType) -> Parts:
    """The parts of the message of a field that values of this type set. Raises `ProtobufSchemaError` where they cannot
    be written into the field."""
    match type:
        case Map(key, value) if is_map(field):
            keyed, valued = (field.message_type.fields_by_name[name] for name in ("key", "value"))
            _value_parts(keyed, key)
            return _value_parts(valued, value)
        case Array(element) if field.is_repeated and not is_map(field):
            return _value_parts(field, element)
    if is_map(field) or field.is_repeated:
        raise _unwritten(field, type_of_field(field), type)
    return _value_parts(field, type)


def field_named(fields: Any, name: str) -> Any | None:
    """The field of this name, else the first that differs in case alone; None without one."""
    exact = next((field for field in fields if field.name == name), None)
    return exact or next((field for field in fields if field.name.lower() == name.lower()), None)


def required_fields(message: Any) -> list[str]:
    """The fields of a message (of `proto2`) that must be set."""
    return [field.name for field in message.fields if field.is_required]


def _struct(message: Any, within: tuple[str, ...]) -> Struct:
    """The fields of a message, without those of messages that have none: Spark has no empty structs."""
    if message.full_name in within:
        text = f"the Protobuf message `{message.full_name}` contains itself, which no type of Spark's does"
        raise ProtobufSchemaError(text, "declare the fields to read: `schema { fields { name = type } }`")
    inside = (*within, message.full_name)
    found = ((field, type_of_field(field, inside)) for field in message.fields)
    return Struct(tuple(Field(field.name, type, not field.is_required) for field, type in found if not _is_empty(type)))


def _is_empty(type: DataType) -> bool:
    match type:
        case Array(inner) | Map(_, inner):
            return _is_empty(inner)
        case Struct(fields):
            return not fields
    return False


def _type_of_value(field: Any, within: tuple[str, ...]) -> DataType:
    """The type of one value: of an element where the field is repeated."""
    if field.message_type is None:
        return _SCALARS[_kind(field)]
    name = field.message_type.full_name
    if name == TIMESTAMP_MESSAGE:
        return TIMESTAMP
    if name == DURATION:
        return _DURATION
    if name in WRAPPERS:
        return _SCALARS[_kind(field.message_type.fields_by_name["value"])]
    return _struct(field.message_type, within)


def _kind(field: Any) -> str:
    """The scalar type of a field as `.proto` files name it, in capitals."""
    return next(name for name in _SCALARS if getattr(field, f"TYPE_{name}") == field.type)


def _is_struct(field: Any) -> bool:
    return field.message_type is not None and field.message_type.full_name not in (
        TIMESTAMP_MESSAGE, DURATION, *WRAPPERS,
    )  # fmt: skip


def _value_as(field: Any, declared: DataType) -> tuple[DataType, Parts]:
    if not _is_struct(field):
        return _type_of_value(field, ()), ()
    if not isinstance(declared, Struct):
        raise _misfit(field, _type_of_value(field, ()), declared)
    fields, parts = [], []
    for wanted in declared.fields:
        found = _part(field, wanted)
        type, inner = read_as(found, wanted.type)
        if (
            type != wanted.type
            and str(type) != str(wanted.type)
            and not _is_complex(type)
            and not widens(type, wanted.type)
        ):
            raise _misfit(found, type, wanted.type)
        fields.append(Field(wanted.name, type))
        parts.append((wanted.name, found.name, inner))
    return Struct(tuple(fields)), tuple(parts)


def _part(field: Any, part: Field) -> Any:
    found = field_named(field.message_type.fields, part.name)
    if found is None:
        names = [inner.name for inner in field.message_type.fields]
        raise ProtobufSchemaError(f"the Protobuf message `{field.message_type.full_name}` has no field `{part.name}`",
                                  did_you_mean(part.name, names))  # fmt: skip
    return found


def _fitting(field: Any, type: DataType, declared: DataType) -> DataType:
    """The type, if Spark casts it as a whole: values within others must widen."""
    match type, declared:
        case (Array(had), Array(wanted)):
            is_fit = _is_alike(had, wanted)
        case (Map(key, had), Map(wanted_key, wanted)):
            is_fit = _is_alike(key, wanted_key) and _is_alike(had, wanted)
        case _:
            is_fit = _is_complex(type) == _is_complex(declared)
    if not is_fit:
        raise _misfit(field, type, declared)
    return type


def _is_alike(type: DataType, declared: DataType) -> bool:
    return _is_complex(type) or str(type) == str(declared) or widens(type, declared)


def _is_complex(type: DataType) -> bool:
    return isinstance(type, Array | Map | Struct)


def _value_parts(field: Any, type: DataType) -> Parts:
    if type in (UNKNOWN, VOID):
        return ()
    if not _is_struct(field):
        wanted = _type_of_value(field, ())
        is_written = type in _WRITTEN.get(wanted, (wanted,))
        is_written |= isinstance(wanted, Interval) and isinstance(type, Interval) and not type.is_year_month
        is_written |= wanted == _UNSIGNED and isinstance(type, Decimal) and type.scale == 0
        if not is_written:
            raise _unwritten(field, wanted, type)
        return ()
    if not isinstance(type, Struct):
        raise _unwritten(field, _type_of_value(field, ()), type)
    parts = [(part, _part(field, part)) for part in type.fields]
    check_required(field.message_type, [found.name for _, found in parts])
    return tuple((part.name, found.name, parts_of(found, part.type)) for part, found in parts)


def check_required(message: Any, written: list[str]) -> None:
    """Raises `ProtobufSchemaError` where a required field of a message is not written."""
    if missing := next((name for name in required_fields(message) if name not in written), None):
        text = f"the field `{missing}` of the Protobuf message `{message.full_name}` is required"
        raise ProtobufSchemaError(f"{text}, and the rows do not have it")


def _misfit(field: Any, type: DataType, declared: DataType) -> ProtobufSchemaError:
    message = f"the Protobuf message `{field.containing_type.full_name}` has `{field.name}` as {type}"
    return ProtobufSchemaError(f"{message}, and `schema` as {declared}", "declare it as it is")


def _unwritten(field: Any, wanted: DataType, type: DataType) -> ProtobufSchemaError:
    message = f"the Protobuf message `{field.containing_type.full_name}` has `{field.name}` as {wanted}"
    return ProtobufSchemaError(f"{message}, and the rows as {type}", "cast the column in a `Sql` transform")
