"""The intervals of a job: a calendar of hours, days or months, each of which a run does as a whole.

A day is that of a time zone: where clocks change it has 23 or 25 hours. All instants are in UTC.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from enum import Enum
from typing import Final

from catalog.iso_time import iso_time

START, END, DATE = "interval_start", "interval_end", "interval_date"
VARIABLES: Final = (START, END, DATE)
"""The variables that a job with intervals has."""
UTC: Final = "UTC"
_HOUR: Final = timedelta(hours=1)
_LEAST: Final = timedelta(microseconds=1)


class Grain(str, Enum):
    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True, slots=True, order=True)
class TimeInterval:
    """From `start` to `end`, without it; both in UTC."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.start.tzinfo is None or self.end.tzinfo is None or self.start >= self.end:
            raise ValueError(f"no interval: {self.start} to {self.end}")

    def overlaps(self, other: "TimeInterval") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class InputWindow:
    """The rows of a source that an interval reads: those whose `column` is in it, or in so many grains `before` and
    `after` it."""

    name: str
    column: str
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class IntervalSpec:
    """What `interval` in `env` says.

    `column`: by which a row belongs to an interval. `start`: of the first interval; `end`: of the last one, None for
    the last that has ended. `lookback`: how many grains after its end an interval may still get late rows. `batch`: the
    most intervals that one run does; `concurrency`: how many runs at once. `inputs`: of the sources that have one.
    """

    column: str
    grain: Grain
    start: datetime
    end: datetime | None = None
    zone: str = UTC
    lookback: int = 0
    batch: int = 1
    concurrency: int = 1
    inputs: tuple[InputWindow, ...] = ()

    @property
    def timezone(self) -> tzinfo:
        return timezone.utc if self.zone == UTC else zone_of(self.zone)

    def floor(self, instant: datetime) -> datetime:
        """The start of the interval that an instant is in."""
        local = instant.astimezone(self.timezone).date()
        if self.grain is Grain.MONTH:
            return self._midnight(local.replace(day=1))
        midnight = self._midnight(local)
        return midnight if self.grain is Grain.DAY else midnight + (instant - midnight) // _HOUR * _HOUR

    def after(self, boundary: datetime) -> datetime:
        """The end of the interval that starts at a boundary. Hours are counted from midnight, and end at the next."""
        day = boundary.astimezone(self.timezone).date()
        if self.grain is Grain.MONTH:
            return self._midnight((day.replace(day=28) + timedelta(days=4)).replace(day=1))
        midnight = next(
            later for days in range(1, 4) if (later := self._midnight(day + timedelta(days=days))) > boundary
        )
        return midnight if self.grain is Grain.DAY else min(midnight, boundary + _HOUR)

    def widened(self, interval: TimeInterval, before: int, after: int) -> TimeInterval:
        """The interval with so many grains before and after it."""
        start, end = interval.start, interval.end
        for _ in range(before):
            start = self.floor(start - _LEAST)
        for _ in range(after):
            end = self.after(end)
        return TimeInterval(start, end)

    def between(self, start: datetime, end: datetime) -> Iterator[TimeInterval]:
        """The intervals from a boundary that end at `end` or before."""
        while (following := self.after(start)) <= end:
            yield TimeInterval(start, following)
            start = following

    def first(self) -> TimeInterval:
        return TimeInterval(self.start, self.after(self.start))

    def reference(self) -> TimeInterval:
        """What a job is compiled for to know what it means and what it reads, whatever interval it does."""
        start = self._midnight(date(2000, 1, 1))
        return TimeInterval(start, self.after(start))

    def is_boundary(self, instant: datetime) -> bool:
        return self.floor(instant) == instant

    def settled_from(self, interval: TimeInterval) -> datetime:
        """The boundary from which on an interval gets no late rows."""
        boundary = interval.end
        for _ in range(self.lookback):
            boundary = self.after(boundary)
        return boundary

    def parsed(self, text: str) -> datetime:
        """The instant of a text, `2024-02-01`, `2024-02` or `2024-02-01 05:00`, in the zone. Raises `ValueError`."""
        text = text.strip()
        local = iso_time(f"{text}-01" if len(text) == len("2024-02") else text)
        return self._utc(local) if local.tzinfo is None else local.astimezone(timezone.utc)

    def text(self, instant: datetime) -> str:
        """An instant as `${interval_start}` has it: a date where intervals begin at midnight UTC, else a timestamp in
        UTC, in which queries run."""
        is_date = self.grain is not Grain.HOUR and self.zone == UTC
        return f"{instant:%Y-%m-%d}" if is_date else f"{instant:%Y-%m-%d %H:%M:%S}"

    def day(self, instant: datetime) -> date:
        """The date in the zone."""
        return instant.astimezone(self.timezone).date()

    def variables(self, interval: TimeInterval) -> dict[str, str]:
        """The values of the variables for an interval."""
        start, end = self.text(interval.start), self.text(interval.end)
        return {START: start, END: end, DATE: self.day(interval.start).isoformat()}

    def boundary_label(self, boundary: datetime) -> str:
        """A boundary as messages have it, and as `--from` takes it."""
        local = boundary.astimezone(self.timezone)
        match self.grain:
            case Grain.MONTH:
                return f"{local:%Y-%m}"
            case Grain.DAY:
                return f"{local:%Y-%m-%d}"
            case Grain.HOUR:
                return f"{boundary:%Y-%m-%dT%H:%MZ}"

    def label(self, interval: TimeInterval) -> str:
        """The name of an interval, or of several that one run does; a part of the id of the run."""
        first = self.boundary_label(interval.start)
        if self.after(interval.start) == interval.end:
            return first
        *_, last = self.between(interval.start, interval.end)
        return f"{first}..{self.boundary_label(last.start)}"

    def _midnight(self, day: date) -> datetime:
        return self._utc(datetime.combine(day, time()))

    def _utc(self, local: datetime) -> datetime:
        return local.replace(tzinfo=self.timezone).astimezone(timezone.utc)


def zone_of(name: str) -> tzinfo:
    """Raises `ValueError` for a zone that this machine does not know."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # imported here, because most jobs have no intervals

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(f"`{name}` is no time zone that this machine knows") from error
