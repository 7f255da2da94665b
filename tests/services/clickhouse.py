"""ClickHouse's engine behind HTTP: chDB in a process of its own, with as much of the protocol as a client needs.

It proves the SQL, the types and the Arrow of both ways, not a server: it knows no users and no replicas.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.services.processes import accepts, free_port, start, stop, wait_until

ROOT = Path(__file__).parents[2]


@dataclass(eq=False)
class ClickhouseFront:
    """The running front, and a client of its own."""

    port: int
    client: Any

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.client.query(query).result_rows]


@pytest.fixture(scope="module")
def clickhouse() -> Iterator[ClickhouseFront]:
    """chDB, with its data in a temporary folder."""
    from clickhouse_connect import get_client

    with tempfile.TemporaryDirectory(prefix="penstock-clickhouse-", ignore_cleanup_errors=True) as name:
        port, log = free_port(), Path(name) / "log"
        process = start([sys.executable, __file__, str(port), f"{name}/data"], log)
        try:
            wait_until(lambda: accepts(port), process, log)
            client = get_client(port=port, compress=False, autogenerate_session_id=False)
            yield ClickhouseFront(port, client)
            client.close()
        finally:
            stop(process)


def serve(port: int, folder: str) -> None:
    """Answer requests, one query after another."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Lock
    from urllib.parse import parse_qs, urlsplit

    from chdb.session import Session

    session, one_at_a_time = Session(folder), Lock()
    session.query("CREATE DATABASE IF NOT EXISTS default ENGINE = Atomic")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            given = {name: values[-1] for name, values in parse_qs(urlsplit(self.path).query).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Transfer-Encoding") == "chunked":
                body = b"".join(self._chunks())
            try:
                with one_at_a_time:
                    content = _run(session, given, body, folder)
            except Exception as error:  # noqa: BLE001 (whatever the engine says of a query)
                self._answer(500, str(error).encode())
            else:
                self._answer(200, content)

        do_GET = do_POST

        def _chunks(self) -> Iterator[bytes]:
            while size := int(self.rfile.readline().strip(), 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()

        def _answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            if status != 200:
                self.send_header("X-ClickHouse-Exception-Code", "1")
            self.send_header("X-ClickHouse-Timezone", "UTC")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments: Any) -> None:
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def _run(session: Any, given: dict[str, str], body: bytes, folder: str) -> bytes:
    import re

    sql = given.get("query", "")
    if not sql:
        sql, body = body.decode(), b""
    insert = re.match(r"\s*INSERT INTO (\S+)\s*(\([^)]*\))?\s*FORMAT (\w+)", sql, re.IGNORECASE)
    if insert is not None:
        if not body:
            body = sql[insert.end() :].lstrip("\n").encode()
        path = Path(folder) / "sent"
        path.write_bytes(body)
        sql = f"INSERT INTO {insert[1]} {insert[2] or ''} SELECT * FROM file('{path}', {insert[3]})"
    wanted = re.search(r"\bFORMAT (\w+)\s*\Z", sql, re.IGNORECASE)
    form = wanted[1] if wanted else "TabSeparated"
    sql = sql[: wanted.start()] if wanted else sql
    found = session.query(sql, form)
    return bytes(found.bytes() or b"") if found is not None else b""


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
