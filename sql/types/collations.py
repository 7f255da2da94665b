"""Which collation strings get that meet in one expression: Spark's precedence of collations.

A collation is explicit (`x COLLATE unicode`), implicit (a column, a variable, a subquery, a cast of a string) or the
default (a literal). The strongest decides; two different explicit ones are an error, two different others of one
strength make the collation indeterminate. After `CollationTypeCoercion` of Spark 4.1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from catalog.types.collations import INDETERMINATE
from catalog.types.datatypes import Array, Atomic, DataType, Map, Struct, parts, with_strings


class Strength(IntEnum):
    """How a string got its collation; the lowest wins."""

    EXPLICIT = 0
    INDETERMINATE = 1
    IMPLICIT = 2
    DEFAULT = 3


@dataclass(frozen=True, slots=True)
class RankedString(Atomic):
    """A string with the strength of its collation."""

    strength: Strength = Strength.DEFAULT


class ExplicitCollationError(Exception):
    """Two explicit collations that differ; holds their names."""


def is_string(type: DataType) -> bool:
    return isinstance(type, Atomic) and type.name == "string"


def has_string(type: DataType) -> bool:
    return any(is_string(part) for part in parts(type))


def is_indeterminate(type: DataType) -> bool:
    return any(isinstance(part, Atomic) and part.collation == INDETERMINATE for part in parts(type))


def same_collations(a: DataType, b: DataType) -> bool:
    """Whether the strings at equal places of two types have the same collations."""
    match a, b:
        case Array(), Array():
            return same_collations(a.element, b.element)
        case Map(), Map():
            return same_collations(a.key, b.key) and same_collations(a.value, b.value)
        case Struct(), Struct():
            return all(same_collations(x.type, y.type) for x, y in zip(a.fields, b.fields, strict=False))
        case Atomic(), Atomic():
            return a.name != "string" or b.name != "string" or a.collation == b.collation
    return True


def ranked(type: DataType, strength: Strength) -> DataType:
    """The type with the strength of its strings' collations."""

    def with_strength(string: Atomic) -> Atomic:
        kept = Strength.INDETERMINATE if string.collation == INDETERMINATE else strength
        return RankedString("string", string.collation, kept)

    return with_strings(type, with_strength)


def winner(types: Iterable[DataType]) -> DataType | None:
    """The type whose strings have the collations of the strongest; None: the types have no common form."""
    found: DataType | None = None
    for type in types:
        found = type if found is None else merged(found, type, _stronger)
        if found is None:
            return None
    return found


def collated_as(type: DataType, decided: DataType) -> DataType:
    """The type with the collations of another one, string for string; itself where their forms differ."""
    return merged(type, decided, lambda mine, its: Atomic("string", its.collation)) or type


def merged(left: DataType, right: DataType, strings: Callable[[Atomic, Atomic], Atomic]) -> DataType | None:
    """Two types joined at their strings; an array and what is none meet at the array's elements."""
    match left, right:
        case (Atomic("string"), Atomic("string")):
            return strings(left, right)
        case (Array(), Array()):
            element = merged(left.element, right.element, strings)
            return None if element is None else replace(left, element=element)
        case (Map(), Map()):
            key, value = merged(left.key, right.key, strings), merged(left.value, right.value, strings)
            return None if key is None or value is None else replace(left, key=key, value=value)
        case (Array(), _):
            element = merged(left.element, right, strings)
            return None if element is None else replace(left, element=element)
        case (_, Array()):
            return merged(left, right.element, strings)
        case (Struct(), Struct()) if len(left.fields) == len(right.fields):
            types = [merged(x.type, y.type, strings) for x, y in zip(left.fields, right.fields, strict=True)]
            pairs = zip(left.fields, types, strict=True)
            return Struct(tuple(replace(field, type=type or field.type) for field, type in pairs))
    return left if left == right else None


def _stronger(left: Atomic, right: Atomic) -> Atomic:
    if not isinstance(left, RankedString):
        return right
    assert isinstance(right, RankedString)
    if left.strength != right.strength:
        return min(left, right, key=lambda side: side.strength)
    if left.collation == right.collation:
        return left
    if left.strength == Strength.EXPLICIT:
        raise ExplicitCollationError(left.collation, right.collation)
    return RankedString("string", INDETERMINATE, Strength.INDETERMINATE)
