"""Collects garbage rarely while jobs are read: a plan is many objects and hardly any garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

COLLECT_EVERY: Final = 200_000
"""New objects between two garbage collections: more than are made by importing the modules and reading some hundred
jobs. With Python's own 700 a tenth of the time of `validate` is spent on searching what is in use."""

_before: Final = gc.get_threshold()


@contextmanager
def rare_collections(*, ends_process: bool = False) -> Iterator[None]:
    """`ends_process`: the last search, with which Python ends, is left out too."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if ends_process:
            gc.freeze()


def usual_collections() -> None:
    """Collect as often as Python does: a run may last, and its garbage holds objects of the JVM."""
    gc.set_threshold(*_before)


@contextmanager
def modules_kept() -> Iterator[None]:
    """Imported modules are never garbage, and searching them repeatedly is slow."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
