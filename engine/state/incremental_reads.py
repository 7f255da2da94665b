"""Where the next run of a job begins to read its incremental sources, and what the state directory then records."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.interface.incremental import Incremental, ReadProgress, Since, incremental_of
from connectors.interface.source_abilities import own_order_of
from connectors.storage.paths import target_folder
from engine.job.root import root_of
from engine.plan.datasets import dataset_of
from engine.plan.nodes import Plan, Scan, Write, below
from engine.state.earlier_watermarks import earlier_watermark
from engine.state.layout import StateLayout
from engine.state.watermarks import (
    EarlierWatermark,
    HighWatermark,
    WatermarkKey,
    read_watermark,
    watermark_before_move,
    watermarks_beside,
    watermarks_of,
)


@dataclass(frozen=True, slots=True)
class JobFile:
    """A job as watermarks name it: its name, and its file from the root, so that both are the same on every host; and
    where the root is."""

    name: str
    file: str
    root: str

    @classmethod
    def of(cls, name: str, path: Path) -> "JobFile":
        file, root = Path(os.path.realpath(path)), Path(os.path.realpath(root_of(path)))
        return cls(name, str(file.relative_to(root)) if file.is_relative_to(root) else str(file), str(root))


@dataclass(frozen=True, eq=False, slots=True)
class IncrementalRead:
    """One source of a run: where it begins, and the watermarks that it moves, by the name of the write.

    `recorded` has those that there are. `earlier`: the file of an earlier version that says where it begins.
    `before_move`: the files of those that were recorded where the project was before.
    """

    scan: Scan
    asked: Incremental
    keys: Mapping[str, WatermarkKey]
    job: JobFile
    since: Since = field(default_factory=Since)
    recorded: Mapping[WatermarkKey, HighWatermark] = field(default_factory=dict)
    earlier: str | None = None
    before_move: Mapping[WatermarkKey, str] = field(default_factory=dict)

    def moved(
        self, reached: ReadProgress | None, run_id: str, incarnations: Mapping[str, str | None]
    ) -> tuple[HighWatermark, ...]:
        """The watermarks once the run has committed what it read; none where they stay. `incarnations`: of the targets,
        by the names of the writes."""
        reached = self.since.until or reached
        if reached is None or reached == self.since.after:
            return ()
        by_key = {key: incarnations.get(name) for name, key in self.keys.items()}
        found = (self._moved(key, reached, run_id, incarnation) for key, incarnation in by_key.items())
        return tuple(watermark for watermark in found if watermark is not None)

    def _moved(
        self, key: WatermarkKey, reached: ReadProgress, run_id: str, incarnation: str | None
    ) -> HighWatermark | None:
        before = self.recorded.get(key)
        if self.since.until is not None and before is not None and before.value == reached:
            return None  # the run has moved it already
        replaced = None if before is None else before.value
        column = order_of(self.scan, self.asked)
        return HighWatermark(
            key, self.job.name, self.job.file, column, reached, self.since.after, replaced, run_id, now(),
            incarnation, self.before_move.get(key, self.earlier), self.job.root,
        )  # fmt: skip


def state_name(scan: Scan) -> str:
    """What the watermark of a scan is called: its `uid`, else its name in the job."""
    return scan.uid or scan.written_name


def incremental_scans(plan: Plan) -> tuple[tuple[Scan, Incremental], ...]:
    """The scans that read only what is new, and what the job asks of them."""
    found = ((node, incremental_of(node.options)) for node in plan.nodes() if isinstance(node, Scan))
    return tuple((scan, asked) for scan, asked in found if asked is not None)


def order_of(scan: Scan, asked: Incremental) -> str:
    """The column by which a scan is read, or what its source has instead."""
    own = own_order_of(scan.connector, scan.options)
    return asked.column or (own.name if own is not None else "")


def unread(plan: Plan, job: JobFile) -> tuple[IncrementalRead, ...]:
    """The incremental sources of a plan, as if nothing was recorded."""
    scans = incremental_scans(plan)
    targets: dict[Scan, list[Write]] = {scan: [] for scan, _ in scans}
    for write in plan.writes if scans else ():
        for node in below(write):
            if isinstance(node, Scan) and node in targets:
                targets[node].append(write)
    return tuple(
        IncrementalRead(scan, asked, {write.name: key_of(scan, write) for write in targets[scan]}, job)
        for scan, asked in scans
    )


def key_of(scan: Scan, write: Write) -> WatermarkKey:
    return WatermarkKey(state_name(scan), read_by(scan), written_by(write))


def written_by(write: Write) -> str:
    """What a write writes to, as text."""
    target = dataset_of(write)
    return f"{write.connector.name}:{write.written_name}" if target is None else str(target)


def read_by(scan: Scan) -> str:
    """What a scan reads, as text."""
    path, dataset = scan.options.get("path"), dataset_of(scan)
    if dataset is not None:
        return str(dataset)
    return target_folder(path) if isinstance(path, str) else f"{scan.connector.name}:"


def reads_of(
    plan: Plan,
    layout: StateLayout,
    job: JobFile,
    *,
    run_id: str | None = None,
    decided: Iterable[HighWatermark] = (),
    is_full: bool = False,
) -> tuple[IncrementalRead, ...]:
    """Where each incremental source begins. A run that has moved a watermark, or decided to, reads the same rows again.

    `decided`: the watermarks of an earlier try of the same run. `is_full`: everything is read again. Raises PEN5015
    where a watermark was recorded for another column or location, and PEN5202 where targets of one source have not been
    written equally far.
    """
    reads = unread(plan, job)
    known = {watermark.key: watermark for watermark in decided}
    reader = _Reader(layout, run_id, known, frozenset(state_name(read.scan) for read in reads))
    found = tuple(reader.from_start(read) if is_full else reader.recorded(read) for read in reads)
    if reader.diagnostics.has_errors:
        raise RunError(reader.diagnostics)
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _Reader:
    """Looks up where the sources of a run begin; `names` are those of all its incremental sources."""

    layout: StateLayout
    run_id: str | None
    decided: Mapping[WatermarkKey, HighWatermark]
    names: frozenset[str]
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    def from_start(self, read: IncrementalRead) -> IncrementalRead:
        recorded, earlier = self._watermarks(read), self._earlier(read, Diagnostics())
        own = earlier.path(self.layout) if earlier and not recorded else None
        return replace(read, recorded=recorded, earlier=own, before_move=self._before_move(recorded))

    def recorded(self, read: IncrementalRead) -> IncrementalRead:
        recorded = self._watermarks(read)
        earlier = None if recorded else self._earlier(read, self.diagnostics)
        if earlier is not None:
            _refuse_other_column(read, earlier.column, self.diagnostics)
            is_own = earlier.run_id == self.run_id
            since = Since(earlier.previous, earlier.value) if is_own else Since(earlier.value)
            return replace(read, since=since, earlier=earlier.path(self.layout))
        if not recorded:
            _refuse_edited(read, self.layout, self.diagnostics)
            _refuse_renamed(read, self.layout, self.names, self.diagnostics)
        for watermark in recorded.values():
            _refuse_other_column(read, watermark.column, self.diagnostics)
        _refuse_unequal(read, recorded, self.diagnostics)
        since = _since(recorded, self.decided, read.keys.values(), self.run_id)
        return replace(read, since=since, recorded=recorded, before_move=self._before_move(recorded))

    def _watermarks(self, read: IncrementalRead) -> dict[WatermarkKey, HighWatermark]:
        found = ((key, recorded_watermark(self.layout, key, read.job)) for key in dict.fromkeys(read.keys.values()))
        return {key: watermark for key, watermark in found if watermark is not None}

    def _before_move(self, recorded: Mapping[WatermarkKey, HighWatermark]) -> dict[WatermarkKey, str]:
        return {key: found.path(self.layout) for key, found in recorded.items() if found.key != key}

    def _earlier(self, read: IncrementalRead, diagnostics: Diagnostics) -> EarlierWatermark | None:
        return earlier_watermark(self.layout, read.scan, read.job.name, read.keys.values(), diagnostics)


def recorded_watermark(layout: StateLayout, key: WatermarkKey, job: JobFile) -> HighWatermark | None:
    """How far a source was read for a target, also where the project was before it was moved."""
    return read_watermark(layout, key) or watermark_before_move(layout, key, job.file, job.root)


def _since(
    recorded: Mapping[WatermarkKey, HighWatermark],
    decided: Mapping[WatermarkKey, HighWatermark],
    keys: Iterable[WatermarkKey],
    run_id: str | None,
) -> Since:
    first = next(iter(recorded.values()), None)
    if first is not None and first.run_id == run_id:
        return Since(first.previous, first.value)
    again = next((decided[key] for key in keys if key in decided), None)
    if again is not None:
        return Since(again.previous, again.value)
    return Since() if first is None else Since(first.value)


def _refuse_edited(read: IncrementalRead, layout: StateLayout, diagnostics: Diagnostics) -> None:
    """Report a source that reads another dataset than when its targets were written: it would be read as a whole."""
    targets = {key.written for key in read.keys.values()}
    for watermark in watermarks_of(layout, state_name(read.scan)):
        if read.job.file == watermark.file and watermark.key.written in targets:
            then, now = watermark.key.read, read_by(read.scan)
            message = f"the watermark of `{read.scan.written_name}` was recorded for the location `{then}`, not `{now}`"
            diagnostics.error("PEN5015", message, read.scan.options.span("incremental"), _ways_on(read))
            return


def _refuse_renamed(
    read: IncrementalRead, layout: StateLayout, names: frozenset[str], diagnostics: Diagnostics
) -> None:
    """Report a source that had another name when its targets were written: it would be read as a whole again."""
    for key in dict.fromkeys(read.keys.values()):
        for watermark in watermarks_beside(layout, key):
            if read.job.file == watermark.file and watermark.source not in names:
                message = f"the watermark of what `{read.scan.written_name}` reads is that of `{watermark.source}`"
                help = f"`uid = {watermark.source}` continues from there; {_ways_on(read)}"
                diagnostics.error("PEN5207", message, read.scan.options.span("incremental"), help)
                return


def _refuse_other_column(read: IncrementalRead, then: str, diagnostics: Diagnostics) -> None:
    now = order_of(read.scan, read.asked)
    if then.lower() != now.lower():
        message = f"the watermark of `{read.scan.written_name}` was recorded for the column `{then}`, not `{now}`"
        diagnostics.error("PEN5015", message, read.scan.options.span("incremental"), _ways_on(read))


def _refuse_unequal(
    read: IncrementalRead, recorded: Mapping[WatermarkKey, HighWatermark], diagnostics: Diagnostics
) -> None:
    values = {key: recorded[key].value.value if key in recorded else None for key in read.keys.values()}
    if not recorded or len(set(values.values())) == 1:
        return
    shown = "; ".join(f"`{key.written}` {value or 'not yet'}" for key, value in values.items())
    message = f"the targets of `{read.scan.written_name}` have not been written equally far: {shown}"
    diagnostics.error("PEN5202", message, read.scan.options.span("incremental"), _ways_on(read))


def _ways_on(read: IncrementalRead) -> str:
    return (
        f"`penstock run JOB --full-refresh` reads everything again; `penstock state JOB --reset "
        f"{state_name(read.scan)} --to VALUE` continues after that value"
    )


def reset(read: IncrementalRead, layout: StateLayout, value: str) -> Iterator[HighWatermark]:
    """The watermarks with which the source continues after a value."""
    for key in dict.fromkeys(read.keys.values()):
        column = order_of(read.scan, read.asked)
        progress = ReadProgress(value)
        yield HighWatermark(
            key, read.job.name, read.job.file, column, progress, None, None, "", now(), root=read.job.root
        )


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
