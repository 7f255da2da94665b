"""Passes events to listeners without waiting for them: an error or a hang of one delays neither the run nor another."""

import threading
from collections.abc import Iterable
from queue import SimpleQueue
from time import monotonic

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.secret_names import redacted_text
from engine.events.event import Event, Listener


class _Recipient:
    """One listener, its thread and the events that it has not yet received."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.error: str | None = None
        self.waiting: SimpleQueue[Event | None] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, name=f"listener {listener.name}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (event := self.waiting.get()) is not None:
            try:
                self.listener.notify(event)
            except Exception as error:  # noqa: BLE001 (a listener's own code and its services; it is reported at the end)
                self.error = self.error or redacted_text(" ".join(f"{type(error).__name__}: {error}".split())[:300])


class Dispatcher:
    """Notifies each listener in a thread of its own."""

    def __init__(self, listeners: Iterable[Listener]) -> None:
        self._recipients = [_Recipient(listener) for listener in listeners]

    def notify(self, event: Event) -> None:
        """Queue the event for every listener; never waits."""
        for recipient in self._recipients:
            recipient.waiting.put(event)

    def close(self) -> tuple[Diagnostic, ...]:
        """Wait until all events are delivered, for each listener at most its time-out; gives a warning (PEN5051) of
        each that failed or was late."""
        started = monotonic()
        for recipient in self._recipients:
            recipient.waiting.put(None)
        warnings = []
        for recipient in self._recipients:
            left = recipient.listener.timeout - (monotonic() - started)
            recipient.thread.join(max(0.0, left))
            reason = (
                f"it is not done after {recipient.listener.timeout:g} s"
                if recipient.thread.is_alive()
                else recipient.error
            )
            if reason:
                message = f"the listener `{recipient.listener.name}` did not receive all events: {reason}"
                help = "the run itself is not affected"
                warnings.append(Diagnostic("PEN5051", message, None, help, Severity.WARNING))
        self._recipients = []
        return tuple(warnings)
