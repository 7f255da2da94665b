"""Messages as rows and rows as messages, in Arrow batches; runs in Spark's tasks, where Penstock need not be installed.

`Parts` are the fields of a message that are read or written: each with its name in the row, its name in the message
and, where it is a message itself, its own parts.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import pyarrow

Parts: TypeAlias = tuple[tuple[str, str, "Parts"], ...]

TIMESTAMP: Final = "google.protobuf.Timestamp"
DURATION: Final = "google.protobuf.Duration"
WRAPPERS: Final = tuple(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
"""The messages that hold one value, so that it can be missing."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SECONDS: Final = {TIMESTAMP: (-62_135_596_800, 253_402_300_799), DURATION: (-315_576_000_000, 315_576_000_000)}
"""The seconds that a message of the type may have, by its documentation."""


Batch: TypeAlias = "Callable[[pyarrow.Array], pyarrow.Array]"


def decoding(files: bytes, name: str, parts: Parts, type: Any) -> Batch:
    """A function of serialized messages that gives rows of a struct `type`: a column for each part, and `error`, why a
    message cannot be read."""
    made: list[_Decoder] = []

    def decode(values: "pyarrow.Array") -> "pyarrow.Array":
        if not made:
            made.append(_Decoder(_message_type(files, name), parts))
        return made[0].rows(values, type)

    return decode


def encoding(files: bytes, name: str, parts: Parts, type: Any) -> Batch:
    """A function of rows that gives a struct `type` of `value`, the serialized message, and `error`, why a row cannot
    be written."""
    made: list[_Encoder] = []

    def encode(rows: "pyarrow.Array") -> "pyarrow.Array":
        if not made:
            made.append(_Encoder(_message_type(files, name), parts))
        return made[0].values(rows, type)

    return encode


class _Decoder:
    def __init__(self, message_type: Any, parts: Parts) -> None:
        fields = message_type.DESCRIPTOR.fields_by_name
        self.message_type = message_type
        self.readers = [_reader(fields[field], inner) for _, field, inner in parts]

    def rows(self, values: "pyarrow.Array", type: Any) -> "pyarrow.Array":
        import pyarrow as pa

        decoded = [self.row(value) for value in values.to_pylist()]
        columns = zip(*decoded, strict=True) if decoded else [()] * (len(self.readers) + 1)
        arrays = [pa.array(cells, field.type) for cells, field in zip(columns, type, strict=True)]
        return pa.StructArray.from_arrays(arrays, fields=list(type))

    def row(self, value: bytes) -> tuple[Any, ...]:
        from google.protobuf.message import DecodeError

        name = self.message_type.DESCRIPTOR.full_name
        try:
            message = self.message_type.FromString(value)
            if not (missing := message.FindInitializationErrors()):
                return (*(read(message) for read in self.readers), None)
            error = f"it lacks the required field `{missing[0]}` of the message `{name}`"
        except DecodeError:
            error = f"it is not Protobuf of the message `{name}`"
        except ValueError as cause:
            error = f"it is not Protobuf of the message `{name}`: {cause}"
        return (*(None for _ in self.readers), error)


class _Encoder:
    def __init__(self, message_type: Any, parts: Parts) -> None:
        fields = message_type.DESCRIPTOR.fields_by_name
        self.message_type = message_type
        self.writers = [(key, field, _writer(fields[field], inner)) for key, field, inner in parts]

    def values(self, rows: "pyarrow.Array", type: Any) -> "pyarrow.Array":
        import pyarrow as pa

        columns = [rows.field(key).to_pylist() for key, _, _ in self.writers]  # faster than rows as a whole
        cells = zip(*columns, strict=True) if columns else [()] * len(rows)
        encoded = [self.value(row) for row in cells]
        values, errors = zip(*encoded, strict=True) if encoded else ((), ())
        arrays = [pa.array(values, pa.binary()), pa.array(errors, pa.string())]
        return pa.StructArray.from_arrays(arrays, fields=list(type))

    def value(self, cells: tuple[Any, ...]) -> tuple[bytes | None, str | None]:
        message = self.message_type()
        for (_, field, write), cell in zip(self.writers, cells, strict=True):
            try:
                if cell is not None:
                    write(message, cell)
            except (ValueError, TypeError) as cause:
                return None, f"the value of `{field}`: {cause}"
        if missing := message.FindInitializationErrors():
            return None, f"the required field `{missing[0]}` is NULL"
        return message.SerializeToString(), None


