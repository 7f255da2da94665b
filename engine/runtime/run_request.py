"""Which run of a job is to be made."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timezone


@dataclass(frozen=True, slots=True)
class RunRequest:
    """`is_fresh`: the id was made for this run, so that no target has rows of an earlier one. `is_full`: incremental
    sources are read from the start. `restores`: the run that must have left the checkpoint that a stream goes on from;
    without it, a stream goes on from its job's, if there is one.
    """

    run_id: str
    is_fresh: bool = False
    is_full: bool = False
    restores: str | None = None


def new_run_id() -> str:
    """A new run id; run ids sort by time."""
    return f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
