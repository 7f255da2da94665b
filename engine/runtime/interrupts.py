"""Requests to stop a run: it stops while it stages rows; while it commits or cleans up, they wait.

Nothing here touches the process's signals: whoever owns the process calls `receive`.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


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
    """The first request received, by the number of its signal. It is raised in the main thread within `raised`, and
    only recorded elsewhere.

    `raises`: whether it would be raised now.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.raises = False

    def receive(self, number: int) -> None:
        """Called in the main thread, as by a handler of a signal; only the first call counts."""
        if self.received is not None:
            return
        self.received = number
        if self.raises:
            raise InterruptedRun(number)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """A block that may be interrupted anywhere: a request is raised in it, also one that came before."""
        self.raises = True
        try:
            self.check()
            yield
        finally:
            self.raises = False

    def check(self) -> None:
        """Raise the request that came while none was raised."""
        if self.received is not None:
            raise InterruptedRun(self.received)
