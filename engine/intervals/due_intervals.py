"""Which intervals a run does, in which order and how many at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from catalog.diagnostics.diagnostic import job_error
from engine.job.model.intervals import IntervalSpec, TimeInterval
from engine.job.options.interval_option import boundary


class Reason(str, Enum):
    """Why an interval is done."""

    MISSING = "missing"
    LATE = "late rows"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Done:
    """An interval that is done. `known`: the end of the last interval that was over then. `is_stale`: the job meant
    something else."""

    known: datetime
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class IntervalRange:
    """What a command is to do: the intervals from `start` to `end`, also those that are done if `is_again`.

    Texts as a user writes them; None: from the first, to the last that is over. `is_widened`: a job whose intervals are
    longer does those that the range touches.
    """

    start: str | None = None
    end: str | None = None
    is_again: bool = False
    is_widened: bool = False


ALL = IntervalRange()


@dataclass(frozen=True, slots=True)
class DueRun:
    """One run: intervals in a row."""

    intervals: tuple[TimeInterval, ...]
    reason: Reason

    @property
    def window(self) -> TimeInterval:
        return TimeInterval(self.intervals[0].start, self.intervals[-1].end)


def due_runs(
    spec: IntervalSpec, done: Mapping[TimeInterval, Done], wanted: IntervalRange, instant: datetime
) -> tuple[DueRun, ...]:
    """The runs that are due at an instant, oldest first. Raises PEN1650 where the range is not one of intervals."""
    known = spec.floor(instant)
    start, end = limits(spec, wanted, known)
    due: list[tuple[TimeInterval, Reason]] = []
    for interval in spec.between(start, end):
        reason = _reason(spec, interval, done.get(interval), known, is_again=wanted.is_again)
        if reason is not None:
            due.append((interval, reason))
    return tuple(_batched(due, spec.batch))


def limits(spec: IntervalSpec, wanted: IntervalRange, known: datetime) -> tuple[datetime, datetime]:
    """From where to where a command does intervals; only those that are over by `known`."""
    start = spec.start if wanted.start is None else _limit(spec, wanted.start, wanted, at_end=False)
    end = (spec.end or known) if wanted.end is None else _limit(spec, wanted.end, wanted, at_end=True)
    if wanted.start is not None and wanted.end is not None and end <= start:
        raise job_error("PEN1650", f"`--to {wanted.end}` is not after `--from {wanted.start}`", None, "it is exclusive")
    return start, min(end, known)


def _limit(spec: IntervalSpec, text: str, wanted: IntervalRange, *, at_end: bool) -> datetime:
    option = "--to" if at_end else "--from"
    try:
        if not wanted.is_widened:
            return boundary(spec, text)
        instant = spec.parsed(text)
        floor = spec.floor(instant)
        return spec.after(floor) if at_end and floor != instant else floor
    except ValueError as error:
        raise job_error("PEN1650", f"`{option}`: {error}", None, f"intervals are of one {spec.grain.value}") from error


def _reason(
    spec: IntervalSpec, interval: TimeInterval, done: Done | None, known: datetime, *, is_again: bool
) -> Reason | None:
    if done is None:
        return Reason.MISSING
    if is_again:
        return Reason.AGAIN
    is_settled = done.known >= spec.settled_from(interval)
    return None if is_settled or done.known >= known else Reason.LATE


def _batched(due: Sequence[tuple[TimeInterval, Reason]], size: int) -> Iterator[DueRun]:
    """Runs of so many intervals at most, which follow each other and have one reason."""
    batch: list[TimeInterval] = []
    last: Reason | None = None
    for interval, reason in due:
        if batch and (len(batch) >= size or reason is not last or batch[-1].end != interval.start):
            assert last is not None
            yield DueRun(tuple(batch), last)
            batch = []
        batch.append(interval)
        last = reason
    if batch and last is not None:
        yield DueRun(tuple(batch), last)


def shown_ranges(spec: IntervalSpec, intervals: Sequence[TimeInterval], most: int = 3) -> str:
    """Intervals as text: `2024-02-01..2024-02-03, 2024-02-07`."""
    found: list[TimeInterval] = []
    for interval in intervals:
        if found and found[-1].end == interval.start:
            found[-1] = TimeInterval(found[-1].start, interval.end)
        else:
            found.append(interval)
    more = f" and {len(found) - most} more ranges" if len(found) > most else ""
    return ", ".join(map(spec.label, found[:most])) + more
