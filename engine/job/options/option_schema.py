"""Option specs as JSON Schema, and the errors of values that do not fit.

Importing jsonschema takes 0.1 s, more than the rest of `validate` for one job. So `conforms` checks first, in plain
Python; only a value that it refuses is passed to jsonschema, which reports the errors.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from catalog.options import Option, OptionType, Value

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

_JSON_TYPES: Final[Mapping[OptionType, str | None]] = {
    OptionType.STRING: "string",
    OptionType.INTEGER: "integer",
    OptionType.NUMBER: "number",
    OptionType.BOOLEAN: "boolean",
    OptionType.LIST: "array",
    OptionType.MAP: "object",
    OptionType.ANY: None,
}

_WORDS: Final[Mapping[str, str]] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a block",
}


def option_schema(option: Option) -> dict[str, Value]:
    """The schema of an option's value."""
    schema: dict[str, Value] = {"description": option.doc}
    limits: dict[str, Value] = {}
    if option.choices:
        limits["enum"] = list(option.choices)
    if option.minimum is not None:
        limits["minimum"] = option.minimum
    match option.type:
        case OptionType.LIST:
            return schema | {"type": "array", "items": {**_typed(option.element), **limits}}
        case OptionType.MAP if option.element is not None:
            return schema | {"type": "object", "additionalProperties": _typed(option.element)}
        case _:
            return schema | _typed(option.type) | limits


def conforms(value: Value, option: Option) -> bool:
    """Whether a value fits `option_schema`, checked without jsonschema."""
    match option.type:
        case OptionType.LIST:
            return isinstance(value, list) and all(_fits(item, option.element, option) for item in value)
        case OptionType.MAP:
            return isinstance(value, dict) and all(_is(item, option.element) for item in value.values())
        case _:
            return _fits(value, option.type, option)


def violations(value: Value, option: Option) -> Iterator[tuple[str, str]]:
    """Where (`.0.name` below the option, or nothing) and why the value does not fit, as the end of a sentence."""
    for error in _validator(json.dumps(option_schema(option), sort_keys=True)).iter_errors(value):
        yield "".join(f".{step}" for step in error.absolute_path), _reason(str(error.validator), error.validator_value)


def _reason(keyword: str, limit: object) -> str:
    match keyword, limit:
        case "type", str():
            return f"must be {_WORDS[limit]}"
        case "minimum", int() | float():
            return f"must be at least {limit:g}"
        case "enum", list():
            return "must be " + " or ".join(f"`{choice}`" for choice in limit)
    raise AssertionError(keyword)


def _typed(type: OptionType | None) -> dict[str, Value]:
    name = None if type is None else _JSON_TYPES[type]
    return {} if name is None else {"type": name}


def _fits(value: Value, type: OptionType | None, option: Option) -> bool:
    if not _is(value, type) or (option.choices and value not in option.choices):
        return False
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return option.minimum is None or not is_number or float(str(value)) >= option.minimum


def _is(value: Value, type: OptionType | None) -> bool:
    match type:
        case None | OptionType.ANY:
            return True
        case OptionType.STRING:
            return isinstance(value, str)
        case OptionType.INTEGER:
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case OptionType.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case OptionType.BOOLEAN:
            return isinstance(value, bool)
        case OptionType.LIST:
            return isinstance(value, list)
        case OptionType.MAP:
            return isinstance(value, dict)


@cache
def _validator(schema: str) -> "Validator":
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema))
