"""Ctrl-C and SIGTERM of a command: they stop its runs cleanly."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

from engine.runtime.interrupts import Interrupts


@contextmanager
def interrupts_of_run() -> Iterator[Interrupts]:
    """Stop the run of this block where it may be stopped, and say at once what happens."""
    received = Interrupts()

    def handle(number: int) -> None:
        if received.received is not None:
            print("already stopping, please wait", file=sys.stderr)
        elif received.raises:
            print("cancelling: Spark's running tasks end first, then what they staged is removed", file=sys.stderr)
        else:
            print("stopping as soon as the current step is complete", file=sys.stderr)
        received.receive(number)

    with _handled(handle):
        yield received


@contextmanager
def interrupts_of_project() -> Iterator[Interrupts]:
    """Start no further job, and stop the running ones, which are in other threads, before they commit."""
    received = Interrupts()

    def handle(number: int) -> None:
        print("stopping: running jobs stop before they commit", file=sys.stderr, flush=True)
        received.receive(number)

    with _handled(handle):
        yield received


@contextmanager
def _handled(handle: Callable[[int], None]) -> Iterator[None]:
    """Handle signals during the block; only possible in the main thread, elsewhere none comes."""
    if current_thread() is not main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda received, frame: handle(received))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
