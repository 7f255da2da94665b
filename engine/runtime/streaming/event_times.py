"""How far the event times of a stream have come, by partition of its sources: `event_times.json` next to Spark's
checkpoint.

The watermark is the latest event time of the slowest partition, less its delay. A partition without records holds it
back until it has been silent for `idle.timeout`, and nothing in it is unread. The watermark goes into Spark's own
tracker, which its checkpoint keeps: a micro-batch that comes again has the watermark that it had.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Any, Final

from connectors.interface.incremental import duration
from connectors.interface.source_abilities import SupportsPartitionTimes
from engine.plan.nodes import Scan, Watermark
from engine.plan.streams import StreamPlan, is_of_partitions
from engine.runtime.streaming.checkpoint import Checkpoint
from engine.spark.streaming.late_rows import WATERMARK_PROPERTY, LateRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_FILE: Final = "event_times.json"
_MILLI: Final = 1000
"""Microseconds; Spark's watermarks are in milliseconds."""


@dataclass(frozen=True, slots=True)
class PartitionTime:
    """`latest`: the latest event time of a partition, in microseconds since 1970 (None: no row had one); `seen`: when
    its last record was read, or it was found, in seconds since 1970."""

    latest: int | None
    seen: float


@dataclass(frozen=True, slots=True)
class FollowedWatermark:
    """A watermark of the plan: `delay` in microseconds, `idle` in seconds (None: each is waited for)."""

    name: str
    delay: int
    idle: float | None

    @classmethod
    def of(cls, node: Watermark) -> "FollowedWatermark":
        delay, idle = duration(node.delay), duration(node.idle) if node.idle else None
        assert delay is not None, "is checked when the plan is built"
        return cls(node.name, round(delay.total_seconds() * 1_000_000), idle.total_seconds() if idle else None)

    def at(self, partitions: Mapping[str, PartitionTime], silent: Iterable[str]) -> "int | None":
        """The watermark in microseconds, by all partitions but the silent ones. None: one of the others has had no row.

        Raises ValueError where all of them are silent.
        """
        active = [partitions[name].latest for name in partitions.keys() - set(silent)]
        if not active:
            raise ValueError(f"all partitions of `{self.name}` are silent")
        known = [latest for latest in active if latest is not None]
        return min(known) - self.delay if len(known) == len(active) else None


Times = Mapping[str, Mapping[str, PartitionTime]]
"""The event times by the name of the watermark's node and that of the partition."""


def watermark_of(
    followed: Iterable[FollowedWatermark], times: Times, silent: Mapping[str, Iterable[str]], *, is_fastest: bool
) -> int | None:
    """The watermark of a stream in microseconds: that of its slowest source, or of the fastest one. None: not known
    yet. Sources of which all partitions are silent do not count; where nothing else is left, the latest of all event
    times counts, so that what has arrived is not held back for ever."""
    found: list[int | None] = []
    every = tuple(followed)
    for watermark in every:
        try:
            found.append(watermark.at(times.get(watermark.name, {}), silent.get(watermark.name, ())))
        except ValueError:
            continue
    if not found:
        partitions = ((each, watermark) for watermark in every for each in times.get(watermark.name, {}).values())
        found = [each.latest - watermark.delay for each, watermark in partitions if each.latest is not None]
        is_fastest = True
    known = [each for each in found if each is not None]
    if not known or (not is_fastest and len(known) < len(found)):
        return None
    return max(known) if is_fastest else min(known)


