"""What one stream has done, over all micro-batches of a run: sums, since a stream may run for months."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from catalog.diagnostics.diagnostic import Diagnostic
from engine.runtime.counting.counts import ReadCount, WriteCount, total
from engine.runtime.results import JobResult
from engine.runtime.streaming.stream_progress import Progress


@dataclass(eq=False, slots=True)
class StreamTotals:
    """The sums of a stream by the name of its head, `source`; `progress` of its last micro-batch; `counted`: the last
    one whose rows, read by Spark itself, are in `reads` and `late`. `late`: rows that Spark has left out as late, or
    more; `left_out`: those that Penstock has, before Spark saw them."""

    source: str
    batches: int = 0
    counted: int = -1
    progress: Progress | None = None
    late: int = 0
    left_out: int = 0
    reads: dict[str, ReadCount] = field(default_factory=dict)
    writes: dict[str, WriteCount] = field(default_factory=dict)
    warnings: dict[tuple[str, str], Diagnostic] = field(default_factory=dict)

    def add(self, result: JobResult) -> None:
        """Add a micro-batch."""
        self.batches += 1
        for read in result.reads:
            self.reads[read.source] = _with_read(self.reads.get(read.source), read)
        for write in result.writes:
            self.writes[write.sink] = _with_write(self.writes.get(write.sink), write)
        for warning in result.warnings:
            self.warnings[(warning.code, warning.message)] = warning

    def look(self, reported: Sequence[Progress], sources: Sequence[str], twice: Sequence[str] = ()) -> bool:
        """Take what Spark has reported; whether there is something new. Of `sources`, in its order, also the rows that
        it read itself: those of others are counted in the micro-batches. `twice`: the sources that it reads once more,
        for their late rows, which it reports at the first of that name."""
        for progress in reported:
            if progress.batch <= self.counted or not any(progress.rows):
                continue
            self.counted = progress.batch
            self.late += progress.late
            again = list(twice)
            for source, rows in zip(sources, progress.rows, strict=False):
                is_twice = source in again
                again = [name for name in again if name != source]
                count = ReadCount(source, rows // 2 if is_twice else rows, None, 1)
                self.reads[source] = _with_read(self.reads.get(source), count)
        last = reported[-1] if reported else None
        is_new = last is not None and last != self.progress
        self.progress = last or self.progress
        return is_new

    @property
    def counts(self) -> dict[str, object]:
        """For the ledger."""
        late = {"late": self.late + self.left_out} if self.late + self.left_out else {}
        return {"batches": self.batches, **(self.progress.counts if self.progress else {}), **late}


def _with_read(before: ReadCount | None, count: ReadCount) -> ReadCount:
    if before is None:
        return count
    rows, bytes_ = total((before.rows, count.rows)), total((before.bytes, count.bytes))
    return replace(before, rows=rows, bytes=bytes_, left_out=before.left_out + count.left_out)


def _with_write(before: WriteCount | None, count: WriteCount) -> WriteCount:
    if before is None:
        return count
    return replace(
        before,
        rows=total((before.rows, count.rows)),
        filtered=total((before.filtered, count.filtered)),
        bytes=total((before.bytes, count.bytes)),
        rejected=total((before.rejected, count.rejected)),
    )
