"""The job files that changed since a git revision, or whose included files or schema lock did."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from catalog.diagnostics.diagnostic import job_error
from catalog.tables.schema_lock import find_lock

INCLUDE = re.compile(r"\binclude\b[^\n\"]*\"([^\"\n]+)\"")


def changed_since(jobs: Iterable[Path], revision: str) -> tuple[Path, ...]:
    """The jobs that may have changed since the revision, new files included, committed or not."""
    root = Path(_git("rev-parse", "--show-toplevel").strip())
    names = _git("-C", str(root), "diff", "--name-only", "-z", revision) + _git(
        "-C", str(root), "ls-files", "--others", "--exclude-standard", "-z"
    )
    changed = {(root / name).resolve() for name in names.split("\0") if name}
    return tuple(job for job in jobs if _reads(job) & changed)


def _reads(job: Path) -> set[Path]:
    """The job file, what it includes (and those include), and its schema lock."""
    found: set[Path] = set()
    work = [job.resolve()]
    while work:
        path = work.pop()
        if path in found:
            continue
        found.add(path)
        if path.is_file():
            names = INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace"))
            work.extend((path.parent / name).resolve() for name in names)
    lock = find_lock(job.resolve().parent)
    return found | ({lock.resolve()} if lock else set())


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as cause:
        raise job_error("PEN1001", "`git` is not on the PATH") from cause
    except subprocess.CalledProcessError as cause:
        raise job_error("PEN1001", f"git: {cause.stderr.strip()}") from cause
