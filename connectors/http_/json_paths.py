"""The values at a JSON path: names, indexes, slices, `*` and `..`, as Jayway's JsonPath in Apache SeaTunnel reads them.

    values_at({"book": [{"title": "a"}, {}]}, "$.book[*].title")   ["a", None]

A name that the last object lacks is None, so that the values of several paths stay side by side.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

_STEP: Final = re.compile(
    r"(?P<deep>\.\.)?(?:\.?(?P<name>[^.\[\]'\"*$?@()\s]+)|\.?(?P<star>\*|\[\*\])|\['(?P<single>[^']+)'\]"
    r"|\[\"(?P<double>[^\"]+)\"\]|\[(?P<index>-?\d+)\]|\[(?P<start>-?\d*):(?P<stop>-?\d*)\])"
)


def is_json_path(text: str) -> bool:
    """Whether `values_at` supports the path; it does not support filters and functions."""
    return _steps(text) is not None


def values_at(document: Any, path: str) -> list[Any]:
    """The values, in the document's order; raises ValueError for an invalid path."""
    steps = _steps(path)
    if steps is None:
        raise ValueError(f"no JSON path: {path!r}")
    values = [document]
    for number, step in enumerate(steps, 1):
        is_last = number == len(steps)
        parents = [parent for value in values for parent in (_below(value) if step["deep"] else (value,))]
        values = [child for parent in parents for child in _children(parent, step, is_last and not step["deep"])]
    return values


def _steps(text: str) -> list[re.Match[str]] | None:
    path = text.strip()
    if not path.startswith("$"):
        return None
    steps: list[re.Match[str]] = []
    position = 1
    while position < len(path):
        step = _STEP.match(path, position)
        is_bare = step is not None and step["name"] is not None and path[position] != "."
        if step is None or is_bare:
            return None
        steps.append(step)
        position = step.end()
    return steps


def _below(value: Any) -> Iterator[Any]:
    """The value and all values nested in it."""
    yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from _below(child)


def _children(value: Any, step: re.Match[str], is_leaf: bool) -> list[Any]:
    name = step["name"] or step["single"] or step["double"]
    if name is not None:
        is_there = isinstance(value, dict) and (is_leaf or name in value)
        return [value.get(name)] if is_there else []
    if step["star"]:
        return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    if not isinstance(value, list):
        return []
    if step["index"]:
        index = int(step["index"])
        return [value[index]] if -len(value) <= index < len(value) else []
    return value[_number(step["start"]) : _number(step["stop"])]


def _number(text: str | None) -> int | None:
    return int(text) if text else None
