"""Listeners that need no package: the log, a file of JSON lines, a web service."""

import json
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from catalog.diagnostics.diagnostic import run_error
from catalog.diagnostics.shown_names import shown_text
from catalog.secret_names import redacted, redacted_text
from connectors.shared.http_client import HttpClient, HttpRequest
from engine.events.event import Event, Listener
from engine.job.model.job import ListenerConfig
from engine.plan.nodes import Plan

_LOG: Final = logging.getLogger("penstock.events")
_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 10.0


@dataclass(frozen=True, slots=True)
class LogListener:
    """One line for each event: by Python's logger `penstock.events`, at the level INFO, where the program has set up
    logging; else on the error output."""

    name: str
    timeout: float

    def notify(self, event: Event) -> None:
        cause = f": {event.cause}" if event.cause else ""
        text = f"{event.run_id} {event.job} {event.pipeline or ''} {event.state}{cause}"
        if logging.getLogger().handlers or _LOG.handlers:
            _LOG.info("%s", text)
        else:
            print(shown_text(text), file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class JsonLinesListener:
    """A file to which each event is added as a line of JSON."""

    name: str
    timeout: float
    path: str

    def notify(self, event: Event) -> None:
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(redacted(event.to_json()), default=str) + "\n")


@dataclass(frozen=True, slots=True)
class HttpListener:
    """A web service that gets each event as JSON by POST; again after transient errors, with growing pauses.

    Redirects are errors: a redirected POST loses its body, and another host must not get the token.
    """

    name: str
    timeout: float
    url: str
    retries: int
    token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def notify(self, event: Event) -> None:
        headers = {"Content-Type": "application/json", **self.headers}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        body = json.dumps(redacted(event.to_json()), default=str).encode()
        client = HttpClient(
            self.timeout, self.timeout, self.retries, _FIRST_PAUSE, _LONGEST_PAUSE, follows_redirects=False
        )
        client.text(HttpRequest(self.url, "POST", headers, body, redacted_text(self.url)))


def listener_of(config: ListenerConfig, plan: Plan) -> Listener:
    """The listener that the job asks for. Raises PEN9003 where its package is missing, PEN1005 where its token is."""
    match config.type:
        case "log":
            return LogListener("log", config.timeout)
        case "jsonl":
            return JsonLinesListener(f"jsonl {config.path}", config.timeout, config.path or "")
        case "http":
            return HttpListener(
                f"http {config.url}", config.timeout, config.url or "", config.retries, _token(config), config.headers
            )
        case _:
            from engine.events.openlineage import OpenLineageListener

            return OpenLineageListener(config, _token(config), plan)


def _token(config: ListenerConfig) -> str | None:
    if config.token_env is None:
        return None
    if token := os.environ.get(config.token_env):
        return token
    message = f"the listener `{config.type}` takes its token from `{config.token_env}`, which is not set"
    raise run_error("PEN1005", message, None, f"export {config.token_env}=…")
