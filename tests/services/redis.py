"""The Redis server that tests start: Debian's, with a password, on a free port of this machine."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.services.databases import PASSWORD
from tests.services.processes import accepts, free_port, start, stop, wait_until


@dataclass(eq=False)
class RedisServer:
    """A running server, and a client that owes nothing to Penstock."""

    port: int
    client: Any

    @property
    def options(self) -> str:
        return f'host = "127.0.0.1", port = {self.port}, auth = "{PASSWORD}"'


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    """Redis 7, in memory."""
    from redis import Redis

    server = shutil.which("redis-server")
    assert server is not None, "Redis is missing: run .ci/redis, or install redis-server"
    with tempfile.TemporaryDirectory(prefix="penstock-redis-") as name:
        port, log = free_port(), Path(name) / "log"
        command = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", name]
        process = start([*command, "--requirepass", PASSWORD], log)
        try:
            wait_until(lambda: accepts(port), process, log)
            client = Redis(port=port, password=PASSWORD, decode_responses=True)
            yield RedisServer(port, client)
            client.close()
        finally:
            stop(process)
