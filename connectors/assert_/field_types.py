"""Whether a column has the type that a rule names, as Apache SeaTunnel's Assert compares them: by values, so that the
names of a row's fields do not count, nor the precision of decimals and times."""

from catalog.options import Value
from catalog.types.datatypes import (
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    Time,
    has_unknown,
)
from catalog.types.typenames import TypeTextError, type_of_value


def wanted_type(value: Value) -> DataType | None:
    """The type of a rule's `field_type`, text or block; None for `decimal` without digits, which takes any.

    Raises `TypeTextError`.
    """
    if isinstance(value, str) and value.strip().lower() in ("decimal", "numeric"):
        return None
    if isinstance(value, str) and value.strip().lower() == "datetime":
        return TIMESTAMP
    if not isinstance(value, str | dict):
        raise TypeTextError("`field_type` is a type's text, or a block of fields")
    return type_of_value(value).type


def agrees(wanted: DataType | None, type: DataType) -> bool:
    """Whether the type satisfies the type of the rule."""
    if type == VOID or has_unknown(type):
        return True  # all values are NULL, which fits every type
    match wanted, type:
        case None, _:
            return isinstance(type, Decimal)
        case Decimal(), Decimal():
            return wanted.scale == type.scale
        case Time(), Time():
            return True
        case Array(of), Array(element):
            return agrees(of, element)
        case Map(key, of), Map(found_key, found_of):
            return agrees(key, found_key) and agrees(of, found_of)
        case Struct(fields), Struct(found):
            return len(fields) == len(found) and all(
                agrees(one.type, other.type) for one, other in zip(fields, found, strict=True)
            )
    if {wanted, type} == {TIMESTAMP, TIMESTAMP_NTZ}:
        return True
    return wanted == type
