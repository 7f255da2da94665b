"""The requests of a read, one for each page, and the rows of their responses as JSON texts.

Numbers keep their text: `1.50` is not `1.5`, and no digit of a decimal is lost.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from catalog.diagnostics.diagnostic import RunError, nearest, run_error
from catalog.options import Options
from catalog.secret_names import redacted_text
from catalog.types.datatypes import Struct
from connectors.documents.exact_json import parsed, plain, shaped, written
from connectors.http_.http_requests import Page, label, request_of
from connectors.http_.json_paths import values_at
from connectors.shared.http_client import HttpClient

_SHOWN: Final = 60
_READ: Final = 1_000


@dataclass(frozen=True, slots=True)
class Reply:
    """One response: its rows, and the documents they are from."""

    rows: list[dict[str, Any]]
    text: str
    documents: list[Any]


def client_of(options: Options, *, follows_redirects: bool = True) -> HttpClient:
    return HttpClient(
        options.integer("connect_timeout_ms") / 1000,
        options.integer("socket_timeout_ms") / 1000,
        options.integer("retry"),
        options.integer("retry_backoff_multiplier_ms") / 1000,
        options.integer("retry_backoff_max_ms") / 1000,
        options.span("url"),
        follows_redirects,
    )


def row_texts(
    options: Options, column: str | None, row: Struct | None = None, *, needs_fields: bool = False
) -> Iterator[str]:
    """The rows of all pages, each as the text of a JSON object; one page at a time is in memory.

    `column`: the one that takes whole responses; None if the responses hold the rows. `row`: the declared columns,
    whose values are written so that Spark reads them exactly. `needs_fields`: each is a field of some row, if there are
    rows. Raises PEN3004, PEN5004 and PEN5040.
    """
    held: dict[str, None] = {}
    for found in _all_rows(options, column):
        held.update(dict.fromkeys(found))
        yield written(found if row is None else shaped(found, row))
    missing = [field.name for field in row.fields if field.name not in held] if row is not None and held else []
    if missing and column is None and needs_fields:
        raise _missing(missing[0], [field.name for field in row.fields] if row else [], held, options)


def _missing(name: str, declared: Iterable[str], held: Iterable[str], options: Options) -> RunError:
    message = f"no row of the response has the declared field `{name}`"
    close = nearest(name, set(held) - set(declared))
    help = f"did you mean `{close}`? " if close else ""
    span = options.places.get("schema") or options.span("url")
    return run_error("PEN3004", message, span, f"{help}`missing_columns = allow` reads it as NULL")


def _all_rows(options: Options, column: str | None) -> Iterator[dict[str, Any]]:
    if options.optional_string("pageing.cursor_field"):
        yield from _by_cursor(options, column)
    elif options.optional_string("pageing.page_field"):
        yield from _by_number(options, column)
    else:
        yield from _reply(options, column, None).rows


def _by_number(options: Options, column: str | None) -> Iterator[dict[str, Any]]:
    field, last = options.string("pageing.page_field"), options.optional_integer("pageing.total_page_size") or 0
    number, previous = options.integer("pageing.start_page_number"), None
    while True:
        page = Page(field, str(number))
        reply = _reply(options, column, page)
        if not last and reply.rows and reply.text == previous:
            help = "name the parameter that the service pages by in `pageing.page_field`, or set the last page by "
            help += "`pageing.total_page_size`"
            raise _error(options, page, "the response is that of the page before", help)
        yield from reply.rows
        if number >= last if last else _size(reply, column) < options.integer("pageing.batch_size"):
            return
        number, previous = number + 1, reply.text


def _by_cursor(options: Options, column: str | None) -> Iterator[dict[str, Any]]:
    field, path = options.string("pageing.cursor_field"), options.string("pageing.cursor_response_field")
    cursor, seen = None, set()
    while True:
        page = Page(field, cursor)
        reply = _reply(options, column, page)
        yield from reply.rows
        documents = reply.documents or ([_parsed(reply.text, options, page)] if reply.text.strip() else [])
        found = [value for document in documents for value in values_at(document, path)]
        if not found or found[-1] in (None, ""):
            return
        cursor = plain(str(found[-1]))
        if cursor in seen:
            help = "check `pageing.cursor_field` and `pageing.cursor_response_field`"
            raise _error(options, page, f"the next cursor, `{cursor}`, was returned before", help)
        seen.add(cursor)


def _size(reply: Reply, column: str | None) -> int:
    """How many rows a page has; of a response that is one text, the elements of its array."""
    if column is None or len(reply.rows) != 1:
        return len(reply.rows)
    try:
        document = json.loads(reply.text)
    except ValueError:
        return 1
    return len(document) if isinstance(document, list) else 1


def _reply(options: Options, column: str | None, page: Page | None) -> Reply:
    text = client_of(options).text(request_of(options, page))
    rows: list[dict[str, Any]] = []
    documents: list[Any] = []
    for part in text.split("\n") if options.flag("enable_multi_lines") else [text]:
        if not part.strip():
            continue
        content_field = options.optional_string("content_field")
        if column is None or content_field:
            documents.append(_parsed(part, options, page))
        if column is None:
            rows += _rows(documents[-1], options, page)
        else:
            content = written(values_at(documents[-1], content_field)) if content_field else part
            rows.append({column: content})
    return Reply(rows, text, documents)


def _rows(document: Any, options: Options, page: Page | None) -> Iterator[dict[str, Any]]:
    content_field = options.optional_string("content_field")
    if content_field is None and options.mapping("json_field"):
        yield from _columns_side_by_side(document, options, page)
        return
    found = [document] if content_field is None else values_at(document, content_field)
    for value in found:
        for row in value if isinstance(value, list) else [value]:
            if row is None:
                continue
            if not isinstance(row, dict):
                help = "name the rows by `content_field`, or the values of each column by `json_field`"
                shown = redacted_text(written(row)[:_READ])[:_SHOWN]
                raise _error(options, page, f"a row is no JSON object: `{shown}`", help)
            yield row


def _columns_side_by_side(document: Any, options: Options, page: Page | None) -> Iterator[dict[str, Any]]:
    paths = options.texts_by_key("json_field")
    columns = {name: values_at(document, path) for name, path in paths.items()}
    count = max(map(len, columns.values()), default=0)
    for name, values in columns.items():
        if len(values) != count and (values or not options.flag("json_filed_missed_return_null")):
            longest = next(other for other, found in columns.items() if len(found) == count)
            message = f"`{paths[longest]}` has {count} values, `{paths[name]}` has {len(values)}"
            help = "let all paths of `json_field` lead through the same array"
            if not values:
                help += ", or set `json_filed_missed_return_null = true` for NULLs"
            raise _error(options, page, message, help)
    for index in range(count):
        yield {name: values[index] if values else None for name, values in columns.items()}


def _parsed(text: str, options: Options, page: Page | None) -> Any:
    try:
        return parsed(text)
    except ValueError as error:
        shown = redacted_text(text.strip()[:_READ])[:_SHOWN].replace("\n", " ")
        message = f"the response is not JSON: {error}; it begins with `{shown}`"
        help = (
            "check `url` and `headers`; `enable_multi_lines = true` reads a document a line, `format = text` any text"
        )
        raise _error(options, page, message, help) from None


def _error(options: Options, page: Page | None, message: str, help: str) -> RunError:
    return run_error("PEN5040", f"{label(options, page)}: {message}", options.span("url"), help)
