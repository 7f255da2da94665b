"""Which run of a job is to be made."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from engine.intervals.due_intervals import ALL, IntervalRange
from engine.state.interval_ledger import DoneInterval


@dataclass(frozen=True, slots=True)
class RunRequest:
    """`is_fresh`: the id was made for this run, so that no target has rows of an earlier one. `is_full`: incremental
    sources are read from the start. `restores`: the run that must have left the checkpoint that a stream goes on from;
    without it, a stream goes on from its job's, if there is one. `intervals`: what is recorded as done with the commit
    of each write, by its name. `range`: which intervals of a job with intervals are to be done. `continues`: the id is
    that of a killed run, of which what is staged is kept.
    """

    run_id: str
    is_fresh: bool = False
    is_full: bool = False
    restores: str | None = None
    intervals: Mapping[str, tuple[DoneInterval, ...]] = field(default_factory=dict)
    range: IntervalRange = ALL
    continues: bool = False


def new_run_id() -> str:
    """A new run id; run ids sort by time."""
    return f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
