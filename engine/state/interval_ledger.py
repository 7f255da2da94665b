"""The ledger of intervals: which ones are done, of what is read and written, in the state directory.

    <state dir>/intervals/<target and datasets>/<start>_<end>.<settled>.<fingerprint>.json

One file for each interval, so that runs of different intervals share none; its name says all that is needed to know
which intervals a run has to do. A record moves only in the commit of its rows, as watermarks do: the decision in the
run's journal holds it, so that whoever finishes the run writes it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from hashlib import sha256
from typing import Any, Final

from catalog.diagnostics.diagnostic import run_error
from engine.job.model.intervals import TimeInterval
from engine.state.layout import StateLayout

_TIME: Final = "%Y%m%dT%H%M%SZ"
_NAME: Final = re.compile(r"(\d{8}T\d{6}Z)_(\d{8}T\d{6}Z)\.(\d{8}T\d{6}Z)\.([0-9a-z]+)\.json")


@dataclass(frozen=True, slots=True, order=True)
class LedgerKey:
    """`read`: the datasets that a write reads, as text, sorted; `written`: its target."""

    read: str
    written: str

    @property
    def digest(self) -> str:
        """Of the target, then of what is read: the ledgers of one target are next to each other."""
        return "-".join(sha256(text.encode()).hexdigest()[:16] for text in (self.written, self.read))


@dataclass(frozen=True, slots=True)
class DoneInterval:
    """An interval whose rows are committed.

    `fingerprint`: what the job meant. `known`: the end of the last interval that was over then: an interval with late
    rows is run again until that is far enough after its own end. `run_id`: of the run that did it last, empty where
    the user has said so; `replaced`: of the one before. `file`: the job's, from the root. `at`: UTC, ISO 8601.
    """

    key: LedgerKey
    interval: TimeInterval
    fingerprint: str
    known: datetime
    run_id: str = ""
    replaced: str | None = None
    job: str = ""
    file: str = ""
    at: str = ""

    @property
    def name(self) -> str:
        """That of its file."""
        return f"{_stem(self.interval)}.{self.known:{_TIME}}.{self.fingerprint}.json"

    def path(self, layout: StateLayout) -> str:
        return f"{layout.intervals(self.key.digest)}/{self.name}"

    def to_json(self) -> dict[str, Any]:
        times = {"start": self.interval.start, "end": self.interval.end, "known": self.known}
        return {**asdict(self), "interval": None, **{name: f"{value:{_TIME}}" for name, value in times.items()}}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "DoneInterval":
        own = {name: value for name, value in record.items() if name not in ("start", "end")}
        interval = TimeInterval(_time(record["start"]), _time(record["end"]))
        return cls(**{**own, "key": LedgerKey(**record["key"]), "interval": interval, "known": _time(record["known"])})


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What the name of a record says."""

    interval: TimeInterval
    known: datetime
    fingerprint: str


def entries_of(layout: StateLayout, key: LedgerKey) -> dict[TimeInterval, LedgerEntry]:
    """The done intervals; of two records of one interval, the later one counts."""
    found: dict[TimeInterval, LedgerEntry] = {}
    for name in layout.files.children(layout.intervals(key.digest)):
        entry = _entry(name)
        if entry is not None and (entry.interval not in found or found[entry.interval].known <= entry.known):
            found[entry.interval] = entry
    return dict(sorted(found.items()))


def record_of(layout: StateLayout, key: LedgerKey, interval: TimeInterval) -> DoneInterval | None:
    """The record of an interval; of several, which a killed process may have left, the one written last."""
    found = [_read(layout, f"{layout.intervals(key.digest)}/{name}") for name in _names(layout, key, interval)]
    return max(found, key=lambda record: (record.at, record.known), default=None)


def ledgers_beside(layout: StateLayout, key: LedgerKey) -> Iterator[DoneInterval]:
    """A record of each ledger of the same target, for other sources."""
    target = key.digest.partition("-")[0]
    for digest in layout.ledgers():
        if digest.partition("-")[0] == target and digest != key.digest:
            names = [name for name in layout.files.children(layout.intervals(digest)) if _entry(name) is not None]
            if names:
                yield _read(layout, f"{layout.intervals(digest)}/{names[-1]}")


def any_record(layout: StateLayout, key: LedgerKey) -> DoneInterval | None:
    """One of the records of a ledger, the last one; None where nothing is done."""
    folder = layout.intervals(key.digest)
    names = [name for name in layout.files.children(folder) if _entry(name) is not None]
    return _read(layout, f"{folder}/{names[-1]}") if names else None


def refuse_done_meanwhile(layout: StateLayout, records: Iterable[DoneInterval]) -> None:
    """Raise PEN5420 where another run has done an interval since this run began: its rows may be newer."""
    for record in records:
        now = record_of(layout, record.key, record.interval)
        if (None if now is None else now.run_id) not in (record.replaced, record.run_id):
            message = (
                f"the interval {record.interval.start:%Y-%m-%d %H:%M} of `{record.key.written}` has been done by "
                f"another run since this one began"
            )
            raise run_error("PEN5420", message, None, "run the job again: it does what is still missing")


def record_done(layout: StateLayout, records: Iterable[DoneInterval]) -> None:
    """Record done intervals; doing it again changes nothing."""
    for record in records:
        layout.files.write(record.path(layout), json.dumps(record.to_json(), indent=1))
        for name in _names(layout, record.key, record.interval):
            if name != record.name:
                layout.files.delete(f"{layout.intervals(record.key.digest)}/{name}")


def forget_done(layout: StateLayout, key: LedgerKey, intervals: Iterable[TimeInterval]) -> None:
    """Count intervals as not done."""
    for interval in intervals:
        for name in _names(layout, key, interval):
            layout.files.delete(f"{layout.intervals(key.digest)}/{name}")


def begun(records: Iterable[DoneInterval], layout: StateLayout) -> tuple[DoneInterval, ...]:
    """The records that a run is to write, with the runs that did the intervals before."""
    before = ((record, record_of(layout, record.key, record.interval)) for record in records)
    return tuple(replace(record, replaced=None if found is None else found.run_id) for record, found in before)


def _names(layout: StateLayout, key: LedgerKey, interval: TimeInterval) -> list[str]:
    stem = _stem(interval)
    return [name for name in layout.files.children(layout.intervals(key.digest)) if name.startswith(f"{stem}.")]


def _entry(name: str) -> LedgerEntry | None:
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    start, end, known, fingerprint = match.groups()
    return LedgerEntry(TimeInterval(_time(start), _time(end)), _time(known), fingerprint)


def _read(layout: StateLayout, path: str) -> DoneInterval:
    try:
        return DoneInterval.from_json(json.loads(layout.files.read(path)))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        help = "`penstock state JOB --missing` counts the interval as not done: the next run does it"
        raise run_error("PEN5011", f"`{path}` is no record of an interval: {error}", None, help) from error


def _stem(interval: TimeInterval) -> str:
    return f"{interval.start:{_TIME}}_{interval.end:{_TIME}}"


def _time(text: str) -> datetime:
    return datetime.strptime(text, _TIME).replace(tzinfo=timezone.utc)
