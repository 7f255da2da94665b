"""A TCP proxy that cuts connections, as a network or a server that goes away does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(eq=False)
class Proxy:
    """Forwards connections to a port of this machine. `cuts` connections that have sent more than `most` bytes are cut
    off, and counted in `cut`."""

    target: int
    most: int
    cuts: int
    cut: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    server: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server.getsockname()[1])

    def _accept(self) -> None:
        with suppress(OSError):  # the server is closed
            while True:
                client, _ = self.server.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                for ends, most in (((client, server), self.most), ((server, client), None)):
                    threading.Thread(target=self._forward, args=(*ends, most), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, most: int | None) -> None:
        sent = 0
        with suppress(OSError):
            while data := source.recv(65536):
                sent += len(data)
                if most is not None and sent > most and self._is_cut():
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _is_cut(self) -> bool:
        with self.lock:
            if self.cut == self.cuts:
                return False
            self.cut += 1
            return True


@contextmanager
def proxy(target: int, *, most: int, cuts: int) -> Iterator[Proxy]:
    found = Proxy(target, most, cuts)
    try:
        yield found
    finally:
        found.server.close()
