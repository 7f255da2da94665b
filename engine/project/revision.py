"""A project as it was at a git revision: its files are read from git, what its jobs read stays where it is."""

import errno
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from engine.job.find import PROJECT_FILE, SUFFIXES, TEST_SUFFIXES, has_words_of_job
from engine.job.model.settings import Settings
from engine.project.compile_project import compile_jobs_of
from engine.project.project import Project
from engine.project.read_project import read_project
from engine.project.recorded_state import RecordedState, recorded
from engine.schema.git_changes import checked_revision, git_bytes


def state_at(project: Project, revision: str, settings: Settings) -> RecordedState:
    """What the jobs meant at the revision, in the same environment and with the same variables."""
    files = _Revision(_files(revision))
    if PROJECT_FILE not in files.texts:
        return RecordedState()
    before = read_project(project.root, project.environment, settings.variables, files, settings.masks,
                          allows_outside=settings.allows_outside, limits_process=settings.limits_process)  # fmt: skip
    own = replace(settings, project=before.defaults, read=files)
    compiled = compile_jobs_of(before, files.jobs(before), own)
    return RecordedState(jobs={job.name: recorded(job) for job in compiled.jobs})


@dataclass(frozen=True, slots=True)
class _Revision:
    """The files of a revision by their path from the root, which is the current folder."""

    texts: Mapping[str, bytes]

    def __call__(self, path: str) -> str:
        name = os.path.relpath(path)
        if name not in self.texts:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self.texts[name].decode("utf-8-sig").replace("\r\n", "\n")

    def jobs(self, project: Project) -> tuple[Path, ...]:
        found = (Path(name) for name in sorted(self.texts) if _is_job(name, self.texts[name]))
        return tuple(path for path in found if any(path.is_relative_to(folder) for folder in project.job_folders))


def _is_job(name: str, text: bytes) -> bool:
    low = name.lower()
    is_hidden = any(part.startswith((".", "_")) for part in Path(name).parts)
    if is_hidden or not low.endswith(SUFFIXES) or low.endswith(TEST_SUFFIXES) or low == PROJECT_FILE:
        return False
    return low.endswith((".conf", ".hocon")) or has_words_of_job(low, text)


def _files(revision: str) -> Mapping[str, bytes]:
    """The files below the current folder at the revision. Raises a `JobError` PEN1001."""
    packed = git_bytes("archive", "--format=tar", checked_revision(revision), ".")
    wanted = (*SUFFIXES, PROJECT_FILE)
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        members = [member for member in archive if member.isfile() and member.name.lower().endswith(wanted)]
        opened = ((member.name, archive.extractfile(member)) for member in members)
        return {os.path.normpath(name): file.read() for name, file in opened if file is not None}
