"""Dismiss a run that cannot be ended: its journal says so, and no target is touched."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.diagnostics.diagnostic import RunError, did_you_mean, job_error
from connectors.commits.claiming import HeldError
from connectors.commits.run_decision import is_commit, journal_step
from connectors.storage.filesystem import Files
from connectors.storage.paths import local_path
from engine.state.journal import Journal, RunOutcome, journal_in
from engine.state.layout import StateLayout
from engine.state.run_claims import claim_run, has_process, mark_of, release, still_running
from engine.state.watermarks import read_watermark_at


@dataclass(frozen=True, slots=True)
class DismissedWrite:
    """What became of one write: `state` in words, and where its staged rows stay, if the journal says.

    `may_hold_rows`: its rows are in the target, or may be.
    """

    connector: str
    state: str
    staging: str | None = None
    may_hold_rows: bool = False


@dataclass(frozen=True, slots=True)
class Dismissed:
    """What became of a run's writes; `unmoved`: its incremental sources whose watermarks are as before it."""

    writes: tuple[DismissedWrite, ...]
    unmoved: tuple[str, ...] = ()


def forget(layout: StateLayout, run_id: str) -> Dismissed:
    """Record the run as dismissed.

    Later runs neither finish it nor wait for it. Raises PEN5306 where there is no such run, PEN5309 if it has ended,
    PEN5302 where a process works on it.
    """
    files = layout.files
    if not files.exists(layout.run(run_id).folder):
        help = did_you_mean(run_id, layout.run_ids())
        raise job_error("PEN5306", f"no run `{run_id}` is recorded in {layout.root}", None, help)
    help = "stop that process first: it then removes what it staged"
    log = journal_in(layout, run_id)
    begun = readable_step(files, log.step("begin")) or {}
    if not begun.get("claimed") and has_process(begun.get("owner") or {}):
        raise still_running("PEN5302", run_id, begun["owner"], help)
    try:
        claim = claim_run(log, mark_of(None))
    except HeldError as error:
        raise still_running("PEN5302", run_id, error.claim.owner, help) from error
    try:
        if (end := readable_step(files, log.step("end"))) is not None:
            outcome = end.get("outcome", "ended")
            raise job_error("PEN5309", f"run `{run_id}` has ended: it was {outcome}; nothing is left to dismiss")
        log.end(RunOutcome.DISMISSED)
    finally:
        release(claim)
    return Dismissed(tuple(_writes(files, log)), tuple(_unmoved(layout, begun, run_id)))


def _unmoved(layout: StateLayout, begun: Mapping[str, Any], run_id: str) -> Iterator[str]:
    incremental = begun.get("incremental")
    named = incremental.items() if isinstance(incremental, Mapping) else ((None, name) for name in incremental or ())
    unmoved = (name for path, name in named if path is None or not _has_moved(layout, path, run_id))
    yield from dict.fromkeys(unmoved)


def _has_moved(layout: StateLayout, path: str, run_id: str) -> bool:
    """Whether a run has moved a watermark; True where it cannot be read: the next run reports that."""
    try:
        moved = read_watermark_at(layout, path)
    except RunError:
        return True
    return moved is not None and moved.run_id == run_id


def _writes(files: Files, log: Journal) -> Iterator[DismissedWrite]:
    decision = readable_step(files, log.step("commit"))
    is_decided = decision is not None and is_commit(decision)
    places = readable_step(files, log.step("prepared")) or {}
    for write_id, connector in ((readable_step(files, log.step("begin")) or {}).get("writes") or {}).items():
        if files.exists(log.step("committed", write_id)):
            yield DismissedWrite(connector, "committed", may_hold_rows=True)
            continue
        step = readable_step(files, log.step("staged", write_id))
        prepared = step or places.get(write_id) or {}
        staging = (prepared.get("staged") or {}).get("staging")
        place = (local_path(staging) or staging) if isinstance(staging, str) else None
        if step is None:
            yield DismissedWrite(connector, "not staged; the target is as it was", place)
        elif is_decided:
            yield DismissedWrite(connector, "its commit may have begun; look at the target", place, may_hold_rows=True)
        else:
            yield DismissedWrite(connector, "staged, not committed; the target is as it was", place)


def readable_step(files: Files, path: str) -> Mapping[str, Any] | None:
    """A step of the journal; empty where it cannot be read, which may be why the run is dismissed."""
    try:
        return journal_step(files, path)
    except RunError:
        return {}
