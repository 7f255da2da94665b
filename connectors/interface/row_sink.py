"""A sink that takes Arrow batches in Spark's tasks, for systems that Spark has no data source for."""

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Options, Value
from catalog.secret_names import is_secret_name, redacted_text
from catalog.tables.savemode import Action, WriteMode
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import has_unknown
from catalog.types.typenames import to_ddl
from connectors.interface.run_context import RunContext
from connectors.interface.sink import Sink, WriteTask
from connectors.interface.sink_abilities import SupportsCounts
from connectors.shared.mapped_rows import mapped_rows
from connectors.shared.staged import Credentials, Staged, secret_mapping
from connectors.storage.filesystem import as_uri, committing, files_at

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class RowWrite(Staged):
    """One write, as the steps of a `RowSink` see it; the journal keeps it without the values of secret options.

    `identity`: the unit that is committed at most once, also if a process is killed and another one repeats the commit.
    `partition`: the number of the task, in `write_rows` alone. `target`: the location as `Sink.target` gives it.
    `types`: of the columns of the incoming table, as Spark writes them; empty where they are not known before the run.
    """

    identity: str
    run_id: str
    target: str
    actions: tuple[Action, ...]
    write_mode: WriteMode
    primary_keys: tuple[str, ...]
    values: Mapping[str, Any]
    hidden: tuple[str, ...] = ()
    connector: str = ""
    partition: int = 0
    types: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, Any] = secret_mapping()

    @property
    def options(self) -> Options:
        """The options of the block."""
        return Options({**self.values, **self.secrets}, sensitive=frozenset(self.hidden))

    @property
    def credentials_key(self) -> str:
        return _credentials_key(self.connector, self.target)


@dataclass(frozen=True, slots=True)
class RowsStaged(Staged):
    """`messages`: what the tasks returned; `scratch`: where rows are staged by a sink that cannot do so itself."""

    write: RowWrite
    scratch: str
    messages: Any = field(default_factory=list)
    rows: int | None = None


class RowSink(Sink[RowsStaged], SupportsCounts[RowsStaged]):
    """Writes in Spark's tasks: `write_rows` stages the rows of one task and returns a message, the driver publishes
    what the messages name by `commit_rows`, or removes it by `abort_rows`.

    `stages_rows`: `write_rows` writes where readers do not see the rows, such as into a temporary table. A sink that
    cannot sets it to False: the rows are staged as Parquet next to the run's journal, and `write_rows` is called at the
    commit. Such a sink is at least once: an interrupted commit writes all rows again.

    A task may run several times, and only the message of one attempt arrives: `abort_rows` and `commit_rows` must also
    remove what other attempts have left, found by `RowWrite.identity`. Every step may be repeated by another process.
    Messages are JSON: None, texts, numbers, lists, dicts. The connector and the write are pickled.
    """

    requirements: ClassVar[tuple[str, ...]] = ("pyarrow>=17",)
    staged_type: ClassVar[type[Staged]] = RowsStaged
    stages_rows: ClassVar[bool] = True

    def begin_rows(self, write: RowWrite, run: RunContext) -> None:
        """Make what the tasks write to, on the driver right before them; idempotent. A sink that `stages_rows` makes a
        temporary place; another one is at its commit, and applies the actions that come before the rows."""

    def arranged(self, df: "DataFrame", write: RowWrite) -> "DataFrame":
        """The staged rows as the tasks of a commit take them, such as those of one key in one task, in their order."""
        return df

    @abstractmethod
    def write_rows(self, write: RowWrite, batches: "Iterator[pa.RecordBatch]") -> Value:
        """Write the rows of one task, and return a message; called in the task, also for a task without rows."""

    @abstractmethod
    def commit_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        """Publish what the tasks wrote, by the actions of `write`; idempotent, also after a kill half-way."""

    @abstractmethod
    def abort_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        """Remove what the tasks wrote and leave the target unchanged; idempotent. `messages` is empty if the run was
        killed while tasks were running, and before each attempt to stage."""

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        """Nothing is wrong, unless a subclass finds it."""

    def credentials(self, options: Options) -> Credentials:
        """The secrets of a block of this sink, by its target. A subclass that is a source, too, and overrides it for
        its sources, calls this for the others."""
        required = {option.name for option in self.sink_options if option.required}
        secrets = _secrets(self, options) if required <= options.values.keys() else {}
        return {_credentials_key(self.name, _target(self, options)): secrets} if secrets else {}

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        return () if self.stages_rows else ("at least once: an interrupted commit writes all rows again",)

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> RowsStaged:
        secrets = _secrets(self, task.options)
        plain = {name: value for name, value in task.options.values.items() if name not in secrets}
        write = RowWrite(
            identity=task.identity,
            run_id=task.run_id,
            target=_target(self, task.options),
            actions=tuple(actions),
            write_mode=task.write_mode,
            primary_keys=task.primary_keys,
            values=plain,
            hidden=tuple(sorted(secrets)),
            connector=self.name,
            types=_types(task.table),
            secrets=secrets,
        )
        return RowsStaged(write, task.scratch)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: RowsStaged) -> RowsStaged:
        if not self.stages_rows:
            df.write.mode("overwrite").parquet(f"{prepared.scratch}/data")
            return prepared
        self.abort_rows(prepared.write, (), task.run)  # of an earlier attempt
        self.begin_rows(prepared.write, task.run)
        messages, rows = _written_by_tasks(self, df, prepared.write)
        return replace(prepared, messages=messages, rows=rows)

    def written(self, staged: RowsStaged) -> tuple[int, None] | None:
        return None if staged.rows is None else (staged.rows, None)

    def commit(self, spark: "SparkSession", staged: RowsStaged, run: RunContext) -> None:
        """Raises PEN5101 where the write has secrets that no job of this session names."""
        write = _with_secrets(staged.write)
        if self.stages_rows:
            self.commit_rows(write, staged.messages, run)
        else:
            with committing(spark, staged.scratch) as is_due:
                if is_due:
                    self.begin_rows(write, run)
                    df = spark.read.parquet(as_uri(f"{staged.scratch}/data"))
                    messages, _ = _written_by_tasks(self, self.arranged(df, write), write)
                    self.commit_rows(write, messages, run)
        _remove(spark, staged)

    def abort(self, spark: "SparkSession", staged: RowsStaged, run: RunContext) -> None:
        if self.stages_rows:
            self.abort_rows(_with_secrets(staged.write), staged.messages, run)
        _remove(spark, staged)


