"""The root of a project, found from a folder upwards."""

from pathlib import Path

from engine.job.find import PROJECT_FILE, is_project_file


def find_root(start: Path) -> Path | None:
    """The nearest folder, upwards, that has the `penstock.conf` of a project; None if there is none."""
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if is_project_file(folder / PROJECT_FILE)), None)
