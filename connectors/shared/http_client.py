"""Sends one HTTP request, with retries after transient errors; the final error names the URL and the page."""

import gzip
import http.client
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.diagnostics.source import Span
from catalog.secret_names import redacted_text

_TRANSIENT: Final = frozenset((408, 425, 429, 500, 502, 503, 504))
_FOR_ALL: Final = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})
"""Headers that another host gets after a redirect, too."""
_STATUS_HELP: Final = {
    401: "check the credentials in `headers` or `params`",
    403: "check the credentials in `headers` or `params`, and what they permit",
    404: "check `url`, `params` and, with `pageing`, the number of pages",
    405: "check `method`",
    429: "raise `retry` and `retry_backoff_multiplier_ms`, or read at another time",
}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; `label` is its name in messages, without secrets (`http://host/items, page 3`)."""

    url: str = field(repr=False)
    method: str
    headers: dict[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    label: str


@dataclass(frozen=True, slots=True)
class HttpClient:
    """Settings of requests: timeouts and the wait between attempts, in seconds.

    `follows_redirects`: turn it off where the body matters: HTTP clients follow a redirected POST by a GET without it.
    """

    connect_timeout: float
    socket_timeout: float
    retries: int
    backoff: float
    most_backoff: float
    span: Span | None = None
    follows_redirects: bool = True

    def text(self, request: HttpRequest) -> str:
        """The response's body. Raises PEN5004 after transient errors, PEN5040 after permanent ones."""
        attempt = 0
        while True:
            try:
                return self._sent(request)
            except RunError:
                raise
            except (OSError, http.client.HTTPException) as error:
                attempt += 1
                if attempt > self.retries:
                    raise self._unreachable(request, error, attempt) from error
            time.sleep(min(self.backoff * 2 ** (attempt - 1), self.most_backoff))

    def _sent(self, request: HttpRequest) -> str:
        opener = urllib.request.build_opener(_Http(self), _Https(self), _Redirect(self))
        sent = urllib.request.Request(request.url, request.body, request.headers, method=request.method)
        try:
            with opener.open(sent, timeout=self.connect_timeout) as response:
                return _decoded(response.read(), response.headers)
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _TRANSIENT:
                    raise ConnectionError(_status(error)) from None
                help = _STATUS_HELP.get(error.code, "check `url`, `method`, `headers`, `params` and `body`")
                message = f"{request.label}: the server answered {_status(error)}"
                raise run_error("PEN5040", message, self.span, help) from None
        except (LookupError, UnicodeDecodeError) as error:
            help = "the response is no text of the character set that it names"
            raise run_error("PEN5040", f"{request.label}: {error}", self.span, help) from None

    def _unreachable(self, request: HttpRequest, error: Exception, attempts: int) -> RunError:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        text = redacted_text(str(reason) or type(error).__name__)
        count = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        help = "check the host and port of `url`, and that the service is up; `retry` sets how often it is asked again"
        return run_error("PEN5004", f"{request.label}: {text} ({count})", self.span, help)


def _status(error: urllib.error.HTTPError) -> str:
    status = f"{error.code} {error.reason}".strip()
    target = error.headers.get("Location")
    return f"{status}, a redirect to {redacted_text(target)}" if target else status


def _decoded(body: bytes, headers: Any) -> str:
    if headers.get("Content-Encoding", "").lower() == "gzip":
        body = gzip.decompress(body)
    return body.decode(headers.get_content_charset() or "utf-8-sig")


class _Http(urllib.request.HTTPHandler):
    """The timeout of a request is that of its connection; once connected, its socket has another."""

    def __init__(self, client: HttpClient) -> None:
        super().__init__()
        self.client = client

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        def connection(host: str, **named: Any) -> http.client.HTTPConnection:
            return _Connection(host, self.client.socket_timeout, **named)

        return self.do_open(connection, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, client: HttpClient) -> None:
        super().__init__()
        self.client = client

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        def connection(host: str, **named: Any) -> http.client.HTTPConnection:
            return _SecureConnection(host, self.client.socket_timeout, **named)

        return self.do_open(connection, req)


class _Connection(http.client.HTTPConnection):
    def __init__(self, host: str, socket_timeout: float, **named: Any) -> None:
        super().__init__(host, **named)
        self.socket_timeout = socket_timeout

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(self.socket_timeout)


class _SecureConnection(http.client.HTTPSConnection):
    def __init__(self, host: str, socket_timeout: float, **named: Any) -> None:
        super().__init__(host, **named)
        self.socket_timeout = socket_timeout

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(self.socket_timeout)


class _Redirect(urllib.request.HTTPRedirectHandler):
    """Redirects to another host are sent without the headers of a job: any of them may hold a secret."""

    def __init__(self, client: HttpClient) -> None:
        self.client = client

    def redirect_request(self, req: urllib.request.Request, *response: Any) -> urllib.request.Request | None:
        if not self.client.follows_redirects:
            return None
        *_, newurl = response
        request = super().redirect_request(req, *response)
        if request is not None and urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            request.headers = {name: text for name, text in request.headers.items() if name.lower() in _FOR_ALL}
        return request
