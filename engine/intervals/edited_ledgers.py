"""The user counts intervals as done, or as not done."""

from datetime import datetime

from catalog.diagnostics.diagnostic import job_error
from engine.intervals.due_intervals import IntervalRange, limits
from engine.intervals.job_ledgers import JobLedgers, other_keys
from engine.job.model.intervals import TimeInterval
from engine.state.incremental_reads import now
from engine.state.interval_ledger import DoneInterval, LedgerKey, entries_of, forget_done, record_done
from engine.state.journal import open_journals_in
from engine.state.layout import StateLayout


def count_as(
    layout: StateLayout, ledgers: JobLedgers, wanted: IntervalRange, instant: datetime, *, are_done: bool
) -> None:
    """Record the intervals of a range as done by the job as it is, or forget them; so those of what it read before.

    Raises PEN5303 while a run of the job has begun to commit, and PEN1650 for times that are no boundaries.
    """
    spec, known = ledgers.spec, ledgers.spec.floor(instant)
    start, end = limits(spec, wanted, known)
    keys = [ledger.key for ledger in ledgers.writes.values()]
    _refuse_deciding(layout, {*keys, *(old for old, _ in other_keys(layout, ledgers))})
    for old, _ in tuple(other_keys(layout, ledgers)):
        forget_done(layout, old, _within(layout, old, start, end))
    for ledger in ledgers.writes.values():
        if not are_done:
            forget_done(layout, ledger.key, _within(layout, ledger.key, start, end))
            continue
        record_done(
            layout,
            (
                DoneInterval(ledger.key, interval, ledger.fingerprint, known, job=ledgers.job.name,
                             file=ledgers.job.file, at=now())
                for interval in spec.between(start, end)
            ),
        )  # fmt: skip


def _within(layout: StateLayout, key: LedgerKey, start: datetime, end: datetime) -> list[TimeInterval]:
    return [interval for interval in entries_of(layout, key) if start <= interval.start and interval.end <= end]


def _refuse_deciding(layout: StateLayout, keys: set[LedgerKey]) -> None:
    for log in open_journals_in(layout):
        recorded = log.read()
        if recorded is not None and any(record.key in keys for record in recorded.intervals):
            message = f"run `{log.run_id}` of this job has begun to commit, and is not finished"
            help = f"wait for it; if it was killed, end it by `penstock run --resume {log.run_id}`"
            raise job_error("PEN5303", message, None, help)
