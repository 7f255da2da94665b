"""The state directory: the ledger of runs, and their journals."""

import os
from typing import Final

from catalog.diagnostics import job_error
from connectors.support.files.file_schema import local_path
from connectors.support.option import Options

DEFAULT: Final = ".penstock"


def state_dir(setting: str | None = None) -> str:
    """The given directory, else `$PENSTOCK_STATE_DIR`, else `.penstock` in the current folder."""
    return setting or os.environ.get("PENSTOCK_STATE_DIR") or DEFAULT


def state_setting(env: Options | None, chosen: str | None) -> str | None:
    """What was chosen for a run, else what the job's `env` says."""
    setting = env.get("state_dir") if env else None
    return chosen or (str(setting) if setting else None)


def local_state_dir(setting: str | None = None) -> str:
    """As `state_dir`, for callers without Spark; raises PEN2004 if it is on another file system."""
    found = state_dir(setting)
    path = local_path(found)
    if path is None:
        raise job_error("PEN2004", f"the state directory `{found}` cannot be read without Spark", None, "copy it here")
    return path
