"""The columns of an Avro file, from the schema in its header, in the types that Spark reads."""

from typing import IO, Final

from catalog.tables.table import Column
from catalog.types.avro_types import type_of_avro
from catalog.types.datatypes import Struct, as_nullable

_MAGIC: Final = b"Obj\x01"


def avro_columns(file: str) -> list[Column]:
    """The columns of the file's records; raises `ValueError` for what is no Avro file or has no type in Spark."""
    with open(file, "rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("it is not an Avro file")
        schema = _metadata(opened)["avro.schema"].decode()
    type = as_nullable(type_of_avro(schema, of_file=True))
    if not isinstance(type, Struct):
        raise ValueError(f"it holds values of type {type}, not records")
    return [Column(field.name, field.type) for field in type.fields]


def _metadata(opened: IO[bytes]) -> dict[str, bytes]:
    """The map of the header: blocks of pairs, the last one empty."""
    found: dict[str, bytes] = {}
    while count := _long(opened):
        if count < 0:  # a negative count is followed by the block's size
            _long(opened)
        for _ in range(abs(count)):
            name = opened.read(_long(opened)).decode()
            found[name] = opened.read(_long(opened))
    return found


def _long(opened: IO[bytes]) -> int:
    """A number of variable length, zigzag-coded."""
    value = shift = 0
    while True:
        byte = opened.read(1)
        if not byte:
            raise ValueError("its header is cut off")
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return (value >> 1) ^ -(value & 1)
