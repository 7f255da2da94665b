"""A project as `penstock.conf` describes it, in one environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path, PurePosixPath

from catalog.diagnostics.source import SourceFile, Span
from engine.job.find import is_job
from engine.job.model.project_defaults import ProjectDefaults
from engine.project.selection.parse_selection import Selection


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """What all jobs below a folder have: tags, in addition to their own, and an owner, unless they name one."""

    tags: tuple[str, ...] = ()
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """A group of jobs that are published together, as `penstock.conf` declares it: which jobs, and where."""

    selection: Selection
    span: Span


@dataclass(frozen=True, eq=False, slots=True)
class Project:
    """`environment`: the one that was chosen, None where the project declares none; `environments`: all of them.

    `job_folders`, and the keys of `folders`, are relative to `root`. `state_dir`: where runs of this environment are
    recorded.
    """

    root: Path
    source: SourceFile
    name: str
    job_folders: tuple[str, ...]
    defaults: ProjectDefaults
    state_dir: str
    environment: str | None = None
    environments: tuple[str, ...] = ()
    folders: Mapping[str, FolderSettings] = field(default_factory=dict)
    selectors: Mapping[str, Selection] = field(default_factory=dict)
    groups: Mapping[str, GroupSettings] = field(default_factory=dict)

    def fqn(self, file: str) -> tuple[str, ...]:
        """The qualified name of a job file: the project, the folders below its job folder, its stem."""
        path = PurePosixPath(file)
        for folder in sorted(self.job_folders, key=len, reverse=True):
            if path.is_relative_to(folder):
                path = path.relative_to(folder)
                break
        return (self.name, *path.parts[:-1], path.stem)

    def file_of(self, name: str) -> Path | None:
        """The file of the job of that name; None where there is none, or more than one."""
        if not name or "/" in name:
            return None
        folders = [self.root / folder for folder in self.job_folders]
        found = [file for folder in folders for file in folder.rglob(f"{escape(name)}.*") if is_job(file)]
        return found[0] if len(found) == 1 and found[0].stem == name else None

    def settings_of(self, file: str) -> FolderSettings:
        """The settings of the folders that hold a file; the owner of the innermost one."""
        above = sorted((folder for folder in self.folders if PurePosixPath(file).is_relative_to(folder)), key=len)
        tags = tuple(dict.fromkeys(tag for folder in above for tag in self.folders[folder].tags))
        owners = [owner for folder in above if (owner := self.folders[folder].owner)]
        return FolderSettings(tags, owners[-1] if owners else None)
