"""`assert_never` for Python 3.10, whose `typing` has none."""

from typing import NoReturn


def assert_never(value: NoReturn) -> NoReturn:
    """The last case of a `match`: type-checking then fails wherever a new kind of node is not handled."""
    raise AssertionError(f"unhandled: {value!r}")
