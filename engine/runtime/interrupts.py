"""Ctrl-C and SIGTERM: they stop a run while it stages rows; while it commits or cleans up they wait."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


class InterruptedRun(KeyboardInterrupt):
    """The run was interrupted before it decided to commit: the targets are unchanged.

    `signal_number`: the signal; `is_clean`: whether all staged rows were removed.
    """

    def __init__(self, signal_number: int, *, is_clean: bool = True) -> None:
        super().__init__(signal.Signals(signal_number).name)
        self.signal_number, self.is_clean = signal_number, is_clean

    @property
    def exit_code(self) -> int:
        return 128 + self.signal_number


class Interrupts:
    """The first signal received. It is raised in the main thread within `raised`, and only recorded elsewhere."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._raises = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            print("already stopping, please wait", file=sys.stderr)
            return
        self.received = number
        if self._raises:
            print("cancelling: Spark's running tasks end first, then what they staged is removed", file=sys.stderr)
            raise InterruptedRun(number)
        print("stopping as soon as the current step is complete", file=sys.stderr)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """A block that may be interrupted anywhere: a signal is raised in it, also one that came before."""
        self._raises = True
        try:
            self.check()
            yield
        finally:
            self._raises = False

    def check(self) -> None:
        """Raise the signal that came while none was raised."""
        if self.received is not None:
            raise InterruptedRun(self.received)


@contextmanager
def interrupts(shared: Interrupts | None = None) -> Iterator[Interrupts]:
    """Handle signals during the block; only possible in the main thread. Elsewhere, `shared` is what the main thread
    has received."""
    received = shared or Interrupts()
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
