"""The request of a page: its URL, headers and body, with the page number or the cursor in them."""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.secret_names import redacted_text
from connectors.shared.http_client import HttpRequest

_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Page:
    """The name and value of a page number or a cursor in a request; the first page has no cursor."""

    field: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a request that may contain the page. The repr contains no values, since some are sensitive."""

    params: dict[str, str] = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    body: str | None = field(repr=False)

    def replaced(self, mark: str, value: str) -> "Parts":
        return Parts(
            {name: text.replace(mark, value) for name, text in self.params.items()},
            {name: text.replace(mark, value) for name, text in self.headers.items()},
            self.body.replace(mark, value) if self.body else self.body,
        )

    def without(self, key: str, mark: str) -> "Parts":
        """The parts of a request without a cursor."""
        return Parts(
            {name: text for name, text in self.params.items() if name != key and mark not in text},
            {name: text for name, text in self.headers.items() if mark not in text},
            self.body.replace(mark, "") if self.body else self.body,
        )

    def keyed(self, key: str, value: str, written: "Parts") -> "Parts | None":
        """The parts with the value under that key, where `written` holds no placeholder; None without the key."""
        mark = f"${{{key}}}"
        is_param = key in self.params and mark not in written.params[key]
        is_header = key in self.headers and mark not in written.headers[key]
        body = _body_with(self.body, key, value) if self.body and mark not in (written.body or "") else None
        if not is_param and not is_header and body is None:
            return None
        return Parts(
            {**self.params, key: value} if is_param else self.params,
            {**self.headers, key: value} if is_header else self.headers,
            body or self.body,
        )


def check_url(options: Options, diagnostics: Diagnostics) -> None:
    """Report a `url` of another kind."""
    url = options.get("url")
    if isinstance(url, str) and not url.lower().startswith(("http://", "https://")):
        help = 'url = "https://host/path"'
        diagnostics.error("PEN2004", "`url` is neither an http:// nor an https:// URL", options.span("url"), help)


def request_of(options: Options, page: Page | None) -> HttpRequest:
    """The request of a page, or the only one of a read without pages."""
    parts = Parts(options.texts_by_key("params"), options.texts_by_key("headers"), options.optional_string("body"))
    if page is not None:
        parts = _with_page(options, page, parts)
    params, headers, body = parts.params, parts.headers, parts.body
    is_post = options.string("method").upper() == "POST"
    names = {name.lower(): text for name, text in headers.items()}
    data = None
    if is_post and body is not None:
        data = _form_of(body) if names.get("content-type", "").startswith(_FORM) else body.encode()
        headers = headers if "content-type" in names else {**headers, "Content-Type": "application/json"}
    elif is_post and (options.flag("keep_params_as_form") or _may_be_form(options, params)):
        data = urlencode(params).encode()
        params = params if _may_be_form(options, params) else {}
        headers = headers if "content-type" in names else {**headers, "Content-Type": _FORM}
    elif is_post:
        data = b""
    url = options.string("url")
    if params:
        url += ("&" if "?" in url else "?") + urlencode(params)
    return HttpRequest(url, "POST" if is_post else "GET", headers, data, label(options, page))


def _may_be_form(options: Options, params: dict[str, str]) -> bool:
    """Whether SeaTunnel 2.3 sends the parameters of a POST as a form in some versions (up to 2.3.8), and in the URL in
    others: they are sent both ways."""
    return options.seatunnel is not None and bool(params) and "keep_params_as_form" not in options.places


def _with_page(options: Options, page: Page, parts: Parts) -> Parts:
    """The parts with the page in them: for `${field}`, under the key `field`, or else as a parameter."""
    mark, value = f"${{{page.field}}}", page.value
    if value is None:
        return parts.without(page.field, mark)
    is_named = any(mark in text for text in (*parts.params.values(), *parts.headers.values(), parts.body or ""))
    filled = parts.replaced(mark, value)
    if not options.flag("pageing.use_placeholder_replacement"):
        keyed = filled.keyed(page.field, value, parts)
        is_named |= keyed is not None
        filled = keyed or filled
    if not is_named or options.flag("keep_page_param_as_http_param"):
        return replace(filled, params={**filled.params, page.field: value})
    return filled


def _body_with(body: str, field: str, value: str) -> str | None:
    """A JSON body with the value under each key of that name; None if it has none."""
    count = 0

    def fill(node: Any) -> Any:
        nonlocal count
        if isinstance(node, list):
            return [fill(item) for item in node]
        if not isinstance(node, dict):
            return node
        count += field in node
        filled = {name: fill(item) for name, item in node.items()}
        if field in node:
            is_number = isinstance(node[field], int) and value.isdigit()
            filled[field] = int(value) if is_number else value
        return filled

    try:
        filled = fill(json.loads(body))
    except ValueError:
        return None
    return json.dumps(filled, ensure_ascii=False) if count else None


def _form_of(body: str) -> bytes:
    try:
        fields = json.loads(body)
    except ValueError:
        return body.encode()
    return urlencode(fields).encode() if isinstance(fields, dict) else body.encode()


def label(options: Options, page: Page | None) -> str:
    """The name of a request in messages: its URL without secrets, and the page."""
    url = f"`{redacted_text(options.string('url'))}`"
    return url if page is None or page.value is None else f"{url}, page {redacted_text(page.value)}"
