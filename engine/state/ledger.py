"""The run ledger: `run.json` in each run's folder of the state directory, next to its journal.

    <state dir>/runs/<run id>/run.json

It is written atomically when a run starts and when it ends, on any Hadoop file system.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from catalog.diagnostics.diagnostic import RunError
from catalog.masks import Masks
from engine.state.journal import RunOutcome, journal_in
from engine.state.layout import StateLayout
from engine.state.run_claims import is_abandoned
from engine.state.run_state import State


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


def runs(layout: StateLayout) -> tuple[RunRecord, ...]:
    """All runs, in the order of their start; the state of a killed run is taken from its journal."""
    found = (find(layout, run_id) for run_id in layout.run_ids())
    settled = (_settled(layout, run) for run in found if run)
    return tuple(sorted(settled, key=lambda run: run.started))


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
