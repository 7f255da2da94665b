"""`SqliteTable`: one table in a SQLite file."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from connectors.interface import (
    SAVE_OPTIONS,
    Action,
    CatalogTable,
    DataSaveMode,
    Diagnostics,
    Option,
    Options,
    OptionType,
    RunContext,
    SchemaSaveMode,
    Sink,
    SinkCapabilities,
    Staged,
    SupportsCounts,
    TargetState,
    WriteTask,
    parse_type,
    quote,
    run_error,
)
from example_connectors.sqlite_file import AS_THEY_ARE, columns_in, create_table, opened, quoted

if TYPE_CHECKING:
    import sqlite3

    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class SqliteStaged(Staged):
    """`staging`: the file with the new rows, next to the target; `rows`: how many they are, once they are there."""

    target: str
    staging: str
    identity: str
    recreates: bool
    replaces_rows: bool
    rows: int | None = None


class SqliteTable(Sink[SqliteStaged], SupportsCounts[SqliteStaged]):
    name: ClassVar[str] = "SqliteTable"
    doc: ClassVar[str] = "Writes one table, `data`, into a SQLite file."
    sink_options: ClassVar[tuple[Option, ...]] = (
        Option("path", OptionType.STRING, "The file.", required=True),
        *SAVE_OPTIONS,
    )
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        schema_save_modes=tuple(SchemaSaveMode),
        data_save_modes=(DataSaveMode.DROP_DATA, DataSaveMode.APPEND_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS),
    )
    staged_type: ClassVar[type[Staged]] = SqliteStaged

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        if not options.string("path").strip():
            diagnostics.error("PEN2004", "`path` is empty", options.span("path"), "name the file to write")

    def target(self, options: Options) -> str | None:
        return os.path.realpath(options.string("path"))

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        path = os.path.realpath(task.options.string("path"))
        if not os.path.isdir(os.path.dirname(path)):
            help = "create the folder, then run the job again"
            raise run_error("PEN5005", f"the folder of `{path}` does not exist", task.options.span("path"), help)
        if not os.path.exists(path):
            return TargetState(exists=False)
        with opened(path) as database:
            [(has_rows,)] = database.execute("select exists (select 1 from data)")
            return TargetState(True, bool(has_rows), CatalogTable.of("data", columns_in(database)))

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> SqliteStaged:
        folder, name = os.path.split(os.path.realpath(task.options.string("path")))
        return SqliteStaged(
            target=f"{folder}/{name}",
            staging=f"{folder}/.{name}.{task.identity}",
            identity=task.identity,
            recreates=Action.DROP_AND_CREATE in actions,
            replaces_rows=Action.REPLACE_ROWS in actions,
        )

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: SqliteStaged) -> SqliteStaged:
        remove(prepared.staging)  # of an earlier attempt
        texts = [
            quote(name) if parse_type(kind) in AS_THEY_ARE else f"cast({quote(name)} as string)"
            for name, kind in df.dtypes
        ]
        rows = df.selectExpr(*texts).toLocalIterator()  # a SQLite file has one writer
        with opened(prepared.staging) as database:
            database.execute("begin")
            create_table(database, df.dtypes)
            marks = ", ".join("?" * len(df.columns))
            database.executemany(f"insert into data values ({marks})", map(tuple, rows))
            database.execute("commit")
            [(count,)] = database.execute("select count(*) from data")
        return replace(prepared, rows=count)

    def written(self, staged: SqliteStaged) -> tuple[int, None] | None:
        return None if staged.rows is None else (staged.rows, None)

    def commit(self, spark: "SparkSession", staged: SqliteStaged, run: RunContext) -> None:
        """One transaction of the target adds the rows, and records that they are there."""
        with opened(staged.target) as database:
            database.execute("begin immediate")
            database.execute("create table if not exists commits (identity primary key)")
            if not list(database.execute("select 1 from commits where identity = ?", [staged.identity])):
                if not os.path.exists(staged.staging):
                    raise run_error("PEN5005", f"the staged file `{staged.staging}` is missing")
                self.add_rows(database, staged)
                database.execute("insert into commits values (?)", [staged.identity])
                if run.claim is not None:
                    run.claim.check()
            database.execute("commit")
        remove(staged.staging)

    def add_rows(self, database: "sqlite3.Connection", staged: SqliteStaged) -> None:
        with opened(staged.staging) as source:
            columns = [(name, kind) for name, kind in source.execute("select * from columns")]
            if staged.recreates or not list(database.execute("select 1 from sqlite_master where name = 'data'")):
                create_table(database, columns)
            if staged.replaces_rows:
                database.execute("delete from data")
            names = ", ".join(quoted(name) for name, _ in columns)
            marks = ", ".join("?" * len(columns))
            database.executemany(f"insert into data ({names}) values ({marks})", source.execute("select * from data"))

    def abort(self, spark: "SparkSession", staged: SqliteStaged, run: RunContext) -> None:
        remove(staged.staging)


def remove(path: str) -> None:
    for name in (path, f"{path}-journal"):
        with suppress(FileNotFoundError):
            os.remove(name)


connector = SqliteTable()
