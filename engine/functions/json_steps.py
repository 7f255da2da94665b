"""The steps of JSON paths, and the functions at their end."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from engine.functions.json_comparisons import MISSING

Step: TypeAlias = Callable[[Any, Any], "Iterator[Any] | list[Any]"]
"""The values that a step finds below a value; its second argument is the document."""

Test: TypeAlias = Callable[[Any, Any], bool]
"""Whether an element fits a filter; its second argument is the document."""


def of_property(names: tuple[str, ...]) -> Step:
    name = names[0]
    return lambda value, _: [value[name]] if isinstance(value, dict) and name in value else []


def subset(names: tuple[str, ...]) -> Step:
    """`['a','b']`: an object of these names."""
    return lambda value, _: [{n: value[n] for n in names if n in value}] if isinstance(value, dict) else []


def children(value: Any, _: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def indexed(indexes: tuple[int, ...]) -> Step:
    def step(value: Any, _: Any) -> list[Any]:
        if not isinstance(value, list):
            return []
        return [value[index] for index in indexes if -len(value) <= index < len(value)]

    return step


def of_slice(start: int | None, end: int | None) -> Step:
    return lambda value, _: value[start:end] if isinstance(value, list) else []


def of_filter(test: Test) -> Step:
    """The elements of a list that fit; an object by itself."""

    def step(value: Any, document: Any) -> list[Any]:
        elements = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        return [element for element in elements if test(element, document)]

    return step


def fitting(test: Test) -> Step:
    """`..[?(…)]`: the value itself, where it is an object that fits."""
    return lambda value, document: [value] if isinstance(value, dict) and test(value, document) else []


def scan(step: Step, scanned: Step | None) -> Step:
    """What a step finds at a value and at everything below it, parents first."""
    found = scanned or step

    def every(value: Any, document: Any) -> Iterator[Any]:
        yield from found(value, document)
        for child in children(value, document):
            yield from every(child, document)

    return every


def applied(function: str, value: Any) -> Any:
    """A function at the end of a path; `MISSING` where it does not apply to the value."""
    if function in ("length", "size"):
        return len(value) if isinstance(value, list | dict) else MISSING
    if function == "keys":
        return list(value) if isinstance(value, dict) else MISSING
    if function == "concat":
        return "".join(item for item in value if isinstance(item, str)) if isinstance(value, list) else MISSING
    if not isinstance(value, list) or not value:
        return MISSING
    if function in ("first", "last"):
        return value[0 if function == "first" else -1]
    numbers = [float(item) for item in value if isinstance(item, int | float) and not isinstance(item, bool)]
    return _aggregated(function, numbers) if numbers else MISSING


def _aggregated(function: str, numbers: list[float]) -> float:
    mean = sum(numbers) / len(numbers)
    match function:
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "avg":
            return mean
        case "stddev":
            return float((sum((number - mean) ** 2 for number in numbers) / len(numbers)) ** 0.5)
        case _:
            return sum(numbers)
