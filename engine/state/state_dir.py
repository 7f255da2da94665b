"""The state directory: the ledger of runs, and their journals."""

import errno
import os
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import RunError, job_error, run_error
from catalog.options import Options
from connectors.storage.paths import local_path

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


def check_writable(state: str) -> None:
    """Report a state directory on this disk that cannot be made, before Spark is started. Raises `RunError` PEN5005."""
    path = local_path(state)
    if path is None:
        return
    there = next(folder for folder in (Path(path).absolute(), *Path(path).absolute().parents) if folder.exists())
    if not there.is_dir():
        raise unwritable(state, NotADirectoryError(errno.ENOTDIR, f"`{there}` is a file"))
    if not os.access(there, os.W_OK | os.X_OK):
        raise unwritable(state, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def unwritable(state: str, error: OSError) -> RunError:
    """The error PEN5005 for a state directory that cannot be written."""
    help = "name another with `--state-dir DIR` or PENSTOCK_STATE_DIR"
    return run_error(
        "PEN5005", f"the state directory `{state}` cannot be written: {error.strerror or error}", None, help
    )
