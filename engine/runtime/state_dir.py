"""Where Penstock keeps what it must remember between runs: the ledger, and the journals of runs."""

import os
from typing import Final

DEFAULT: Final = ".penstock"


def state_dir(setting: str | None = None) -> str:
    """The job's own `state_dir`, `$PENSTOCK_STATE_DIR`, or `.penstock` in the folder where the command is run."""
    return setting or os.environ.get("PENSTOCK_STATE_DIR") or DEFAULT
