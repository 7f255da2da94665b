"""The run ledger: `run.json` in each run's folder of the state directory, next to its journal.

    <state dir>/runs/<run id>/run.json
    <state dir>/started/<time>~<run id>   lists it by its start

It is written atomically when a run starts and when it ends, on any Hadoop file system.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import RunError
from catalog.masks import Masks
from engine.state.journal import RunOutcome, journal_in
from engine.state.layout import StateLayout
from engine.state.run_claims import is_abandoned
from engine.state.run_state import State

_MOST_PRUNED: Final = 100
"""How many runs one run removes: the first one after years is not to take long."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run of one job in the ledger; times in UTC, ISO 8601; `counts` as in the final table."""

    run_id: str
    job: str
    file: str
    state: State
    started: str
    ended: str | None = None
    seconds: float | None = None
    error: str | None = None
    counts: Mapping[str, object] = field(default_factory=dict)


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def record(layout: StateLayout, run: RunRecord, masks: Masks | None = None) -> None:
    """Record the run, without secrets: neither those of the session nor what looks like one."""
    shown = (masks or Masks()).value(asdict(run))
    layout.files.write(layout.run(run.run_id).record, json.dumps(shown, indent=1, default=str))


def find(layout: StateLayout, run_id: str) -> RunRecord | None:
    """The run of that id; None if none is recorded."""
    path = layout.run(run_id).record
    return _read(layout.files.read(path)) if layout.files.exists(path) else None


def begin(layout: StateLayout, run: RunRecord, masks: Masks | None = None) -> None:
    """Record a run that starts, and list it among those before it."""
    _list_started(layout)
    layout.files.write(layout.started_run(run.run_id, run.started), "")
    record(layout, run, masks)


def _list_started(layout: StateLayout) -> None:
    """List the runs of a state directory of an earlier version of Penstock."""
    if layout.started_runs() is not None:
        return
    for run_id in layout.run_ids():
        if (run := find(layout, run_id)) is not None:
            layout.files.write(layout.started_run(run_id, run.started), "")
    layout.files.write(f"{layout.started}/.listed", "")


def runs(layout: StateLayout, latest: int | None = None) -> tuple[RunRecord, ...]:
    """All runs, or the `latest` ones, in the order of their start; the state of a killed run is taken from its
    journal."""
    listed = layout.started_runs()
    ids = layout.run_ids() if listed is None else list(dict.fromkeys(run_id for _, run_id in reversed(listed)))
    if latest is not None and listed is not None:
        ids = ids[:latest]
    found = (find(layout, run_id) for run_id in ids)
    settled = sorted((_settled(layout, run) for run in found if run), key=lambda run: run.started)
    return tuple(settled if latest is None else settled[-latest:])


def settled_run(layout: StateLayout, run_id: str) -> RunRecord | None:
    """The run of that id, as `runs` has it; None if none is recorded."""
    found = find(layout, run_id)
    return None if found is None else _settled(layout, found)


def prune(layout: StateLayout, keep: timedelta, most: int = _MOST_PRUNED) -> int:
    """Remove the runs that started longer ago than that and have ended, the earliest `most` of them; returns how many.

    What they have committed stays known by the marks of their targets alone.
    """
    since = (datetime.now(timezone.utc) - keep).isoformat(timespec="milliseconds").replace(":", "")
    is_open = set(layout.open_run_ids() or ())
    pruned = 0
    for path, run_id in layout.started_runs() or ():
        if path.rpartition("/")[2].partition("~")[0] >= since or pruned >= most:
            break
        if run_id in is_open:
            continue
        run = find(layout, run_id)
        if run is None or layout.started_run(run_id, run.started) == path:  # else it has begun again since
            layout.files.delete(layout.run(run_id).folder)
        layout.files.delete(path)
        pruned += 1
    return pruned


def has_run_of(layout: StateLayout, job: Path) -> bool:
    """Whether a run of this job file is recorded; files are relative to the current folder."""
    file = os.path.realpath(job)
    records = (find(layout, run_id) for run_id in reversed(layout.run_ids()))
    return any(run is not None and os.path.realpath(run.file) == file for run in records)


def _settled(layout: StateLayout, run: RunRecord) -> RunRecord:
    if run.state is not State.RUNNING:
        return run
    log = journal_in(layout, run.run_id)
    if log.is_dismissed:
        return replace(run, state=State.FAILED, error="it was killed, and dismissed by `penstock runs --forget`")
    try:
        recorded = log.read()
    except RunError as error:
        return replace(run, state=State.FAILED, error=error.diagnostics[0].message)
    if recorded is None:
        return run
    if recorded.outcome is RunOutcome.FINISHED:
        return replace(run, state=State.FINISHED)
    if recorded.outcome is not None:
        return replace(run, state=State.FAILED, error="it was killed; its staged rows are removed")
    if is_abandoned(log, recorded):
        help = f"the next run, or `penstock run --resume {run.run_id}`, ends it"
        return replace(run, state=State.FAILED, error=f"it was killed; {help}")
    return run


def _read(text: str) -> RunRecord | None:
    """None if the file is from a version of Penstock with another format."""
    try:
        values = json.loads(text)
        return RunRecord(**{**values, "state": State(values["state"])})
    except (ValueError, TypeError, KeyError):
        return None
