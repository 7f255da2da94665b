"""The state directory: the ledger of runs, and their journals."""

import errno
import os
from pathlib import Path

from catalog.diagnostics.diagnostic import Diagnostic, RunError, Severity, job_error, run_error
from catalog.options import Options
from connectors.storage.paths import local_path
from engine.job.find import PROJECT_FILE
from engine.job.root import STATE_DIRECTORY, root_of
from engine.state.layout import layout_at, open_to_others
from engine.state.ledger import has_run_of


def state_dir(chosen: str | None = None, job: Path | None = None, env: Options | None = None) -> str:
    """The directory chosen for a run, else that of the job's `env`, else `$PENSTOCK_STATE_DIR`, else `.penstock`. What
    a job names, and the default, are relative to the root of the job.

    Raises PEN5201 where an earlier version of Penstock recorded runs of the job relative to the current folder.
    """
    of_job = env.optional_string("state_dir") if env else None
    setting = chosen or (None if of_job else os.environ.get("PENSTOCK_STATE_DIR"))
    if setting:
        return setting
    path = local_path(of_job or STATE_DIRECTORY)
    if path is None or os.path.isabs(path):
        return of_job or STATE_DIRECTORY
    found = root_of(job) / path
    if job is not None:
        _refuse_earlier(Path(path).absolute(), found, job)
    return _shown(found)


def local_state_dir(chosen: str | None = None, job: Path | None = None, env: Options | None = None) -> str:
    """As `state_dir`, for callers without Spark; raises PEN2004 if it is on another file system."""
    found = state_dir(chosen, job, env)
    path = local_path(found)
    if path is None:
        raise job_error("PEN2004", f"the state directory `{found}` cannot be read without Spark", None, "copy it here")
    return path


def _refuse_earlier(earlier: Path, state: Path, job: Path) -> None:
    if os.path.realpath(earlier) == os.path.realpath(state) or not earlier.is_dir():
        return
    layout = layout_at(None, str(earlier))
    if layout.version is None and has_run_of(layout, job):
        message = f"the state directory of `{job}` is `{state}`, but earlier runs are recorded in `{earlier}`"
        help = (
            f"a `{PROJECT_FILE}` in `{earlier.parent}`, even a blank one, makes that folder the root of its jobs; "
            f"for other jobs, name the directory: `--state-dir {earlier}`"
        )
        raise run_error("PEN5201", message, None, help)


def _shown(path: Path) -> str:
    """The path, relative to the current folder if it is in it."""
    here = Path(os.path.realpath(Path.cwd()))
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def check_writable(state: str) -> tuple[Diagnostic, ...]:
    """Keep others out of a state directory on this disk, before Spark is started; a warning where that fails.

    Raises `RunError` PEN5313 where it cannot be made or written.
    """
    path = local_path(state)
    if path is None:
        return ()
    there = next(folder for folder in (Path(path).absolute(), *Path(path).absolute().parents) if folder.exists())
    if not there.is_dir():
        raise unwritable(state, NotADirectoryError(errno.ENOTDIR, f"`{there}` is a file"))
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        raise unwritable(state, OSError(errno.EROFS, os.strerror(errno.EROFS)))
    if not os.access(there, os.W_OK | os.X_OK):
        raise unwritable(state, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    mode = open_to_others(state)
    if mode is None:
        return ()
    message = f"other users can read the state directory `{state}`: it is another user's, of mode {mode}"
    help = "its owner can take their rights away: `chmod go-rwx`"
    return (Diagnostic("PEN1603", message, None, help, Severity.WARNING),)


def unwritable(state: str, error: OSError) -> RunError:
    """The error PEN5005 for a state directory that cannot be written."""
    help = "name another with `--state-dir DIR` or PENSTOCK_STATE_DIR"
    return run_error(
        "PEN5313", f"the state directory `{state}` cannot be written: {error.strerror or error}", None, help
    )
