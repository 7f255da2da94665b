"""When the micro-batches of a stream run: `stream.trigger` of a job's `env`."""

import re
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.model.job import Env

AVAILABLE_NOW: Final = "available_now"
ONCE: Final = "once"
_DEFAULT: Final = "10 seconds"
_INTERVAL: Final = re.compile(r"\d+ (?:millisecond|second|minute|hour)s?", re.IGNORECASE)


def trigger_of(env: Env) -> str:
    """`available_now`, `once`, or an interval as `10 seconds`: by default that of `checkpoint.interval`."""
    given = env.options.get("stream.trigger") if env.options else None
    if given is not None:
        return str(given).strip().lower()
    interval = env.options.get("checkpoint.interval") if env.options else None
    return f"{interval} milliseconds" if interval else _DEFAULT


def ends_by_itself(env: Env) -> bool:
    """Whether the stream ends once it has read what is there."""
    return trigger_of(env) in (AVAILABLE_NOW, ONCE)


def check_trigger(env: Env, diagnostics: Diagnostics) -> None:
    trigger = trigger_of(env)
    if trigger not in (AVAILABLE_NOW, ONCE) and not _INTERVAL.fullmatch(trigger):
        message = f"`{trigger}` is neither `available_now`, `once` nor an interval"
        span = env.options.span("stream.trigger") if env.options else None
        diagnostics.error("PEN2004", message, span, 'stream.trigger = "30 seconds"')
