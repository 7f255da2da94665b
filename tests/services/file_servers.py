"""The SFTP and FTP servers that tests start: asyncssh and pyftpdlib, each over a directory of this machine."""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.services.processes import accepts, free_port, start, stop, wait_until

PASSWORD: Final = "planted-password-77aa"
"""No output, file or plan may show it."""


@dataclass(frozen=True)
class Served:
    """A running server, and the directory that it serves."""

    scheme: str
    port: int
    folder: Path

    @property
    def options(self) -> dict[str, object]:
        return {"host": "127.0.0.1", "port": self.port, "user": "etl", "password": PASSWORD}


def _served(scheme: str) -> Iterator[Served]:
    with tempfile.TemporaryDirectory(prefix=f"penstock-{scheme}-") as scratch:
        log, port, folder = Path(scratch) / "log", free_port(), Path(scratch) / "files"
        folder.mkdir()
        script = Path(__file__).with_name(f"{scheme}_server.py")
        process = start([sys.executable, str(script), str(port), str(folder)], log)
        try:
            wait_until(lambda: accepts(port), process, log)
            yield Served(scheme, port, folder)
        finally:
            stop(process)


@pytest.fixture(scope="session")
def sftp() -> Iterator[Served]:
    yield from _served("sftp")


@pytest.fixture(scope="session")
def ftp() -> Iterator[Served]:
    yield from _served("ftp")
