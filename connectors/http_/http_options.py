"""The options of Http: those of Apache SeaTunnel's 2.3 documentation, with its names and defaults."""

from typing import Final

from catalog.options import Option, OptionType
from connectors.interface.schema_option import SCHEMA_OPTION
from connectors.interface.source import STREAM

PAGE_OPTIONS: Final = (
    Option("pageing.page_type", OptionType.STRING, "By page numbers, or by a cursor that each response holds.",
           default="PageNumber", choices=("PageNumber", "Cursor")),
    Option("pageing.page_field", OptionType.STRING,
           "Name of the page number in `params`, in a JSON `body` or in `headers`; sent in the URL where none of them "
           "has it."),
    Option("pageing.use_placeholder_replacement", OptionType.BOOLEAN,
           "Only `${page_field}` is replaced, in `params`, `body` and `headers`; otherwise also values under that key. "
           "Without `--compat seatunnel` write `$${page}`.", default=False),
    Option("pageing.total_page_size", OptionType.INTEGER, "The last page. Without it, pages are read until one has "
           "fewer rows than `pageing.batch_size`.", minimum=0),
    Option("pageing.batch_size", OptionType.INTEGER, "Rows of a full page.", default=100, minimum=1),
    Option("pageing.start_page_number", OptionType.INTEGER, "The first page.", default=1, minimum=0),
    Option("pageing.cursor_field", OptionType.STRING, "Name of the cursor in the request."),
    Option("pageing.cursor_response_field", OptionType.STRING,
           "JSON path of the next cursor in a response; reading ends where it is missing, null or empty."),
)  # fmt: skip

REQUEST_OPTIONS: Final = (
    Option("retry", OptionType.INTEGER,
           "How often a request is repeated after a transient error (no connection, timeout, 408, 425, 429, 5xx).",
           default=3, minimum=0),
    Option("retry_backoff_multiplier_ms", OptionType.INTEGER, "Milliseconds before the first repetition; doubled after "
           "each.", default=100, minimum=0),
    Option("retry_backoff_max_ms", OptionType.INTEGER, "Most milliseconds between two attempts.", default=10_000,
           minimum=0),
    Option("connect_timeout_ms", OptionType.INTEGER, "Milliseconds for making a connection.", default=12_000,
           minimum=1),
    Option("socket_timeout_ms", OptionType.INTEGER, "Milliseconds of silence after which a request fails.",
           default=60_000, minimum=1),
)  # fmt: skip
"""How a request is repeated, and how long it may take."""

HTTP_OPTIONS: Final = (
    Option("url", OptionType.STRING, "An `http://` or `https://` URL.", required=True),
    SCHEMA_OPTION,
    Option("format", OptionType.STRING,
           "`json`: the rows in the columns of `schema`. `text`: each response as a `content`. Default: `json` with "
           "`schema`, else `text`.", choices=("json", "text")),
    Option("method", OptionType.STRING, "The request's method.", default="GET", choices=("GET", "POST")),
    Option("headers", OptionType.MAP, "The request's headers. Names such as `Authorization` are masked in all output."),
    Option("params", OptionType.MAP, "Parameters, added to the URL. Names such as `api_key` are masked in all output."),
    Option("body", OptionType.STRING, "The body of a POST, sent as `application/json` unless `headers` say otherwise; "
           "a JSON object is sent as a form where they say `application/x-www-form-urlencoded`."),
    Option("json_field", OptionType.MAP, "JSON path of each column's values: `{ title = \"$.book[*].title\" }`. Names, "
           "indexes, slices, `*` and `..`."),
    Option("content_field", OptionType.STRING, "JSON path of the rows: `$.store.book.*`.",
           alternatives=("content_json",)),
    Option("json_filed_missed_return_null", OptionType.BOOLEAN,
           "Whether a path of `json_field` without any value gives NULLs instead of an error.", default=False),
    Option("missing_columns", OptionType.STRING,
           "What happens where no row of a response has a declared field, which is read as NULL: with `fail`, a batch "
           "job fails; `allow` expects it.", default="fail", choices=("fail", "allow")),
    *PAGE_OPTIONS,
    *REQUEST_OPTIONS,
    Option("enable_multi_lines", OptionType.BOOLEAN, "Whether each line of a response is a document of its own.",
           default=False),
    Option("keep_params_as_form", OptionType.BOOLEAN, "Whether `params` of a POST are sent as a form, not in the URL.",
           default=False),
    Option("keep_page_param_as_http_param", OptionType.BOOLEAN,
           "Whether the page number or cursor is one of `params` even where they do not name it.", default=False),
    Option("poll_interval_millis", OptionType.INTEGER,
           "Milliseconds between two requests of a streaming job, which writes the rows of each. Without it, the "
           "service is a table that each micro-batch reads.",
           minimum=0, alternatives=("poll_interval_ms",)),
    STREAM,
)  # fmt: skip

SINK_OPTIONS: Final = (
    Option("url", OptionType.STRING, "An `http://` or `https://` URL.", required=True),
    Option("method", OptionType.STRING, "The request's method.", default="POST", choices=("POST", "PUT", "PATCH")),
    Option("headers", OptionType.MAP, "The request's headers. Names such as `Authorization` are masked in all output."),
    Option("params", OptionType.MAP, "Parameters, added to the URL. Names such as `api_key` are masked in all output."),
    Option("array_mode", OptionType.BOOLEAN, "Whether a request has an array of rows, not one row as an object.",
           default=False),
    Option("batch_size", OptionType.INTEGER, "Most rows of a request, with `array_mode`.", default=1, minimum=1),
    Option("request_interval_ms", OptionType.INTEGER, "Milliseconds between two requests of one task.", default=0,
           minimum=0),
    Option("idempotency_header", OptionType.STRING,
           "The header with a text that is the same where a request is repeated, and that no other request has; empty "
           "for none.", default="Idempotency-Key"),
    *REQUEST_OPTIONS,
)  # fmt: skip
