"""One pipeline of a streaming job: a query of Spark's whose every micro-batch is staged and committed as a run."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

from catalog.savemode import DataSaveMode, SchemaSaveMode
from connectors.support.files.filesystem import files_at
from connectors.support.source import ScanTask
from engine.plan.building.stream_trigger import AVAILABLE_NOW, ONCE, ends_by_itself, trigger_of
from engine.plan.nodes import Plan, Scan, Write
from engine.runtime.execute import run_batch
from engine.runtime.results import JobResult
from engine.runtime.states import State
from engine.runtime.streaming.checkpoint import Checkpoint
from engine.runtime.streaming.progress import progress_of
from engine.runtime.streaming.totals import StreamTotals
from engine.spark.errors import SPARK_ERRORS, as_run_error
from engine.spark.lower import Arrived
from engine.spark.session import pipeline_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class StreamStoppedError(Exception):
    """The stream was asked to stop before this micro-batch began."""


class BatchFailedError(Exception):
    """A micro-batch failed; `result` says why."""

    def __init__(self, result: JobResult) -> None:
        super().__init__(result.run_id)
        self.result = result


@dataclass(eq=False)
class Stream:
    """A pipeline while it streams. `done` is called after every committed micro-batch."""

    spark: "SparkSession"
    plan: Plan
    scan: Scan
    checkpoint: Checkpoint
    state: str
    done: Callable[["Stream", JobResult], None]
    error: BaseException | None = None
    query: "StreamingQuery | None" = None
    failures: int = 0
    started: float = field(default_factory=monotonic)
    stopping: Event = field(default_factory=Event)
    busy: Event = field(default_factory=Event)
    last_batch: int | None = None
    totals: StreamTotals = field(init=False)

    def __post_init__(self) -> None:
        self.totals = StreamTotals(self.scan.name)

    @property
    def writes(self) -> tuple[Write, ...]:
        """The writes as they are checked at the start."""
        return self.plan_of(0 if not self.checkpoint.has_batches else 1).writes

    @property
    def is_active(self) -> bool:
        return self.query is not None and bool(self.query.isActive)

    def look(self) -> bool:
        """Ask Spark for the progress of the last committed micro-batch, where that is not known yet; whether it is
        now."""
        if self.query is None or self.last_batch is None:
            return False
        known = self.totals.progress
        if known is not None and known.batch >= self.last_batch:
            return False
        with suppress(*SPARK_ERRORS):
            found = progress_of(self.query)
            if found is not None and found != known:
                self.totals.progress = found
                return True
        return False

    def start(self) -> None:
        """Start the query, or go on from its checkpoint."""
        self.error = None
        session = pipeline_session(self.spark, self.plan.env.spark)
        task = ScanTask(self.scan.options, self.scan.table, self.scan.columns, self.scan.filters)
        try:
            df = self.scan.connector.stream(session, task, is_new=not self.checkpoint.has_batches)
            self.checkpoint.begin()
            writer: DataStreamWriter = df.writeStream.foreachBatch(self.run_batch)
            writer = writer.option("checkpointLocation", self.checkpoint.spark_location)
            self.query = _triggered(writer, trigger_of(self.plan.env)).start()
        except SPARK_ERRORS as error:
            raise as_run_error(error, self.scan) from error

    def stop(self) -> None:
        """End after the current micro-batch; it may be called again until the stream has ended."""
        self.stopping.set()
        if self.query is not None and not self.busy.is_set():
            with suppress(*SPARK_ERRORS):
                self.query.stop()

    def failure(self) -> BaseException | None:
        """Why the query has ended; None where it was to end."""
        if isinstance(self.error, StreamStoppedError) or (self.error is None and self.stopping.is_set()):
            return None
        if self.error is not None:
            return self.error
        raised = self.query.exception() if self.query is not None else None
        return as_run_error(raised, self.scan) if raised is not None else None

    def run_batch(self, batch: "DataFrame", number: int) -> None:
        """Stage and commit one micro-batch; nothing where an earlier process did."""
        self.busy.set()
        try:
            if self.stopping.is_set():
                raise StreamStoppedError
            offsets = self.checkpoint.offsets(number)
            position = self.scan.connector.stream_position(self.scan.options, offsets) if offsets else None
            self._run(f"{self.checkpoint.record.stream}.{number}", number, Arrived(batch, position))
            self.failures, self.last_batch = 0, number
            if number:  # Spark has recorded the end of the micro-batch before: it will not come again
                files, root = files_at(self.spark, self.state)
                files.delete(f"{root}/runs/{self.checkpoint.record.stream}.{number - 1}")
        except BaseException as error:
            self.error = error
            raise
        finally:
            self.busy.clear()

    def run_empty(self) -> None:
        """What a batch job does without rows: targets are created, or emptied. Only where nothing has ever arrived."""
        if ends_by_itself(self.plan.env) and not self.checkpoint.has_batches:
            self._run(f"{self.checkpoint.record.stream}.start", 0, Arrived(None, None))

    def _run(self, name: str, number: int, arrived: Arrived) -> None:
        result = run_batch(self.spark, self.plan_of(number), name, self.state, {self.scan: arrived})
        if result.state is not State.FINISHED:
            raise BatchFailedError(result)
        self.totals.add(result)
        self.done(self, result)

    def plan_of(self, number: int) -> Plan:
        """The plan of a micro-batch: targets are dropped, emptied or refused by the first one only."""
        if number == 0:
            return self.plan
        return replace(self.plan, writes=tuple(_later(write) for write in self.plan.writes))


def _later(write: Write) -> Write:
    is_kept = write.schema_save_mode is not SchemaSaveMode.RECREATE_SCHEMA
    schema_mode = write.schema_save_mode if is_kept else SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST
    return replace(write, schema_save_mode=schema_mode, data_save_mode=DataSaveMode.APPEND_DATA)


def _triggered(writer: "DataStreamWriter", trigger: str) -> "DataStreamWriter":
    named: dict[str, Any] = {AVAILABLE_NOW: {"availableNow": True}, ONCE: {"once": True}}
    return writer.trigger(**named.get(trigger, {"processingTime": trigger}))
