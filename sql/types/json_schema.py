"""Schemas as Spark writes them in JSON (`DataType.json`): `{"type": "struct", "fields": [{"name": "a", …}]}`."""

import json

from catalog.types.datatypes import Array, DataType, Field, Map, Struct
from catalog.types.typetext import TypeTextError, parse_type


def parse_json_schema(text: str) -> DataType | None:
    """The type that the JSON text describes (`DataType.fromJson`); None if it describes none that is known here."""
    if text.lstrip()[:1] not in ("{", '"'):
        return None
    try:
        return _type(json.loads(text))
    except (ValueError, KeyError, TypeError, RecursionError, TypeTextError):
        return None


def _type(value: object) -> DataType:
    match value:
        case str():
            return parse_type(value)
        case {"type": "struct", "fields": list(fields)}:
            return Struct(tuple(_field(field) for field in fields))
        case {"type": "array", "elementType": element, "containsNull": bool(contains_null)}:
            return Array(_type(element), contains_null)
        case {"type": "map", "keyType": key, "valueType": held, "valueContainsNull": bool(contains_null)}:
            return Map(_type(key), _type(held), contains_null)
        case _:
            raise TypeTextError("no type of Spark's")


def _field(value: dict[str, object]) -> Field:
    name, nullable = value["name"], value.get("nullable", True)
    if not isinstance(name, str) or not isinstance(nullable, bool):
        raise TypeTextError("no field of Spark's")
    return Field(name, _type(value["type"]), nullable)
