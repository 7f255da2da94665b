"""How far a stream is: the micro-batches of Spark's query, their latency, and how many records are still to be read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True, slots=True)
class Progress:
    """The last micro-batch of a stream: its number, seconds from its start to its commit, the records that had arrived
    and were not in it (None: no source says), the rows that Spark read of each source, and those that came later than
    the watermark (of groups it counts what is left of them after each task has grouped its own)."""

    batch: int
    seconds: float
    lag: int | None
    rows: tuple[int, ...] = ()
    late: int = 0

    @property
    def counts(self) -> dict[str, object]:
        """For the ledger."""
        return {"latency_seconds": self.seconds, "lag": self.lag}


def progress_of(query: "StreamingQuery", after: int) -> tuple[Progress, ...]:
    """What Spark has reported of the latest micro-batches, from the first one behind `after`; at least the last one.

    Spark keeps a hundred reports, and PySpark asks Java dozens of times for each: new ones are read here, as JSON.
    """
    reported: Any = query._jsq.recentProgress()
    found: list[Progress] = []
    for index in reversed(range(len(reported))):
        progress = parse_progress(json.loads(str(reported[index].json())))
        if found and progress.batch <= after:
            break
        found.insert(0, progress)
    return tuple(found)


def parse_progress(reported: Mapping[str, object]) -> Progress:
    """Spark's report as JSON has it."""
    duration, sources = reported.get("durationMs"), reported.get("sources")
    milliseconds = duration.get("triggerExecution", 0) if isinstance(duration, Mapping) else 0
    listed = sources if isinstance(sources, list) else []
    lags = [_behind(source.get("latestOffset"), source.get("endOffset")) for source in listed]
    known = [lag for lag in lags if lag is not None]
    rows = tuple(int(source.get("numInputRows", 0)) for source in listed)
    number, lag = int(str(reported["batchId"])), sum(known) if known else None
    return Progress(number, milliseconds / 1000, lag, rows, _late(reported.get("stateOperators")))


def _late(operators: object) -> int:
    """The rows that Spark's operators with state left out, as later than the watermark."""
    listed = operators if isinstance(operators, list) else []
    return sum(int(operator.get("numRowsDroppedByWatermark", 0)) for operator in listed)


def _behind(latest: object, end: object) -> int | None:
    """The records between two offsets of Kafka, `{topic: {partition: offset}}`; None for those of other sources."""
    if not (isinstance(latest, Mapping) and isinstance(end, Mapping)):
        return None
    behind = 0
    for topic, partitions in latest.items():
        ends = end.get(topic, {})
        if not (isinstance(partitions, Mapping) and isinstance(ends, Mapping)):
            return None
        behind += sum(max(int(offset) - int(ends.get(number, 0)), 0) for number, offset in partitions.items())
    return behind
