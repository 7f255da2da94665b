"""JSON that keeps the text of its numbers: `1.50` is not `1.5`, and no digit of a decimal is lost."""

import json
import re
from typing import Any, Final

from catalog.types.datatypes import VARIANT, Array, DataType, Map, Struct

_NUMBER: Final = "\0n"
_WRITTEN_NUMBER: Final = re.compile(r'"\\u0000n([^"\\]*)"')


def parsed(text: str | bytes) -> Any:
    """The value, with fractions as marked texts. Raises ValueError for what is no JSON, also for NaN and Infinity."""
    return json.loads(text, parse_float=_marked, parse_constant=_refuse_constant)


def written(value: Any) -> str:
    """The text of a value that was `parsed`."""
    return _WRITTEN_NUMBER.sub(r"\1", json.dumps(value))


def plain(value: str) -> str:
    """A text of a `parsed` value without the mark of a fraction."""
    return value.removeprefix(_NUMBER)


def shaped(value: Any, type: DataType) -> Any:
    """The value with fractions as texts, which Spark would round to a double, and objects in other columns as texts."""
    match type, value:
        case Struct(fields), dict():
            return {column.name: shaped(value[column.name], column.type) for column in fields if column.name in value}
        case Array(element, _), list():
            return [shaped(item, element) for item in value]
        case Map(_, of_value, _), dict():
            return {name: shaped(item, of_value) for name, item in value.items()}
    if type == VARIANT:
        return value
    if isinstance(value, dict | list):
        return written(value)
    return plain(value) if isinstance(value, str) else value


def _marked(number: str) -> str:
    return _NUMBER + number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
