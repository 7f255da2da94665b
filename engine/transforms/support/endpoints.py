"""The options by which a job names a model's endpoint, and the endpoint that they mean."""

from collections.abc import Mapping
from typing import Final

from catalog.diagnostics import Diagnostics
from connectors.support.option import Option, Options, OptionType, Value
from engine.transforms.support.model_calls import Endpoint

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
    custom = options.mapping("custom_config")
    headers: dict[str, str] = {}
    if key := options.optional_string("api_key"):
        headers = {"api-key": key} if provider == "MICROSOFT" else {"Authorization": f"Bearer {key}"}
    body = _mapping(custom.get("custom_request_body"))
    pace = options["requests_per_second"]
    return Endpoint(
        url.replace("${model}", options.string("model")),
        options.string("model"),
        headers | {name: str(value) for name, value in _mapping(custom.get("custom_request_headers")).items()},
        dict(body) if body else None,
        str(custom["custom_response_parse"]) if custom.get("custom_response_parse") else None,
        options.integer("model_retry_max_attempts"),
        options.integer("model_retry_backoff_ms") / 1000,
        options.integer("model_retry_max_backoff_ms") / 1000,
        options.integer("model_request_timeout_ms") / 1000,
        float(pace) if isinstance(pace, int | float) else rows_per_second,
    )


def _mapping(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}
