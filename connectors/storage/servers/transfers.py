"""Copies files between a server and a directory on this machine, or one that all machines share, in Spark's tasks."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from connectors.shared.temporary_names import temporary_name
from connectors.storage.servers.server import Client, FileServer
from connectors.storage.servers.server_files import ServerFiles, connect, connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONNECTIONS: Final = 8
"""At once; sshd refuses logins at random from the tenth that is not finished."""
_SMALL_BYTES: Final = 4 * 1024 * 1024
"""Up to this sum the driver copies: tasks take longer to start."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One file: its absolute path on the server, and here. `modified`: the time that its copy here gets."""

    remote: str
    local: str
    size: int
    modified: int = 0


def download(spark: "SparkSession", server: FileServer, transfers: Sequence[Transfer]) -> None:
    """Copy files from the server; a copy appears whole, with the time of change that the file has there."""
    for folder in {os.path.dirname(transfer.local) for transfer in transfers}:
        os.makedirs(folder, exist_ok=True)
    _transfer(spark, server, transfers, is_upload=False)


def upload(spark: "SparkSession", server: FileServer, transfers: Sequence[Transfer]) -> None:
    """Copy files to the server; each appears whole under its name."""
    files = ServerFiles(server)
    for folder in sorted({transfer.remote.rpartition("/")[0] for transfer in transfers}):
        files.make_folder(f"{server.root}{folder}")
    _transfer(spark, server, transfers, is_upload=True)


def _transfer(spark: "SparkSession", server: FileServer, transfers: Sequence[Transfer], *, is_upload: bool) -> None:
    copy = _upload_one if is_upload else _download_one
    if sum(transfer.size for transfer in transfers) <= _SMALL_BYTES:
        for transfer in transfers:
            connection(server).do(lambda client, transfer=transfer: copy(client, transfer))  # type: ignore[misc]
        return

    def run(part: Iterable[Transfer]) -> None:
        client = None
        try:
            for transfer in part:
                client = client or connect(server)
                copy(client, transfer)
        finally:
            if client is not None:
                client.close()

    largest_first = sorted(transfers, key=lambda transfer: -transfer.size)
    tasks = max(1, min(len(transfers), _CONNECTIONS, spark.sparkContext.defaultParallelism))
    parts = [largest_first[number::tasks] for number in range(tasks)]
    spark.sparkContext.parallelize(parts, tasks).foreach(run)


def _download_one(client: Client, transfer: Transfer) -> None:
    temporary = temporary_name(transfer.local)
    with open(temporary, "wb") as file:
        client.download(transfer.remote, file)
    if transfer.modified:
        os.utime(temporary, (transfer.modified, transfer.modified))
    os.replace(temporary, transfer.local)


def _upload_one(client: Client, transfer: Transfer) -> None:
    temporary = temporary_name(transfer.remote)
    with open(transfer.local, "rb") as file:
        client.upload(file, temporary)
    client.replace(temporary, transfer.remote)
