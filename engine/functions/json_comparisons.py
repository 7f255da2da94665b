"""Compares values in the filters of JSON paths, as Jayway's JsonPath does."""

import re
from collections.abc import Callable
from typing import Any, Final

MISSING: Final = object()
"""In place of a value that is not there; `None` is JSON's null."""


def _equal(left: Any, right: Any) -> bool:
    """Numbers equal texts that show them."""
    if isinstance(left, bool) or isinstance(right, bool) or left is MISSING or right is MISSING:
        return left is right
    if isinstance(left, str) != isinstance(right, str) and isinstance(left, str | int | float):
        try:
            return isinstance(right, str | int | float) and float(left) == float(right)
        except ValueError:
            return False
    return bool(left == right)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def ordered(left: Any, right: Any) -> bool:
        if isinstance(left, bool) or isinstance(right, bool):
            return False
        for kind in (int | float, str):
            if isinstance(left, kind) and isinstance(right, kind):
                return compare(left, right)
        return False

    return ordered


def _within(left: Any, right: Any) -> bool:
    return isinstance(right, list) and any(_equal(left, item) for item in right)


def _contains(left: Any, right: Any) -> bool:
    if isinstance(left, str):
        return isinstance(right, str) and right in left
    return _within(right, left)


def _all_within(left: Any, right: Any) -> bool:
    return isinstance(left, list) and all(_within(item, right) for item in left)


def _any_within(left: Any, right: Any) -> bool:
    return isinstance(left, list) and any(_within(item, right) for item in left)


def _matches(left: Any, right: Any) -> bool:
    return isinstance(left, str) and isinstance(right, re.Pattern) and right.fullmatch(left) is not None


def _has_size(left: Any, right: Any) -> bool:
    return isinstance(left, str | list | dict) and len(left) == right


COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _ordered(lambda left, right: left < right),
    "<=": _ordered(lambda left, right: left <= right),
    ">": _ordered(lambda left, right: left > right),
    ">=": _ordered(lambda left, right: left >= right),
    "=~": _matches,
    "in": _within,
    "nin": lambda left, right: not _within(left, right),
    "anyof": _any_within,
    "noneof": lambda left, right: not _any_within(left, right),
    "subsetof": _all_within,
    "contains": _contains,
    "size": _has_size,
    "empty": lambda left, right: isinstance(left, str | list | dict) and (not left) is right,
}
"""By operator, in lower case: whether the left value compares so with the right one."""
