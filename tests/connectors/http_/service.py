"""A web service on this machine: what it answers is a function of the request, and all requests are recorded."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Request:
    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: str


@dataclass
class Service:
    url: str
    requests: list[Request] = field(default_factory=list)

    def param(self, name: str) -> list[str | None]:
        return [request.params.get(name) for request in self.requests]


@contextmanager
def service(answer: Callable[[Request], object]) -> Iterator[Service]:
    """`answer` gives a text, bytes, what becomes JSON, or a status with a text and headers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            headers = {name.lower(): text for name, text in self.headers.items()}
            request = Request(self.command, url.path, dict(parse_qsl(url.query)), headers, body)
            running.requests.append(request)
            given = answer(request)
            status, content, more = given if isinstance(given, tuple) else (200, given, {})
            text = content if isinstance(content, str | bytes) else json.dumps(content)
            sent = text if isinstance(text, bytes) else text.encode()
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_POST = do_PUT = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running = Service(f"http://127.0.0.1:{server.server_port}/items")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