def _message_type(files: bytes, name: str) -> Any:
    """The class of a message."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(files).file:
        pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(name))


def is_map(field: Any) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _reader(field: Any, parts: Parts) -> Callable[[Any], Any]:
    """A function of a message that gives the value of one of its fields."""
    name = field.name
    if is_map(field):
        key, value = (_value_reader(field.message_type.fields_by_name[each], parts) for each in ("key", "value"))
        return lambda message: [(key(k), value(v)) for k, v in getattr(message, name).items()]
    value = _value_reader(field, parts)
    if field.is_repeated:
        return lambda message: [value(item) for item in getattr(message, name)]
    if field.has_presence:
        return lambda message: value(getattr(message, name)) if message.HasField(name) else None
    return lambda message: value(getattr(message, name))


def _value_reader(field: Any, parts: Parts) -> Callable[[Any], Any]:
    if field.enum_type is not None:
        enum = field.enum_type
        names = {number: value.name for number, value in enum.values_by_number.items()}
        return lambda number: names.get(number) or f"UNKNOWN_ENUM_VALUE_{enum.name}_{number}"
    if field.message_type is None:
        return lambda value: value
    kind = field.message_type.full_name
    if kind in _SECONDS:
        return lambda message: _micros(message, kind)
    if kind in WRAPPERS:
        return lambda message: message.value
    fields = field.message_type.fields_by_name
    readers = [(key, _reader(fields[name], inner)) for key, name, inner in parts]
    return lambda message: {key: read(message) for key, read in readers}


def _micros(message: Any, kind: str) -> int:
    least, most = _SECONDS[kind]
    if not least <= message.seconds <= most:
        raise ValueError(f"{message.seconds} seconds are out of the range of {kind}")
    part = abs(message.nanos) // 1000
    return int(message.seconds * 1_000_000 + (part if message.nanos >= 0 else -part))


def _writer(field: Any, parts: Parts) -> Callable[[Any, Any], None]:
    """A function that puts a value that is not NULL into a field of a message."""
    name = field.name
    if is_map(field):
        return _map_writer(field, parts)
    if field.message_type is not None:
        into = _message_writer(field.message_type, parts)
        if field.is_repeated:
            return lambda message, items: _each(items, lambda item: into(getattr(message, name).add(), item))
        return lambda message, value: into(getattr(message, name), value)
    convert = _converter(field)
    if field.is_repeated:
        return lambda message, items: getattr(message, name).extend(map(convert, _present(items)))
    return lambda message, value: setattr(message, name, convert(value))


def _map_writer(field: Any, parts: Parts) -> Callable[[Any, Any], None]:
    name, value_field = field.name, field.message_type.fields_by_name["value"]
    key_of = _converter(field.message_type.fields_by_name["key"])
    into = None if value_field.message_type is None else _message_writer(value_field.message_type, parts)
    convert = _converter(value_field)

    def write(message: Any, items: Any) -> None:
        entries = getattr(message, name)
        for key, value in items:
            if value is None:
                raise ValueError("a value of the map is NULL, which Protobuf does not have")
            if into is None:
                entries[key_of(key)] = convert(value)
            else:
                into(entries[key_of(key)], value)

    return write


def _each(items: Any, write: Callable[[Any], None]) -> None:
    for item in _present(items):
        write(item)


def _present(items: Any) -> Iterator[Any]:
    for item in items:
        if item is None:
            raise ValueError("an element is NULL, which Protobuf does not have")
        yield item


def _message_writer(kind: Any, parts: Parts) -> Callable[[Any, Any], None]:
    """A function that puts a value into a message of this type."""
    if kind.full_name == TIMESTAMP:
        return lambda message, value: _set_seconds(message, value - _EPOCH)
    if kind.full_name == DURATION:
        return _set_seconds
    if kind.full_name in WRAPPERS:
        convert = _converter(kind.fields_by_name["value"])

        def wrap(message: Any, value: Any) -> None:
            message.SetInParent()
            message.value = convert(value)

        return wrap
    writers = [(key, _writer(kind.fields_by_name[name], inner)) for key, name, inner in parts]

    def fill(message: Any, value: Any) -> None:
        message.SetInParent()
        for key, write in writers:
            if value[key] is not None:
                write(message, value[key])

    return fill


def _set_seconds(message: Any, value: timedelta) -> None:
    """Whole seconds and nanoseconds: of a duration with one sign, of a timestamp the latter count forward."""
    message.SetInParent()
    micros = value // timedelta(microseconds=1)
    is_duration = message.DESCRIPTOR.full_name == DURATION
    seconds = -(-micros // 1_000_000) if is_duration and micros < 0 else micros // 1_000_000
    message.seconds = seconds
    message.nanos = (micros - seconds * 1_000_000) * 1000


def _converter(field: Any) -> Callable[[Any], Any]:
    """A value of Spark's as one of a field that is no message."""
    if field.enum_type is not None:
        numbers = {name: value.number for name, value in field.enum_type.values_by_name.items()}
        enum = field.enum_type.name

        def number(name: str) -> int:
            if name not in numbers:
                raise ValueError(f"`{name}` is not in the enum {enum}: {', '.join(numbers)}")
            return int(numbers[name])

        return number
    if field.cpp_type == field.CPPTYPE_UINT64:
        return int  # a decimal
    return lambda value: value
