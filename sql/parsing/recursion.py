"""Runs recursive code on a larger stack: Spark accepts a chain of two thousand ANDs, whose tree is as deep."""

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from sqlglot.tokenizer_core import Token, TokenType

P = ParamSpec("P")
R = TypeVar("R")

FRAMES: Final = 200_000
STACK: Final = 512 * 1024 * 1024
"""Bytes of address space, which become memory only where they are used; a frame may take 2 KiB of them."""

MOST_NESTED: Final = 1000
"""Spark's own parser overflows its stack before (4.1.4, Java 17: somewhere from 250 subqueries to 1,000 brackets)."""

_OPENS: Final = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE))
_CLOSES: Final = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END))

_LOCK: Final = threading.Lock()

_HERE: Final = threading.local()
"""`has_room` is set in the threads that this module starts."""


def with_room(function: Callable[P, R]) -> Callable[P, R]:
    """The function, called again on its own stack if Python's recursion limit is too low.

    It must have no side effects. If it still raises a RecursionError, the caller must handle it.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            if hasattr(_HERE, "has_room"):  # what called this one has the lock, and waits
                raise
            return _on_own_stack(lambda: function(*args, **kwargs))

    return call


def too_deep(tokens: Sequence[Token]) -> Token | None:
    """The first token that stands within more brackets than Spark can parse."""
    if len(tokens) <= MOST_NESTED:
        return None
    depth = 0
    for token in tokens:
        if token.token_type in _OPENS:
            depth += 1
            if depth > MOST_NESTED:
                return token
        elif token.token_type in _CLOSES:
            depth = max(depth - 1, 0)
    return None


def _mark_room() -> None:
    _HERE.has_room = True


def _on_own_stack(call: Callable[[], R]) -> R:
    with _LOCK:  # the limits are the process's
        frames, stack = sys.getrecursionlimit(), threading.stack_size(STACK)
        sys.setrecursionlimit(FRAMES)
        try:
            with ThreadPoolExecutor(1, initializer=_mark_room) as pool:
                return pool.submit(call).result()
        finally:
            sys.setrecursionlimit(frames)
            threading.stack_size(stack)
