"""Commits that are retried after a conflict with another writer."""

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

_ATTEMPTS: Final = 10


def retried(attempt: Callable[[], T], is_conflict: Callable[[BaseException], bool]) -> T:
    """The result of a commit; one that conflicts with another writer is retried on the table as it is then."""
    for number in range(1, _ATTEMPTS + 1):
        try:
            return attempt()
        except Exception as error:
            if number == _ATTEMPTS or not is_conflict(error):
                raise
    raise AssertionError("the last attempt returns or raises")
