"""Whether the targets of a stream have what its checkpoint says that they have."""

from typing import TYPE_CHECKING, Final

from engine.plan.nodes import Write
from engine.runtime.streaming.stream import Stream
from engine.spark.writing.marks import refuse_lost
from engine.state.journal import journal_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HELP: Final = (
    "restore the target; or start anew, into a new target, with another checkpoint: `env { stream.checkpoint = … }`"
)


def refuse_lost_batches(spark: "SparkSession", stream: Stream) -> None:
    """Raise PEN5222 where a target lacks the last micro-batch that was committed to it."""
    checkpoint = stream.checkpoint
    if checkpoint.last_batch is None:
        return
    committed = checkpoint.last_batch if checkpoint.is_complete else checkpoint.last_batch - 1
    run_id = f"{checkpoint.record.stream}.{committed}"
    recorded = journal_in(stream.layout, run_id).read()
    if recorded is None:
        return
    left: dict[str, list[str]] = {}
    for write_id in sorted(recorded.done, reverse=True):
        if write_id in recorded.targets:
            left.setdefault(recorded.targets[write_id], []).append(write_id)
    known: dict[str, str] = {}
    writes: list[Write] = []
    for write in stream.writes:
        if left.get(write.target):
            known[write.id] = left[write.target].pop()
            writes.append(write)
    refuse_lost(spark, writes, run_id, recorded, known, batch=committed, help=_HELP)
