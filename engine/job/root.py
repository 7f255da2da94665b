"""The root of jobs: the project that they are in, and where their default state directory is."""

import os
from pathlib import Path
from typing import Final

from engine.job.find import PROJECT_FILE, is_project_file

STATE_DIRECTORY: Final = ".penstock"
"""The default state directory, in the root."""
_ROOT: Final = "PENSTOCK_ROOT"
"""For jobs that are unpacked to another folder by each run."""


def root_of(job: Path | None = None) -> Path:
    """The root of the project that a job file is in, else the job file's own folder; `$PENSTOCK_ROOT` overrides both.
    Without a job, the same of the current folder."""
    chosen = os.environ.get(_ROOT)
    if chosen:
        return Path(chosen).absolute()
    folder = Path(os.path.realpath(Path.cwd() if job is None else job.parent))
    return find_root(folder) or folder


def find_root(start: Path) -> Path | None:
    """The nearest folder, upwards, that has the `penstock.conf` of a project; None if there is none."""
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if is_project_file(folder / PROJECT_FILE)), None)
