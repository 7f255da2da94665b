"""Values as PostgreSQL writes them, as arrays of the types of Spark: ISO dates, UTC, and hexadecimal bytes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from catalog.types.datatypes import BINARY, BOOLEAN, STRING, Array, DataType
from connectors.change_capture.arrow_types import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa

SESSION: Final = {
    "timezone": "UTC",
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "client_encoding": "UTF8",
}
"""Settings of a session whose texts are read here."""

_TRUE: Final = ("t", "true", "1")
_FALSE: Final = ("f", "false", "0")


def from_texts(texts: "pa.Array | Sequence[str | None]", type: DataType) -> "pa.Array":
    """Texts as values of a type. Raises ValueError where one of them is none, such as `infinity` for a date."""
    import pyarrow as pa

    given = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
    wanted = arrow_type(type)
    if type == STRING:
        return given
    if type == BOOLEAN:
        return pa.array([_boolean(text) for text in given.to_pylist()], wanted)
    if type == BINARY:
        return pa.array([None if text is None else _bytes(text) for text in given.to_pylist()], wanted)
    if isinstance(type, Array):
        parsed = [None if text is None else array_items(text) for text in given.to_pylist()]
        items = from_texts([item for items in parsed if items is not None for item in items], type.element)
        return _listed(parsed, items, wanted)
    try:
        return given.cast(wanted)
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error


def array_items(text: str) -> list[str | None]:
    """The items of an array of one dimension: `{1,NULL,"a b"}`. Raises ValueError for another text."""
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError(f"the array `{text[:40]}` does not begin at 1")
    items: list[str | None] = []
    position, end = 1, len(text) - 1
    while position < end:
        if text[position] == "{":
            raise ValueError(f"the array `{text[:40]}` has several dimensions")
        if text[position] == '"':
            item, position = _quoted(text, position + 1)
            items.append(item)
        else:
            stop = text.find(",", position)
            stop = end if stop < 0 else stop
            item = text[position:stop]
            items.append(None if item == "NULL" else item)
            position = stop
        position += 1  # the comma
    return items


def _quoted(text: str, position: int) -> tuple[str, int]:
    parts = []
    while text[position] != '"':
        if text[position] == "\\":
            position += 1
        parts.append(text[position])
        position += 1
    return "".join(parts), position + 1


def _listed(parsed: Sequence[list[str | None] | None], items: "pa.Array", type: Any) -> "pa.Array":
    import pyarrow as pa

    values: list[list[Any] | None] = []
    start = 0
    listed = items.to_pylist()
    for of in parsed:
        if of is None:
            values.append(None)
        else:
            values.append(listed[start : start + len(of)])
            start += len(of)
    return pa.array(values, type)


def _boolean(text: str | None) -> bool | None:
    if text is None:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError(f"`{text}` is no boolean")


def _bytes(text: str) -> bytes:
    if not text.startswith("\\x"):
        raise ValueError("bytes are not hexadecimal")
    return bytes.fromhex(text[2:])
