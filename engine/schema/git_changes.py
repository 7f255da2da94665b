"""The job files that changed since a git revision, or whose included files or schema lock did."""

import os
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, job_error
from catalog.diagnostics.shown_names import shown_name
from catalog.tables.schema_lock import find_lock
from engine.job.load import load_file
from engine.job.model.settings import Settings

SETTINGS: Final = (
    "-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false", "-c", "core.alternateRefsCommand=true"
)  # fmt: skip
"""What each call of git is given: a folder of a checkout may look like a repository whose settings start programs."""


def changed_since(jobs: Iterable[Path], revision: str, settings: Settings) -> tuple[Path, ...]:
    """The jobs that may have changed since the revision, new files included, committed or not."""
    root = Path(git_output("rev-parse", "--show-toplevel").strip())
    names = git_output("-C", str(root), "diff", "--name-only", "-z", checked_revision(revision), "--") + git_output(
        "-C", str(root), "ls-files", "--others", "--exclude-standard", "-z"
    )
    changed = {_real(root / name) for name in names.split("\0") if name}
    return tuple(job for job in jobs if _real(job) in changed or _reads(job, settings) & changed) if changed else ()


def _reads(job: Path, settings: Settings) -> set[Path]:
    """What loading the job reads or looks for, such as files that it includes by a variable, and its schema lock."""
    found: set[Path] = set()

    def read(path: str) -> str:
        found.add(_real(path))
        return settings.read(path)

    load_file(job, Diagnostics(), replace(settings, read=read, reads_secrets=False))
    lock = find_lock(_real(job).parent)
    return found | ({_real(lock)} if lock else set())


def _real(path: str | Path) -> Path:
    """The path without links; `Path.resolve` fails for a link to itself."""
    return Path(os.path.realpath(path))


def checked_revision(revision: str) -> str:
    """The revision. Raises PEN1001 where git would take it for an option, such as one that writes a file."""
    if revision.startswith("-"):
        raise job_error("PEN1001", f"`{shown_name(revision)}` is no revision of git: it begins with `-`")
    return revision


def git_output(*arguments: str) -> str:
    """The names that git prints; PEN1001 if it fails."""
    return os.fsdecode(git_bytes(*arguments))


def git_bytes(*arguments: str) -> bytes:
    """What git prints; PEN1001 if it fails."""
    try:
        return subprocess.run(["git", *SETTINGS, *arguments], check=True, capture_output=True).stdout
    except FileNotFoundError as cause:
        raise job_error("PEN1001", "`git` is not on the PATH") from cause
    except subprocess.CalledProcessError as cause:
        message = f"git: {cause.stderr.decode(errors='replace').strip()}"
        raise job_error("PEN1001", message, None, "name a commit, a branch or a tag") from cause
