"""One stream of a job: a query of Spark's whose every micro-batch is staged and committed as a run."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import PenstockError
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode
from connectors.commits.marks import work_of
from connectors.interface.source_abilities import SupportsAcknowledgement
from connectors.shared.staged import Staged
from engine.job.model.job import Cache
from engine.plan.building.stream_trigger import AVAILABLE_NOW, ONCE, ends_by_itself, trigger_of
from engine.plan.nodes import Node, Plan, Scan, Write, below
from engine.plan.streams import StreamPlan, streaming_source
from engine.runtime.execute import run_batch
from engine.runtime.results import JobResult
from engine.runtime.streaming.checkpoint import Checkpoint
from engine.runtime.streaming.event_times import EventTimes
from engine.runtime.streaming.followed_schema import FollowedSchema
from engine.runtime.streaming.stream_progress import progress_of
from engine.runtime.streaming.totals import StreamTotals
from engine.spark.failures.errors import SPARK_ERRORS, as_run_error, placed
from engine.spark.lower import Arrived
from engine.spark.persist import persist, release
from engine.spark.session import pipeline_session
from engine.spark.starting.defaults import is_users
from engine.spark.streaming.batch_plans import BatchPlans
from engine.spark.streaming.late_rows import apart
from engine.spark.streaming.open_stream import open_stream
from engine.state.layout import StateLayout
from engine.state.run_state import State

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
    """A stream while it is running. `done` is called after every committed micro-batch; `order`: its sources as Spark
    lists them; `schema`: its plan, with columns that appear while it is running."""

    spark: "SparkSession"
    schema: FollowedSchema
    checkpoint: Checkpoint
    layout: StateLayout
    done: Callable[["Stream", JobResult], None]
    error: BaseException | None = None
    query: "StreamingQuery | None" = None
    failures: int = 0
    started: float = field(default_factory=monotonic)
    stopping: Event = field(default_factory=Event)
    busy: Event = field(default_factory=Event)
    last_batch: int | None = None
    order: tuple[Scan, ...] = ()
    batch_plans: BatchPlans = field(default_factory=BatchPlans)
    times: EventTimes | None = None
    totals: StreamTotals = field(init=False)

    def __post_init__(self) -> None:
        self.totals = StreamTotals(self.of.name)
        if self.of.is_timed:
            self.times = EventTimes(self.spark, self.of, self.checkpoint, self._policy == "max")

    @property
    def of(self) -> StreamPlan:
        return self.schema.declared

    @property
    def plan(self) -> Plan:
        return self.of.plan

    @property
    def writes(self) -> tuple[Write, ...]:
        """The writes as they are checked at the start."""
        return plan_of(self.plan, 0 if not self.checkpoint.has_batches else 1).writes

    @property
    def has_end(self) -> bool:
        return self.of.is_bounded or ends_by_itself(self.plan.env)

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
            names = [] if self.of.scan is not None else [scan.name for scan in self.order]
            twice = [scan.name for scan in self.order for late in self.of.late if scan in below(late)]
            return self.totals.look(progress_of(self.query, self.totals.counted), names, twice)
        return False

    def start(self) -> None:
        """Start the query, or go on from its checkpoint."""
        self.error = None
        session = pipeline_session(self.spark, self.plan.env.session_settings)
        if self.of.stateful and not (_PARTITIONS in self.plan.env.spark or is_users(session, _PARTITIONS)):
            session.conf.set(_PARTITIONS, str(2 * self.spark.sparkContext.defaultParallelism))
        if self._policy is not None:
            session.conf.set(_WATERMARK_POLICY, self._policy)
        try:
            self.query = None
            state = self.checkpoint.source_state(ends=self.has_end)
            late = self.times.open() if self.times is not None else None
            opened = open_stream(session, self.of, is_new=not self.checkpoint.has_batches, state=state, late=late)
            self.order = opened.scans
            if self.times is not None:
                self.times.order = opened.scans
            self.checkpoint.begin([self.of.scans.index(scan) for scan in opened.scans])
            writer: DataStreamWriter = opened.rows.writeStream.foreachBatch(self.run_batch)
            writer = writer.option("checkpointLocation", self.checkpoint.spark_location)
            trigger = AVAILABLE_NOW if self.of.is_bounded else trigger_of(self.plan.env)
            self.query = _triggered(writer, trigger).start()
        except SPARK_ERRORS as error:
            raise as_run_error(error, self.of.head, below(self.of.head)) from error

    @property
    def _policy(self) -> str | None:
        policy = self.plan.env.options.get("stream.watermark_policy") if self.plan.env.options else None
        return None if policy is None else str(policy)

    def advance(self) -> None:
        """Stop waiting for partitions that are silent, between micro-batches."""
        if self.times is not None and self.query is not None and self.last_batch is not None and self.is_active:
            with suppress(*SPARK_ERRORS, PenstockError):  # asked again; the brokers may be back by then
                self.times.advance(self.query, self.last_batch)

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
        if raised is None:
            return None
        known = (streaming_source(scan).stream_failure(scan.options) for scan in self.of.scans)
        if (own := next(filter(None, known), None)) is not None:
            return placed(own, self.of.head)
        error = as_run_error(raised, self.of.head, below(self.of.head))
        error.__cause__ = raised  # it decides whether the stream starts again
        return error

    def close(self) -> None:
        """Have its sources release what they hold: it will not start again."""
        for scan in self.of.scans:
            streaming_source(scan).close_stream(scan.options)

    @property
    def is_unreported(self) -> bool:
        """Whether the query has failed only to report a micro-batch that has ended. Spark 4.1 does so for each one of
        Kafka that it does again after a restart (SPARK-55271)."""
        raised = self.query.exception() if self.query is not None and self.error is None else None
        return raised is not None and _UNREPORTED in str(raised) and self.checkpoint.is_complete

    def run_batch(self, batch: "DataFrame", number: int) -> None:
        """Stage and commit one micro-batch; nothing where an earlier process did."""
        self.busy.set()
        try:
            if self.stopping.is_set():
                raise StreamStoppedError
            if self.of.scan is not None:
                self._run_arrived(batch, number)
            else:
                self._run_computed(batch, number)
            self.failures, self.last_batch = 0, number
            if number:  # Spark has recorded the end of the micro-batch before: it will not come again
                self.layout.files.delete(self.layout.run(f"{self.checkpoint.record.stream}.{number - 1}").folder)
        except BaseException as error:
            self.error = error
            raise
        finally:
            self.busy.clear()

    def run_empty(self) -> None:
        """What a batch job does without rows: targets are created, or emptied. Only where nothing has ever arrived."""
        if self.has_end and not self.checkpoint.has_batches:
            self._run(0, {node: Arrived(None) for node in (self.of.head, *self.of.late)}, "start")

    def positions(self, number: int) -> Mapping[Scan, Staged]:
        """What is acknowledged at the sources once the micro-batch is committed."""
        found = {
            scan: scan.connector.stream_position(scan.options, offsets)
            for scan, offsets in zip(self.order, self.checkpoint.offsets(number), strict=False)
            if offsets.startswith("{") and isinstance(scan.connector, SupportsAcknowledgement)
        }
        return {scan: position for scan, position in found.items() if position is not None}

    def _run_arrived(self, batch: "DataFrame", number: int) -> None:
        try:
            stream = self.schema.of_batch(batch)
        except SPARK_ERRORS as error:
            raise as_run_error(error, self.of.head, below(self.of.head)) from error
        assert stream.scan is not None, "the head is the source"
        positions = dict(zip((stream.scan,), self.positions(number).values(), strict=False))
        self._run(number, {stream.head: Arrived(batch, positions)}, of=stream)

    def _run_computed(self, batch: "DataFrame", number: int) -> None:
        """Run a micro-batch whose rows Spark computes with state. They are computed once and wholly, also where the
        micro-batch was committed before: each partition records its state when its last row is read."""
        query = self._started() if self.times is not None else None
        try:
            if self.times is not None and query is not None:
                self.times.begin(query)
            rows = persist(batch, Cache.DISK)
        except SPARK_ERRORS as error:
            raise as_run_error(error, self.of.head, below(self.of.head)) from error
        try:
            head, *late = apart(rows) if self.of.late else [rows]
            arrived: dict[Node, Arrived] = {node: Arrived(df) for node, df in zip(self.of.late, late, strict=True)}
            self._run(number, {self.of.head: Arrived(head, self.positions(number)), **arrived})
        finally:
            release(rows)
        if self.times is not None and query is not None:
            self.totals.left_out += self.times.end(query, number)

    def _started(self) -> "StreamingQuery":
        """The query of the micro-batch, which may begin before its `start` has returned."""
        while self.query is None:
            sleep(0.01)
        return self.query

    def _run(
        self,
        number: int,
        arrived: Mapping[Node, Arrived],
        called: str | None = None,
        *,
        of: StreamPlan | None = None,
    ) -> None:
        name, stream = f"{self.checkpoint.record.stream}.{called or number}", of or self.of
        plan = plan_of(stream.plan, number)
        is_fresh = self.last_batch is not None and number > self.last_batch  # Spark has ended those before
        result = run_batch(
            self.spark,
            plan,
            name,
            self.layout,
            arrived,
            plans=self.batch_plans if plan.env.reuses_batch_plans else None,
            is_fresh=is_fresh,
            work=work_of(f"{called} {self.checkpoint.contents(number)}"),
            batch=number if called is None else None,
        )
        if result.state is not State.FINISHED:
            raise BatchFailedError(result)
        self.totals.add(result)
        self.done(self, result)


def plan_of(plan: Plan, number: int) -> Plan:
    """The plan of a micro-batch: targets are dropped, emptied or refused by the first one only."""
    return plan if number == 0 else replace(plan, writes=tuple(_later(write) for write in plan.writes))


_UNREPORTED: Final = '"scala.Option.get()" is null'
"""In Java's message about the missing offsets."""

_WATERMARK_POLICY: Final = "spark.sql.streaming.multipleWatermarkPolicy"

_PARTITIONS: Final = "spark.sql.shuffle.partitions"
"""Each partition of a state writes a file for each micro-batch: Penstock's default is for batch jobs."""


def _later(write: Write) -> Write:
    is_kept = write.schema_save_mode is not SchemaSaveMode.RECREATE_SCHEMA
    schema_mode = write.schema_save_mode if is_kept else SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST
    return replace(write, schema_save_mode=schema_mode, data_save_mode=DataSaveMode.APPEND_DATA)


def _triggered(writer: "DataStreamWriter", trigger: str) -> "DataStreamWriter":
    named: dict[str, Any] = {AVAILABLE_NOW: {"availableNow": True}, ONCE: {"once": True}}
    return writer.trigger(**named.get(trigger, {"processingTime": trigger}))
