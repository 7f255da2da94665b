"""The file connector for servers that Spark has no file system for: files are copied to a scratch directory, and back.

A source copies the files that it reads; from there it is as LocalFile. A sink has Spark write into the scratch
directory and uploads the files into the hidden staging directory next to the target; its commit renames them on the
server, as on any other file system.
"""

import os
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from catalog.options import Options
from catalog.tables.savemode import TargetState
from catalog.tables.table import CatalogTable
from connectors.files.committing import file_target
from connectors.files.committing.target_rows import WITH_SCHEMA, has_rows, target_table
from connectors.files.file_options import file_format
from connectors.files.formats.arrivals import arrived
from connectors.files.formats.file_connector import FileConnector
from connectors.files.formats.write_files import rename_files, write_files
from connectors.files.servers.scratch_copies import copy_files, copy_path, scratch_root
from connectors.interface.incremental import NewRows, Since, incremental_of
from connectors.interface.sink import WriteTask
from connectors.interface.source import ScanTask, SourceCapabilities
from connectors.storage.filesystem import as_uri
from connectors.storage.object_store import StoreSettings
from connectors.storage.paths import is_hidden
from connectors.storage.servers.server import FileServer, location
from connectors.storage.servers.server_files import ServerFiles
from connectors.storage.servers.transfers import Transfer, upload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class ServerFileConnector(FileConnector):
    """A connector names its server; a path without a slash at its start is below the directory of the login."""

    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True, is_cheap=False)
    aborts_without_spark: ClassVar[bool] = False

    @abstractmethod
    def server(self, options: Options) -> FileServer:
        """The server and the login that the options name."""

    def located(self, options: Options) -> Options:
        path = options.string("path")
        if "://" in path:
            return options
        return replace(options, values={**options.values, "path": location(self.server(options), path)})

    def store_settings(self, options: Options) -> StoreSettings:
        return StoreSettings.of(self.located(options).string("path"), self.server(options).settings)

    def needs(self, options: Options) -> tuple[str, ...]:
        return (f"{self.server(options).scheme}: files are copied to and from a scratch directory",)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        options = self._open(spark, task.options)
        return self._read(spark, task, _copied(spark, options))

    def read_new(self, spark: "SparkSession", task: ScanTask, since: Since) -> NewRows:
        asked = incremental_of(task.options)
        if asked is None or asked.column is not None:
            return super().read_new(spark, task, since)
        options = self._open(spark, task.options)
        (names, root), reached = arrived(spark, options, asked, since)
        scratch = copy_files(spark, root or "", names, options)
        copies = [as_uri(scratch + name.removeprefix(root or "")) for name in names]
        here = replace(options, values={**options.values, "path": scratch})
        return NewRows(self._read(spark, task, here, (copies, as_uri(scratch))), lambda: reached)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        task = self._opened(spark, task)

        def copy(path: str, most: int | None = None) -> str:
            return as_uri(copy_path(spark, path, task.options, most=most))

        def schema(path: str) -> CatalogTable | None:
            has_schema = file_format(task.options) in WITH_SCHEMA
            return target_table(spark, copy(path, 1), task) if has_schema else None

        return file_target.inspect(
            spark,
            task,
            schema=schema,
            has_rows=lambda path: has_rows(spark, copy(path), task.options),
        )

    def keeps_rows(self, options: Options) -> bool:
        return False

    def write_staged(
        self, spark: "SparkSession", df: "DataFrame", task: WriteTask, folder: str, *, by: Sequence[str], target: str
    ) -> None:
        options, server = task.options, self.server(task.options)
        with tempfile.TemporaryDirectory(prefix="penstock-", dir=scratch_root(spark, options)) as scratch:
            local = f"{scratch}/data"
            write_files(spark, df, as_uri(local), by, options)
            rename_files(spark, as_uri(local), target, by, options=options, run_id=task.run_id)
            ServerFiles(server).make_folder(folder)
            upload(spark, server, list(_uploads(local, folder.removeprefix(server.root))))


def _uploads(local: str, remote: str) -> Iterator[Transfer]:
    """All data files below a directory; checksums of Hadoop stay."""
    for root, folders, names in os.walk(local):
        folders[:] = [name for name in folders if not is_hidden(name)]
        for name in names:
            if not is_hidden(name):
                file = os.path.join(root, name)
                inner = os.path.relpath(file, local).replace(os.sep, "/")
                yield Transfer(f"{remote}/{inner}", file, os.path.getsize(file))


def _copied(spark: "SparkSession", options: Options) -> Options:
    """The options of the copies of the files that these options choose."""
    chosen: dict[str, str | None] = {"path": copy_path(spark, options.string("path"), options)}
    chosen |= {name: None for name in ("file_filter_pattern", "filename_extension") if name in options.values}
    return replace(options, values={**options.values, **chosen})