def _written_by_tasks(sink: RowSink, df: "DataFrame", write: RowWrite) -> tuple[list[Value], int]:
    """The messages of the tasks, and how many rows they took."""

    def write_partition(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa
        from pyspark import TaskContext

        context, rows, left = TaskContext.get(), 0, iter(batches)
        # Read before the connector makes anything: for a task that has failed or was killed while this process started,
        # reading raises; it would write after the abort.
        first = next(left, None)

        def counted() -> "Iterator[pa.RecordBatch]":
            nonlocal rows
            for batch in chain(() if first is None else (first,), left):
                rows += batch.num_rows
                yield batch

        given = counted()
        message = sink.write_rows(replace(write, partition=context.partitionId() if context else 0), given)
        if next(given, None) is not None:
            raise ValueError(f"`write_rows` of {sink.name} returned before it had taken all batches")
        yield pa.RecordBatch.from_pydict({"message": [json.dumps(message)], "rows": pa.array([rows], pa.int64())})

    found = mapped_rows(df, write_partition, "message string, rows bigint").collect()
    return [json.loads(row.message) for row in found], sum(row.rows for row in found)


def _secrets(sink: RowSink, options: Options) -> Mapping[str, Any]:
    sensitive = {option.name for option in sink.sink_options if option.sensitive}
    return {
        name: value
        for name, value in options.values.items()
        if value is not None and (name in sensitive or is_secret_name(name) or _holds_secret(value))
    }


def _holds_secret(value: object) -> bool:
    match value:
        case Mapping():
            return any(is_secret_name(str(name)) or _holds_secret(item) for name, item in value.items())
        case list() | tuple():
            return any(map(_holds_secret, value))
        case str():
            return redacted_text(value) != value  # such as the password of a URL
    return False


def _with_secrets(write: RowWrite) -> RowWrite:
    """The write, of which all secrets are known."""
    if missing := set(write.hidden) - write.secrets.keys():
        message = f"run `{write.run_id}` cannot be ended: its journal keeps no `{min(missing)}` of `{write.target}`"
        raise run_error("PEN5101", message, None, "run its own job again: that ends this run first")
    return write


def _types(table: CatalogTable) -> Mapping[str, str]:
    is_known = not table.is_open and not any(has_unknown(column.type) for column in table.columns)
    return {column.name: to_ddl(column.type) for column in table.columns} if is_known else {}


def _credentials_key(connector: str, target: str) -> str:
    return f"{connector} {target}"


def _target(sink: RowSink, options: Options) -> str:
    return sink.target(options) or sink.name


def _remove(spark: "SparkSession", staged: RowsStaged) -> None:
    files, scratch = files_at(spark, staged.scratch)
    files.delete(scratch)