@dataclass(eq=False)
class EventTimes:
    """The event times of one stream while it is running. `late`: what counts the rows of each watermark's node."""

    spark: "SparkSession"
    stream: StreamPlan
    checkpoint: Checkpoint
    is_fastest: bool = False
    clock: Callable[[], float] = time
    late: dict[Watermark, LateRows] = field(default_factory=dict)
    times: dict[str, dict[str, PartitionTime]] = field(default_factory=dict)
    order: tuple[Scan, ...] = ()
    asked: float = 0.0

    def open(self) -> Mapping[Watermark, LateRows]:
        """What counts the rows of each node, for a query that is about to start; reads what an earlier one has left."""
        self.late = {node: LateRows.of(self.spark) for node in self.stream.watermarks}
        files, path = self.checkpoint.files, f"{self.checkpoint.folder}/{_FILE}"
        if files.exists(path):
            recorded = json.loads(files.read(path))
            self.times = {
                node: {name: PartitionTime(*values) for name, values in partitions.items()}
                for node, partitions in recorded.items()
            }
        return self.late

    def begin(self, query: "StreamingQuery") -> None:
        """Before the rows of a micro-batch are read: tell its tasks the watermark that it has in Spark's checkpoint."""
        millis = int(_execution(query).lastExecution().offsetSeqMetadata().batchWatermarkMs())
        self.spark.sparkContext.setLocalProperty(WATERMARK_PROPERTY, str((millis + 1) * _MILLI) if millis > 0 else "")
        for late in self.late.values():
            late.reset()

    def end(self, query: "StreamingQuery", number: int) -> int:
        """After a micro-batch is committed: record its event times, and move the watermark; gives its late rows."""
        now, count = self.clock(), 0
        offsets = self.checkpoint.offsets(number)
        for node, late in self.late.items():
            known = self.times.setdefault(node.name, {})
            for name in self._partitions(node, offsets):
                known.setdefault(name, PartitionTime(None, now))
            for name, tally in late.tallies(self._readers(node)).items():
                before = known.get(name, PartitionTime(None, now))
                latest = max((each for each in (before.latest, tally.latest) if each is not None), default=None)
                known[name] = PartitionTime(latest, now)
                count += tally.late
        self._record()
        self._move(query, number, now, is_running=True)
        return count

    def advance(self, query: "StreamingQuery", number: int) -> None:
        """Between micro-batches, of which `number` is the last: stop waiting for partitions that have been silent for
        long enough."""
        now = self.clock()
        if now - self.asked >= 1 and any(self._long_silent(now)):
            self.asked = now
            self._move(query, number, now, is_running=False)

    def waiting(self) -> Iterator[tuple[Watermark, tuple[str, ...]]]:
        """The watermarks that wait for partitions which have had no row, and these."""
        for node in self.late:
            partitions = self.times.get(node.name, {})
            missing = tuple(sorted(name for name, each in partitions.items() if each.latest is None))
            if missing and len(missing) < len(partitions):
                yield node, missing

    def _partitions(self, node: Watermark, offsets: tuple[str, ...]) -> tuple[str, ...]:
        """The names of the partitions of the node's source; one without a name where it has none."""
        source = node.input.connector if isinstance(node.input, Scan) else None
        if not (is_of_partitions(node) and isinstance(source, SupportsPartitionTimes)):
            return ("",)
        return source.stream_partitions(self._offsets(node, offsets))

    def _offsets(self, node: Watermark, offsets: tuple[str, ...]) -> str:
        return next((text for scan, text in zip(self.order, offsets, strict=False) if scan is node.input), "-")

    def _readers(self, node: Watermark) -> int:
        """How often Spark reads the node's rows for a micro-batch."""
        return max(1, self.order.count(node.input)) if isinstance(node.input, Scan) else 1

    def _long_silent(self, now: float) -> Iterator[tuple[Watermark, str]]:
        for node in self.late:
            idle = FollowedWatermark.of(node).idle
            for name, each in self.times.get(node.name, {}).items():
                if idle is not None and now - each.seen >= idle:
                    yield node, name

    def _silent(self, number: int, now: float) -> dict[str, set[str]]:
        """The partitions that are not waited for, by the name of the node: silent for long, and read to their end."""
        found: dict[str, set[str]] = {}
        for node, name in self._long_silent(now):
            found.setdefault(node.name, set()).add(name)
        offsets = self.checkpoint.offsets(number) if found else ()
        for node in self.late:
            scan = node.input
            if node.name in found and isinstance(scan, Scan) and isinstance(scan.connector, SupportsPartitionTimes):
                text = self._offsets(node, offsets)
                found[node.name] -= scan.connector.unread_partitions(self.spark, scan.options, text)
        return found

    def _move(self, query: "StreamingQuery", number: int, now: float, *, is_running: bool) -> None:
        """Set Spark's watermark, unless it is there already: it never goes back."""
        followed = [FollowedWatermark.of(node) for node in self.late]
        found = watermark_of(followed, self.times, self._silent(number, now), is_fastest=self.is_fastest)
        if found is None:
            return
        millis = found // _MILLI - 1  # Spark drops rows at its watermark, too
        execution = _execution(query)
        tracker = execution.watermarkTracker()
        if millis <= max(int(tracker.currentWatermark()), 0):
            return
        if is_running:  # Spark chooses the next one after this micro-batch
            tracker.setWatermark(millis)
            return
        with _no_new_batch(execution) as is_idle:
            if is_idle:
                execution.lastExecution().watermarkPropagator().purge(number + 2)  # it has asked for the next one
                tracker.setWatermark(millis)

    def _record(self) -> None:
        text = {
            node: {name: [each.latest, each.seen] for name, each in partitions.items()}
            for node, partitions in self.times.items()
        }
        self.checkpoint.files.write(f"{self.checkpoint.folder}/{_FILE}", json.dumps(text))


def _execution(query: "StreamingQuery") -> Any:
    """Spark's execution of the query."""
    execution: Any = query._jsq
    return execution.streamingQuery() if hasattr(execution, "streamingQuery") else execution


@contextmanager
def _no_new_batch(execution: Any) -> Iterator[bool]:
    """Whether no micro-batch is running; none begins in here."""
    lock = execution.awaitProgressLock()
    lock.lock()
    try:
        begun, ended = (log.getLatestBatchId() for log in (execution.offsetLog(), execution.commitLog()))
        yield execution.lastExecution() is not None and bool(begun.equals(ended))
    finally:
        lock.unlock()
