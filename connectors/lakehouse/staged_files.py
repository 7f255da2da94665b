"""Whether staged files still exist: a clean-up of others (VACUUM, orphan files) may have removed them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

_REQUESTS: Final = 16
"""Requests at a time."""


def are_there(paths: Sequence[str], exists: Callable[[str], bool]) -> bool:
    """Whether all files exist."""
    if len(paths) <= _REQUESTS:
        return all(map(exists, paths))
    with ThreadPoolExecutor(_REQUESTS) as pool:
        return all(pool.map(exists, paths))
