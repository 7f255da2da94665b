"""`SqliteRows`: reads what `SqliteTable` has written, in parallel, as rows of Python."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from connectors.interface import (
    CatalogTable,
    Diagnostics,
    Option,
    Options,
    OptionType,
    RowSource,
    ScanTask,
    SourceCapabilities,
)
from example_connectors.sqlite_file import opened, quoted, table_in


class SqliteRows(RowSource):
    name: ClassVar[str] = "SqliteRows"
    doc: ClassVar[str] = "Reads the table of a SQLite file, in parallel."
    source_options: ClassVar[tuple[Option, ...]] = (
        Option("path", OptionType.STRING, "The file.", required=True),
        Option("partition_rows", OptionType.INTEGER, "How many rows a task reads.", default=100_000, minimum=1),
    )
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(column_pushdown=True)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        columns = table_in(options.string("path"))
        if columns is None:
            diagnostics.error("PEN4002", f"there is no file `{options['path']}`", options.span("path"))
            return (CatalogTable.unknown("data"),)
        return (CatalogTable.of("data", columns),)

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return os.path.realpath(options.string("path"))

    def partitions(self, task: ScanTask) -> Sequence[tuple[int, int]]:
        """The first and the last number of the rows of each task."""
        size = task.options.integer("partition_rows")
        with opened(task.options.string("path")) as database:
            [(last,)] = database.execute("select coalesce(max(rowid), 0) from data")
        return [(first, first + size - 1) for first in range(1, last + 1, size)]

    def read_partition(self, task: ScanTask, partition: tuple[int, int]) -> Iterator[tuple[Any, ...]]:
        columns = ", ".join(map(quoted, task.names))
        with opened(task.options.string("path")) as database:
            yield from database.execute(f"select {columns} from data where rowid between ? and ?", partition)


connector = SqliteRows()
