"""What one stream has done, over all micro-batches of a run: sums, since a stream may run for months."""

from dataclasses import dataclass, field, replace

from catalog.diagnostics import Diagnostic
from engine.runtime.counting.counts import ReadCount, WriteCount, total
from engine.runtime.results import JobResult
from engine.runtime.streaming.progress import Progress


@dataclass(eq=False, slots=True)
class StreamTotals:
    """The sums of a stream that reads `source`; `progress` of its last micro-batch."""

    source: str
    batches: int = 0
    progress: Progress | None = None
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

    @property
    def counts(self) -> dict[str, object]:
        """For the ledger."""
        return {"batches": self.batches, **(self.progress.counts if self.progress else {})}


def _with_read(before: ReadCount | None, count: ReadCount) -> ReadCount:
    if before is None:
        return count
    return replace(before, rows=total((before.rows, count.rows)), bytes=total((before.bytes, count.bytes)))


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
