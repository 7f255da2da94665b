"""What `explain` and `penstock state` show of the intervals of a job."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from engine.intervals.due_intervals import DueRun, IntervalRange, Reason, due_runs, limits, shown_ranges
from engine.intervals.job_ledgers import JobLedgers
from engine.job.model.intervals import IntervalSpec, TimeInterval


def due_text(ledgers: JobLedgers, due: Sequence[DueRun]) -> str:
    """The intervals that the next run does, as `explain` shows them."""
    spec = ledgers.spec
    lines = [f"intervals: one {spec.grain.value} by `{spec.column}`{'' if spec.zone == 'UTC' else f' in {spec.zone}'}"]
    by_reason = {reason: [each for run in due if run.reason is reason for each in run.intervals] for reason in Reason}
    for reason, intervals in by_reason.items():
        if intervals:
            lines.append(f"   {reason.value}: {len(intervals)}: {shown_ranges(spec, intervals)}")
    lines += ["   none is due"] if not due else []
    if due:
        at_once = f", {spec.concurrency} at once" if spec.concurrency > 1 else ""
        lines.append(f"   {len(due)} run{'s' * (len(due) != 1)}{at_once}; the plan above is that of the first")
    if stale := stale_intervals(ledgers):
        lines.append(f"   done before the job changed: {len(stale)}: {shown_ranges(spec, stale)}")
    return "\n".join(lines) + "\n"


def due_json(ledgers: JobLedgers, due: Sequence[DueRun]) -> dict[str, Any]:
    """The same for programs."""
    spec = ledgers.spec
    runs = [
        {"label": spec.label(run.window), "reason": run.reason.value, "intervals": len(run.intervals),
         "start": _iso(run.window.start), "end": _iso(run.window.end)}
        for run in due
    ]  # fmt: skip
    stale = [{"start": _iso(each.start), "end": _iso(each.end)} for each in stale_intervals(ledgers)]
    return {"column": spec.column, "grain": spec.grain.value, "timezone": spec.zone, "runs": runs, "stale": stale}


def stale_intervals(ledgers: JobLedgers) -> list[TimeInterval]:
    """Those that were done when the job meant something else."""
    return [interval for interval, done in sorted(ledgers.done().items()) if done.is_stale]


def stale_warnings(ledgers: JobLedgers) -> Iterator[Diagnostic]:
    """A warning (PEN5423) that names them."""
    if stale := stale_intervals(ledgers):
        spec = ledgers.spec
        message = (
            f"{len(stale)} intervals of `{ledgers.job.name}` were done before the job changed: "
            f"{shown_ranges(spec, stale)}"
        )
        first, last = spec.boundary_label(stale[0].start), spec.boundary_label(stale[-1].end)
        help = f"`penstock restate JOB --from {first} --to {last}` does them again"
        yield Diagnostic("PEN5423", message, None, help, Severity.WARNING)


def states(ledgers: JobLedgers, instant: datetime) -> Iterator[tuple[str, TimeInterval, int]]:
    """What the intervals up to now are: `done`, `missing` and so on, with how many there are in a row."""
    spec, done = ledgers.spec, ledgers.done()
    reasons = {
        interval: run.reason for run in due_runs(spec, done, IntervalRange(), instant) for interval in run.intervals
    }
    start, end = limits(spec, IntervalRange(), spec.floor(instant))
    outside = [interval for interval in done if interval.start < start or interval.end > end]
    listed = sorted({*spec.between(start, end), *outside})
    yield from _in_rows((_state(interval, ledgers, reasons), interval) for interval in listed)


def _state(interval: TimeInterval, ledgers: JobLedgers, reasons: dict[TimeInterval, Reason]) -> str:
    done = ledgers.done().get(interval)
    if done is None:
        return "missing"
    stale = ", before the job changed" if done.is_stale else ""
    late = ", late rows are due" if reasons.get(interval) is Reason.LATE else ""
    return f"done{stale}{late}"


def _in_rows(found: Iterable[tuple[str, TimeInterval]]) -> Iterator[tuple[str, TimeInterval, int]]:
    last: tuple[str, TimeInterval, int] | None = None
    for state, interval in found:
        if last is not None and last[0] == state and last[1].end == interval.start:
            last = (state, TimeInterval(last[1].start, interval.end), last[2] + 1)
            continue
        if last is not None:
            yield last
        last = (state, interval, 1)
    if last is not None:
        yield last


def label_of(spec: IntervalSpec, interval: TimeInterval) -> str:
    """An interval, or several in a row, as `penstock state` shows them; those of another grain by their times."""
    if spec.is_boundary(interval.start) and spec.is_boundary(interval.end):
        return spec.label(interval)
    return f"{_iso(interval.start)} to {_iso(interval.end)}"


def _iso(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"
