"""The ledgers of a job with intervals: one for each of its targets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from catalog.diagnostics.diagnostic import Diagnostics, JobError, RunError, job_error
from engine.compile import Compiled, compile_job
from engine.intervals.due_intervals import Done, DueRun
from engine.job.model.intervals import IntervalSpec, TimeInterval
from engine.job.root import root_of
from engine.plan.datasets import dataset_of
from engine.plan.intervals.interval_writes import has_target
from engine.plan.nodes import Scan, Write, below
from engine.state.incremental_reads import JobFile, incremental_scans, now, read_by
from engine.state.interval_ledger import (
    DoneInterval,
    LedgerEntry,
    LedgerKey,
    any_record,
    entries_of,
    ledgers_beside,
)
from engine.state.layout import StateLayout

CompileAgain: TypeAlias = Callable[[Compiled], Compiled]
"""The job as its sources are now, by its settings; raises a `JobError`."""


@dataclass(frozen=True, slots=True)
class WriteLedger:
    """The ledger of one write, and what the job means for it."""

    key: LedgerKey
    fingerprint: str
    entries: dict[TimeInterval, LedgerEntry]


@dataclass(frozen=True, slots=True)
class JobLedgers:
    """Those of all writes of a job, by the names of the writes."""

    spec: IntervalSpec
    job: JobFile
    writes: dict[str, WriteLedger]

    def done(self) -> dict[TimeInterval, Done]:
        """The intervals that all targets have, and since when their late rows are known."""
        ledgers = tuple(self.writes.values())
        found: dict[TimeInterval, Done] = {}
        for interval in ledgers[0].entries if ledgers else ():
            entries = [(ledger, ledger.entries[interval]) for ledger in ledgers if interval in ledger.entries]
            if len(entries) == len(ledgers):
                is_stale = any(entry.fingerprint != ledger.fingerprint for ledger, entry in entries)
                found[interval] = Done(min(entry.known for _, entry in entries), is_stale)
        return found

    def records(self, run: DueRun, run_id: str, known: datetime) -> dict[str, tuple[DoneInterval, ...]]:
        """What is recorded when a run of these intervals commits, by the names of the writes."""
        return {
            name: tuple(
                DoneInterval(
                    ledger.key, interval, ledger.fingerprint, max(known, interval.end), run_id,
                    job=self.job.name, file=self.job.file, at=now(),
                )
                for interval in run.intervals
            )
            for name, ledger in self.writes.items()
        }  # fmt: skip


def at_reference(compiled: Compiled, compile_again: CompileAgain) -> Compiled:
    """The job compiled for an interval that is the same whatever the job's `start` is: by that, its meaning and what it
    reads are known. One whose sources can only be read for real intervals is compiled for its first."""
    spec = spec_of(compiled)
    for interval in (spec.reference(), spec.first()):
        try:
            return compile_again(replace(compiled, settings=replace(compiled.settings, interval=interval)))
        except JobError:
            if interval == spec.first():
                raise
    raise AssertionError("one of them was returned or raised")


def spec_of(compiled: Compiled) -> IntervalSpec:
    """Raises PEN1654 for a job without intervals."""
    spec = compiled.plan.env.interval
    if spec is None:
        help = 'env { interval { column = day, grain = day, start = "2024-01-01" } }'
        raise job_error("PEN1654", f"the job `{compiled.plan.env.name}` has no intervals", None, help)
    return spec


def job_ledgers(compiled: Compiled, layout: StateLayout, compile_again: CompileAgain) -> JobLedgers:
    """What is recorded of the intervals of a job."""
    reference, spec = at_reference(compiled, compile_again), spec_of(compiled)
    meant = reference.meaning.writes
    writes = {
        write.name: WriteLedger(key, meant[write.id].fingerprint, entries_of(layout, key))
        for write in reference.built.writes
        if has_target(write.connector) and (key := key_of(write))
    }
    return JobLedgers(spec, JobFile.of(compiled.plan.env.name, compiled.path), writes)


def key_of(write: Write) -> LedgerKey:
    target = dataset_of(write)
    written = f"{write.connector.name}:{write.written_name}" if target is None else str(target)
    read = sorted({read_by(node) for node in below(write) if isinstance(node, Scan)})
    return LedgerKey("\n".join(read), written)


def refuse_other_ledgers(compiled: Compiled, layout: StateLayout, ledgers: JobLedgers) -> None:
    """Report another job that would share a ledger (PEN5422), and intervals that were done when the job read something
    else (PEN5421): they would all be run again."""
    diagnostics = Diagnostics()
    for name, ledger in ledgers.writes.items():
        span = next((write.span for write in compiled.plan.writes if write.name == name), None)
        record = any_record(layout, ledger.key)
        if record is not None and record.file != ledgers.job.file and _is_ledger_of(compiled, record):
            message = (
                f"`{record.file}` and `{ledgers.job.file}` read and write the same, and would share their intervals"
            )
            help = "let them write to different targets; or move away the file that is no job any more"
            diagnostics.error("PEN5422", message, span, help)
        for other in ledgers_beside(layout, ledger.key):
            lacking = entries_of(layout, other.key).keys() - ledger.entries.keys()
            if other.file == ledgers.job.file and lacking and not _is_of_other_write(other.key, ledgers):
                message = (
                    f"{len(lacking)} intervals of `{name}` were done when the job read "
                    f"{_listed(other.key.read)}; now it reads {_listed(ledger.key.read)}"
                )
                help = (
                    "`penstock state JOB --done` counts them as done, `penstock state JOB --missing` as not done: the "
                    "next run then does all of them"
                )
                diagnostics.error("PEN5421", message, span, help)
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def other_keys(layout: StateLayout, ledgers: JobLedgers) -> Iterator[tuple[LedgerKey, LedgerKey]]:
    """The ledgers of this job for what it read before, each with that of now."""
    for ledger in ledgers.writes.values():
        for other in ledgers_beside(layout, ledger.key):
            if other.file == ledgers.job.file and not _is_of_other_write(other.key, ledgers):
                yield other.key, ledger.key


def refuse_incremental(compiled: Compiled) -> None:
    """Report incremental sources: what a source has read once, another interval would lack."""
    for scan, _ in incremental_scans(compiled.plan):
        message = f"`{scan.written_name}` is read incrementally, and the job has intervals"
        help = "leave out `incremental`: the job reads the rows of the interval"
        raise job_error("PEN2011", message, scan.options.span("incremental"), help)


def _is_of_other_write(key: LedgerKey, ledgers: JobLedgers) -> bool:
    return any(ledger.key == key for ledger in ledgers.writes.values())


def _is_ledger_of(compiled: Compiled, record: DoneInterval) -> bool:
    """Whether the job that recorded an interval is there, and would record it again."""
    path: Path = root_of(compiled.path) / record.file
    if not path.is_file():
        return False  # it was renamed
    other = compile_job(path, compiled.settings, Diagnostics())
    if other is None or other.plan.env.interval is None:
        return False
    settings = replace(compiled.settings, interval=other.plan.env.interval.reference())
    other = compile_job(path, settings, Diagnostics()) or other
    return record.key in {key_of(write) for write in other.built.writes}


def _listed(read: str) -> str:
    return ", ".join(f"`{text}`" for text in read.splitlines()) or "nothing"
