"""Equality of two values of one type as Spark SQL, also of maps, which Spark cannot compare."""

from catalog.quoting import quote, quote_text
from catalog.types.datatypes import VARIANT, Array, DataType, Map, Struct, parts


def equals(left: str, right: str, type: DataType) -> str:
    """A predicate that is never NULL: whether two expressions of the type are equal; NULL equals NULL."""
    return f"{_comparable(left, type, 0)} <=> {_comparable(right, type, 0)}"


def _comparable(value: str, type: DataType, depth: int) -> str:
    """The value with its maps as sorted lists of entries, and its variants as JSON."""
    if not any(isinstance(part, Map) or part == VARIANT for part in parts(type)):
        return value
    item = f"x{depth}"
    match type:
        case Array(element):
            return f"transform({value}, {item} -> {_comparable(item, element, depth + 1)})"
        case Map(key, of):
            entry = (
                f"struct({_comparable(f'{item}.key', key, depth + 1)} as k, "
                f"{_comparable(f'{item}.value', of, depth + 1)} as v)"
            )
            return f"sort_array(transform(map_entries({value}), {item} -> {entry}))"
        case Struct(fields):
            named = ", ".join(
                f"{quote_text(field.name)}, {_comparable(f'{value}.{quote(field.name)}', field.type, depth)}"
                for field in fields
            )
            return f"if({value} is null, null, named_struct({named}))"
        case _:
            return f"to_json({value})"
