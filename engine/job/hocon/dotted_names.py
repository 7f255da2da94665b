"""Dotted keys that are names as a whole, where HOCON would let one replace the other: `a = 1` next to `a.b = 2`."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from operator import is_

from engine.job.hocon.syntax import HoconArray, HoconField, HoconObject, Syntax
from engine.job.model.tree import Place


def with_spark_settings(env: Syntax) -> Syntax:
    """The `env` block with each setting of Spark under its whole name, where one is the beginning of another:
    `spark.sql.catalog.lake = …` names a catalog, and `spark.sql.catalog.lake.type = …` is its type."""
    if not isinstance(env, HoconObject):
        return env
    settings = {id(field): list(_leaves(field)) for field in env.fields if field.key == "spark"}
    if not is_one_the_beginning({leaf.key for leaves in settings.values() for leaf in leaves}):
        return env
    return HoconObject([leaf for field in env.fields for leaf in settings.get(id(field), [field])], env.place)


def is_one_the_beginning(names: Collection[str]) -> bool:
    """Whether one of the names is the first part of another: `a.b` of `a.b.c`."""
    return any(name[: match.start()] in names for name in names for match in re.finditer(r"\.", name))


def _leaves(field: HoconField) -> Iterator[HoconField]:
    """The settings of a field, each with its whole name; its place is the whole name's where it is written so."""
    if not isinstance(field.value, HoconObject):
        yield field
        return
    for inner in field.value.fields:
        place = inner.key_place
        if _is_dotted(field):
            place = Place(place.source, field.key_place.start, place.end)
        yield from _leaves(replace(inner, key=f"{field.key}.{inner.key}", key_place=place))


def with_dotted_names(block: Syntax) -> Syntax:
    """The block with `start_mode.offsets = …` as an option of that name where it has an option `start_mode` as well, as
    Apache SeaTunnel reads it: HOCON's own meaning is that the later one replaces the other."""
    if isinstance(block, HoconArray):
        items = [with_dotted_names(item) for item in block.items]
        return block if all(map(is_, items, block.items)) else HoconArray(items, block.place)
    if not isinstance(block, HoconObject):
        return block
    plain = {field.key for field in block.fields if not isinstance(field.value, HoconObject)}
    fields = [_with_dotted_name(field, plain) for field in block.fields]
    return block if all(map(is_, fields, block.fields)) else HoconObject(fields, block.place)


def _with_dotted_name(field: HoconField, plain: Collection[str]) -> HoconField:
    if not isinstance(field.value, HoconObject | HoconArray):
        return field
    if isinstance(field.value, HoconObject) and field.key in plain and _is_dotted(field):
        inner = field.value.fields[0]
        field = replace(inner, key=f"{field.key}.{inner.key}")
    value = with_dotted_names(field.value)
    return field if value is field.value else replace(field, value=value)


def _is_dotted(field: HoconField) -> bool:
    """Whether the field is the first step of a dotted key."""
    place = field.key_place
    return place.source.text[place.end :].lstrip().startswith(".")
