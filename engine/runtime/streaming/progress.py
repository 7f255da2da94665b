"""How far a stream is: the micro-batches of Spark's query, their latency, and how many records are still to be read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True, slots=True)
class Progress:
    """The last micro-batch of a stream: its number, seconds from its start to its commit, and the records that had
    arrived and were not in it (None: the source does not say)."""

    batch: int
    seconds: float
    lag: int | None

    @property
    def counts(self) -> dict[str, object]:
        """For the ledger."""
        return {"latency_seconds": self.seconds, "lag": self.lag}


def progress_of(query: "StreamingQuery") -> Progress | None:
    """The progress that Spark last reported; None before the first micro-batch."""
    last = query.lastProgress
    return parse_progress(json.loads(last.json)) if last is not None else None


def parse_progress(reported: Mapping[str, object]) -> Progress:
    """Spark's report as JSON has it."""
    duration, sources = reported.get("durationMs"), reported.get("sources")
    milliseconds = duration.get("triggerExecution", 0) if isinstance(duration, Mapping) else 0
    source = sources[0] if isinstance(sources, list) and sources else {}
    lag = _behind(source.get("latestOffset"), source.get("endOffset"))
    return Progress(int(str(reported["batchId"])), milliseconds / 1000, lag)


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
