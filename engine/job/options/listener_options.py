"""The `listeners` of `env`: what receives each change of state of a run.

env { listeners = [{ type = jsonl, path = "events.jsonl" }, { type = openlineage, url = "http://host:5000" }] }
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option, Options, OptionType, Value
from engine.job.model.job import ListenerConfig

LISTENERS: Final = Option(
    "listeners",
    OptionType.LIST,
    "Receives each change of state of the job and its pipelines: `{ type = log }`; `{ type = jsonl, path }`; "
    "`{ type = http, url, retries, token_env, headers }`; "
    "`{ type = openlineage, url, namespace, retries, token_env }`. `token_env` names the environment variable with a "
    "bearer token, `headers` gives more headers of the request. A listener delays the run by at most its "
    "`timeout_seconds` (5), at its end.",
    element=OptionType.MAP,
)

_NEEDED: Final[Mapping[str, str | None]] = {"log": None, "jsonl": "path", "http": "url", "openlineage": "url"}
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "log": (),
    "jsonl": ("path",),
    "http": ("url", "retries", "token_env", "headers"),
    "openlineage": ("url", "namespace", "retries", "token_env"),
}


def read_listeners(options: Options, diagnostics: Diagnostics) -> tuple[ListenerConfig, ...]:
    """The listeners of a job; errors go to `diagnostics`."""
    return tuple(_read(options, diagnostics))


def _read(options: Options, diagnostics: Diagnostics) -> Iterator[ListenerConfig]:
    written = options.get("listeners")
    for index, entry in enumerate(written if isinstance(written, list | tuple) else ()):
        place = f"listeners.{index}"
        span = options.places.get(place) or options.span("listeners")
        given: Mapping[str, Value] = entry if isinstance(entry, Mapping) else {}
        kind = str(given.get("type") or "").lower()
        mark = diagnostics.mark()
        if kind not in _NEEDED:
            help = did_you_mean(kind, _NEEDED) or "type = log, jsonl, http or openlineage"
            diagnostics.error("PEN2004", f"there is no listener of type `{kind}`", span, help)
            continue
        known = ("type", "timeout_seconds", *_KEYS[kind])
        for key in given:
            if key not in known:
                message = f"a listener `{kind}` has no option `{key}`"
                diagnostics.error("PEN2003", message, span, did_you_mean(key, known))
        needed = _NEEDED[kind]
        if needed and not isinstance(given.get(needed), str):
            diagnostics.error("PEN2005", f"a listener `{kind}` needs `{needed}`", span, f'{needed} = "…"')
        url = given.get("url")
        if isinstance(url, str) and not url.startswith(("http://", "https://")):
            diagnostics.error("PEN2004", f"`{url}` is not a URL of http or https", span, 'url = "http://host:5000"')
        timeout, retries = given.get("timeout_seconds", 5), given.get("retries", 3)
        if not _is_number(timeout) or not _is_number(retries):
            diagnostics.error("PEN2004", "`timeout_seconds` and `retries` are numbers, not negative", span)
        headers = given.get("headers", {})
        if not _are_headers(headers):
            help = "headers { X-Team = data }"
            diagnostics.error("PEN2004", "`headers` are names with texts of one line", span, help)
        if mark.is_last:
            yield ListenerConfig(
                kind,
                url if isinstance(url, str) else None,
                _text(given, "path"),
                float(str(timeout)),
                int(float(str(retries))),
                _text(given, "token_env"),
                _text(given, "namespace") or "penstock",
                {str(name): str(of) for name, of in headers.items()} if isinstance(headers, Mapping) else {},
            )


def _are_headers(value: Value) -> bool:
    return isinstance(value, Mapping) and not any(re.search(r"[\r\n]", f"{name}{of}") for name, of in value.items())


def _is_number(value: Value) -> bool:
    try:
        return float(str(value)) >= 0
    except ValueError:
        return False


def _text(given: Mapping[str, Value], key: str) -> str | None:
    value = given.get(key)
    return None if value is None else str(value)
