"""Ctrl-C and SIGTERM: they stop a run where nothing has been decided, and wait where a commit is under way."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


class InterruptedRun(KeyboardInterrupt):
    """The process was told to stop; `signal_number` by which signal, `is_clean` whether nothing staged is left."""

    def __init__(self, signal_number: int, *, is_clean: bool = True) -> None:
        super().__init__(signal.Signals(signal_number).name)
        self.signal_number, self.is_clean = signal_number, is_clean

    @property
    def exit_code(self) -> int:
        return 128 + self.signal_number


class Interrupts:
    """What was received so far. The first signal is raised in the main thread, at once or when it no longer is held."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._held = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            print("already stopping; one moment", file=sys.stderr)
            return
        self.received = number
        if self._held:
            print("committing: the run stops when this is done", file=sys.stderr)
        else:
            raise InterruptedRun(number)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While a commit is under way nothing is raised."""
        if self.received is not None:
            raise InterruptedRun(self.received)
        self._held = True
        try:
            yield
        finally:
            self._held = False


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Listen for the block's time; only the main thread can, elsewhere nothing is listened for."""
    received = Interrupts()
    if current_thread() is not main_thread():
        yield received
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, received.handle)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
