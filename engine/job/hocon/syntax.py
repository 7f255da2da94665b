"""What the HOCON reader reads before substitutions are resolved and equal keys merged."""

from dataclasses import dataclass
from typing import TypeAlias

from engine.job.model.tree import ListNode, MapNode, Place, ScalarNode, TextNode


@dataclass(eq=False, slots=True)
class HoconField:
    """One written key with its value; `a.b = 1` is a field `a` that holds an object with the field `b`."""

    key: str
    key_place: Place
    value: "Syntax"
    is_append: bool = False


@dataclass(eq=False, slots=True)
class HoconObject:
    """Fields in the order in which they are written, every duplicate kept."""

    fields: list[HoconField]
    place: Place


@dataclass(eq=False, slots=True)
class HoconArray:
    items: list["Syntax"]
    place: Place


@dataclass(eq=False, slots=True)
class Substitution:
    """`${name}`, `${?name}` or `${name:default}` outside quotes."""

    name: str
    is_optional: bool
    default: str | None
    place: Place


@dataclass(eq=False, slots=True)
class Concatenation:
    """Values side by side on a line: strings are joined (with the blanks between them), lists and objects too."""

    parts: list["Syntax"]
    place: Place


Syntax: TypeAlias = HoconObject | HoconArray | Substitution | Concatenation | ScalarNode | TextNode | ListNode | MapNode
"""Leaves are final nodes already; lists and maps stand here where a substitution brought them."""


def parts_of(value: Syntax) -> list[Syntax]:
    return value.parts if isinstance(value, Concatenation) else [value]
