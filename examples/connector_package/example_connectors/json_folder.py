"""`JsonFolder`: a folder of files with one JSON object a line, written by Spark's tasks as rows of Arrow."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from connectors.interface import (
    SAVE_OPTIONS,
    Action,
    DataSaveMode,
    Option,
    Options,
    OptionType,
    RowSink,
    RowWrite,
    RunContext,
    SchemaSaveMode,
    SinkCapabilities,
    TargetState,
    Value,
    WriteTask,
    run_error,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


class JsonFolder(RowSink):
    name: ClassVar[str] = "JsonFolder"
    doc: ClassVar[str] = "Writes files with one JSON object a line into a folder of this machine."
    sink_options: ClassVar[tuple[Option, ...]] = (
        Option("path", OptionType.STRING, "The folder.", required=True),
        *SAVE_OPTIONS,
    )
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST,),
        data_save_modes=(DataSaveMode.DROP_DATA, DataSaveMode.APPEND_DATA),
    )

    def target(self, options: Options) -> str | None:
        return os.path.realpath(options.string("path"))

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        return ("not atomic: readers may see some of the files during the commit",)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        path = os.path.realpath(task.options.string("path"))
        return TargetState(os.path.isdir(path), os.path.isdir(path) and bool(os.listdir(path)))

    def write_rows(self, write: RowWrite, batches: "Iterator[pa.RecordBatch]") -> Value:
        """Write one file into the staging folder, and return its name."""
        os.makedirs(staging(write), exist_ok=True)
        name = f"{write.identity}-{write.partition:05}.jsonl"
        attempt = f"{staging(write)}/{name}.{os.getpid()}"  # another attempt of the task may be running
        with open(attempt, "w", encoding="utf-8") as file:
            for batch in batches:
                for row in batch.to_pylist():
                    file.write(json.dumps(row, default=str) + "\n")
        os.replace(attempt, f"{staging(write)}/{name}")
        return name

    def commit_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        if run.claim is not None:
            run.claim.check()
        os.makedirs(write.target, exist_ok=True)
        for name in map(str, messages):
            if os.path.exists(f"{staging(write)}/{name}"):
                os.replace(f"{staging(write)}/{name}", f"{write.target}/{name}")
            elif not os.path.exists(f"{write.target}/{name}"):
                raise run_error("PEN5005", f"the staged file `{staging(write)}/{name}` is missing")
        if Action.REPLACE_ROWS in write.actions:
            for name in os.listdir(write.target):
                if name not in messages:
                    os.remove(f"{write.target}/{name}")
        self.abort_rows(write, messages, run)

    def abort_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(staging(write))


def staging(write: RowWrite) -> str:
    folder, name = os.path.split(write.target)
    return f"{folder}/.{name}.{write.identity}"


connector = JsonFolder()
