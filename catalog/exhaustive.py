"""`assert_never` for Python 3.10, whose `typing` has none."""

from typing import NoReturn


def assert_never(value: NoReturn) -> NoReturn:
    """End a `match` with it: a new kind of node then fails type-checking wherever it is not handled."""
    raise AssertionError(f"unhandled: {value!r}")
