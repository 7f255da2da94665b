"""Dismiss a run that cannot be ended: its journal says so, and no target is touched."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.diagnostics.diagnostic import RunError, did_you_mean, job_error, run_error
from connectors.commits import run_owner as owner
from connectors.commits.run_decision import DISMISSED
from connectors.storage.filesystem import Files
from connectors.storage.paths import local_path
from engine.state.layout import layout_at
from engine.state.watermarks import Watermarks


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


def forget(state: str, run_id: str) -> Dismissed:
    """Record the run as dismissed; `state` is a state directory on this machine.

    Later runs neither finish it nor wait for it. Raises PEN5306 where there is no such run, PEN5309 if it has ended,
    PEN5302 where its process is running on this machine.
    """
    layout = layout_at(None, state)
    files, journal = layout.files, layout.run(run_id).journal
    if not files.exists(layout.run(run_id).folder):
        help = did_you_mean(run_id, layout.run_ids())
        raise job_error("PEN5306", f"no run `{run_id}` is recorded in {layout.root}", None, help)
    if (end := journal_step(files, f"{journal}/end.json")) is not None:
        outcome = end.get("outcome", "ended")
        raise job_error("PEN5309", f"run `{run_id}` has ended: it was {outcome}; nothing is left to dismiss")
    begun = journal_step(files, f"{journal}/begin.json") or {}
    mark = begun.get("owner") or {}
    if mark.get("host") == owner.this_process()["host"] and not owner.has_died(mark):
        help = "stop that process first: it then removes what it staged"
        raise run_error("PEN5302", f"run `{run_id}` is still running: {owner.describe(mark)}", None, help)
    files.write(f"{journal}/end.json", json.dumps({"outcome": DISMISSED, "at": time.time()}))
    watermarks = Watermarks(layout, str(begun.get("job") or ""))
    return Dismissed(tuple(_writes(files, journal)), tuple(_unmoved(watermarks, begun, run_id)))


def _unmoved(watermarks: Watermarks, begun: Mapping[str, Any], run_id: str) -> Iterator[str]:
    for node in begun.get("incremental") or ():
        try:
            moved = watermarks.read(node)
        except RunError:  # it cannot be read: the next run reports that
            continue
        if moved is None or moved.run_id != run_id:
            yield node


def _writes(files: Files, journal: str) -> Iterator[DismissedWrite]:
    is_decided = files.exists(f"{journal}/commit.json")
    places = journal_step(files, f"{journal}/prepared.json") or {}
    for write_id, connector in ((journal_step(files, f"{journal}/begin.json") or {}).get("writes") or {}).items():
        if files.exists(f"{journal}/{write_id}.committed.json"):
            yield DismissedWrite(connector, "committed", may_hold_rows=True)
            continue
        step = journal_step(files, f"{journal}/{write_id}.staged.json")
        prepared = step or places.get(write_id) or {}
        staging = (prepared.get("staged") or {}).get("staging")
        place = (local_path(staging) or staging) if isinstance(staging, str) else None
        if step is None:
            yield DismissedWrite(connector, "not staged; the target is as it was", place)
        elif is_decided:
            yield DismissedWrite(connector, "its commit may have begun; look at the target", place, may_hold_rows=True)
        else:
            yield DismissedWrite(connector, "staged, not committed; the target is as it was", place)


def journal_step(files: Files, path: str) -> Mapping[str, Any] | None:
    """A step of the journal; empty where it cannot be read, which may be why the run is dismissed."""
    if not files.exists(path):
        return None
    try:
        return dict(json.loads(files.read(path)))
    except (ValueError, TypeError):
        return {}
