"""Collects garbage less often while jobs are read: a plan is many objects and hardly any garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

COLLECT_EVERY: Final = 50_000
"""New objects between two garbage collections, which is some 80 jobs; Python's own 700 would be at every job or two,
and some hundred times while the modules are imported."""


@contextmanager
def rare_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
