"""The options by which a job names a model's endpoint, and the endpoint that they mean."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType, Value
from engine.transforms.support.model_calls import Endpoint

QIANFAN: Final = "QIANFAN"
_TOKENS: Final = "https://aip.baidubce.com/oauth/2.0/token"

ENDPOINT_OPTIONS: Final = (
    Option("model", OptionType.STRING, "The model's name.", required=True),
    Option("api_key", OptionType.STRING, "The key, sent as a bearer token.", sensitive=True),
    Option("api_path", OptionType.STRING, "The endpoint's URL; each provider has a default.",
           alternatives=("openai.api_path",)),
    Option("custom_config", OptionType.MAP,
           "Of `CUSTOM`: `custom_request_headers`, `custom_request_body` with `${model}`, `${prompt}`, `${input}`, and "
           "`custom_response_parse`, the JSON path of the answers."),
    Option("model_retry_max_attempts", OptionType.INTEGER,
           "How often a request is sent at most, while errors are transient (429, 5xx, timeouts).", default=3,
           minimum=1),
    Option("model_retry_backoff_ms", OptionType.INTEGER, "Milliseconds before the second attempt; doubled after each.",
           default=1000, minimum=0),
    Option("model_retry_max_backoff_ms", OptionType.INTEGER, "Most milliseconds between two attempts.",
           default=10000, minimum=0),
    Option("model_request_timeout_ms", OptionType.INTEGER, "Milliseconds after which a request fails.",
           default=20000, minimum=1),
    Option("requests_per_second", OptionType.NUMBER, "Most requests a second of each Spark task."),
)  # fmt: skip


def endpoint(
    options: Options, paths: Mapping[str, str], diagnostics: Diagnostics, *, rows_per_second: float | None = None
) -> Endpoint | None:
    """The endpoint; `paths` are the providers' own. None if an error was reported."""
    provider = options.string("model_provider")
    url = options.optional_string("api_path") or paths.get(provider)
    if not url:
        help = 'api_path = "https://…"'
        diagnostics.error("PEN2005", f"`{provider}` needs `api_path`", options.span("model_provider"), help)
        return None
    if provider == QIANFAN:
        return _of_qianfan(url, options, diagnostics, rows_per_second)
    custom = options.mapping("custom_config")
    headers: dict[str, str] = {}
    if key := options.optional_string("api_key"):
        headers = {"api-key": key} if provider == "MICROSOFT" else {"Authorization": f"Bearer {key}"}
    body = _mapping(custom.get("custom_request_body"))
    found = Endpoint(
        url.replace("${model}", options.string("model")),
        options.string("model"),
        headers | {name: str(value) for name, value in _mapping(custom.get("custom_request_headers")).items()},
        dict(body) if body else None,
        str(custom["custom_response_parse"]) if custom.get("custom_response_parse") else None,
    )
    return _paced(found, options, rows_per_second)


def _paced(found: Endpoint, options: Options, rows_per_second: float | None) -> Endpoint:
    pace = options["requests_per_second"]
    return replace(
        found,
        attempts=options.integer("model_retry_max_attempts"),
        backoff=options.integer("model_retry_backoff_ms") / 1000,
        most_backoff=options.integer("model_retry_max_backoff_ms") / 1000,
        timeout=options.integer("model_request_timeout_ms") / 1000,
        per_second=float(pace) if isinstance(pace, int | float) else rows_per_second,
    )


def _of_qianfan(url: str, options: Options, diagnostics: Diagnostics, rows_per_second: float | None) -> Endpoint | None:
    """Its URL ends with the model, and carries a token that its two keys give."""
    keys = [options.optional_string(name) for name in ("api_key", "secret_key")]
    if None in keys:
        missing = "api_key" if keys[0] is None else "secret_key"
        diagnostics.error("PEN2005", f"`{QIANFAN}` needs `{missing}`", options.span("model_provider"))
        return None
    identity, secret = (quote(str(key)) for key in keys)
    tokens = options.optional_string("oauth_path") or _TOKENS
    token_url = f"{tokens}?grant_type=client_credentials&client_id={identity}&client_secret={secret}"
    model = options.string("model")
    return _paced(Endpoint(f"{url.rstrip('/')}/{model}", model, {}, token_url=token_url), options, rows_per_second)


def _mapping(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}
