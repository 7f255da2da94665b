"""The paths of the state directory; no other module spells one.

<state dir>/layout.json                     the version of this layout
<state dir>/runs/<run id>/run.json          the run in the ledger
<state dir>/open/<run id>                   the runs that have not ended: all others need not be looked at
<state dir>/started/<time>~<run id>         the runs in the order of their start: one request lists a thousand
<state dir>/runs/<run id>/claims/           the processes that work on it (`connectors.commits.claiming`)
<state dir>/runs/<run id>/journal/          its steps (`journal.py`); of a later attempt, `journal-<epoch>`
<state dir>/runs/<run id>/staging/          rows that sinks stage next to the journal
<state dir>/runs/<run id>/scratch/          what it needs only while it runs
<state dir>/runs/<run id>/expectations_1.json
<state dir>/runs/<run id>/stop              asks a stream to stop
<state dir>/incremental/<source>/<key>.json how far incremental sources were read (`watermarks.py`)
<state dir>/intervals/<key>/                which intervals of a job are done (`interval_ledger.py`)
<state dir>/watermarks/<job>/<source>.json  watermarks of earlier versions
<state dir>/streams/<job>/<stream>/         checkpoints
<state dir>/output/<run id>.log             what a run in the background prints
<state dir>/project.json                    how the jobs of the last command ended, and what each job meant then
"""

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import job_error
from catalog.secret_names import redacted_text
from connectors.commits.run_folder import claims_folder, journal_folder
from connectors.storage.filesystem import Files, as_uri, files_at
from connectors.storage.local_files import LocalFiles
from connectors.storage.paths import file_name as path_of
from connectors.storage.paths import local_path
from engine.state.file_names import file_name
from engine.state.private_folder import make_private, mode_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSION: Final = 2
_NAMES: Final = frozenset(
    {
        "layout.json",
        "runs",
        "open",
        "started",
        "incremental",
        "intervals",
        "watermarks",
        "streams",
        "output",
        "project.json",
        ".gitignore",
    }
)
"""What a state directory holds, and nothing else where it is Penstock's alone."""


@dataclass(frozen=True, slots=True)
class RunPaths:
    """The paths of one run, in `folder`."""

    folder: str

    @property
    def record(self) -> str:
        return f"{self.folder}/run.json"

    @property
    def claims(self) -> str:
        return claims_folder(self.folder)

    def journal(self, epoch: int = 1) -> str:
        """The steps of the attempt of that epoch."""
        return journal_folder(self.folder, epoch)

    def epochs(self, files: Files) -> list[int]:
        """The epochs of which there are journals."""
        found = (re.fullmatch(r"journal(?:-(\d+))?", name) for name in files.children(self.folder))
        return [int(match[1] or 1) for match in found if match]

    def scratch(self, epoch: int = 1) -> str:
        return f"{self.folder}/{_of_epoch('scratch', epoch)}"

    @property
    def stop(self) -> str:
        return f"{self.folder}/stop"

    def staging(self, write_id: str, epoch: int = 1) -> str:
        """The directory in which a write may stage rows, as a URI."""
        return as_uri(f"{self.folder}/{_of_epoch('staging', epoch)}/{write_id}")

    def expectations(self, number: int) -> str:
        """The results of a pipeline's expectations; the first pipeline is 1."""
        return f"{self.folder}/expectations_{number}.json"

    def is_expectations(self, name: str) -> bool:
        return name.startswith("expectations_") and name.endswith(".json")


@dataclass(frozen=True, eq=False, slots=True)
class StateLayout:
    """The state directory `root` in its file system."""

    files: Files
    root: str

    @property
    def version(self) -> int | None:
        """The version of the layout of what is here; None if nothing is, or a version of Penstock without one wrote
        it."""
        path = f"{self.root}/layout.json"
        return int(json.loads(self.files.read(path))["version"]) if self.files.exists(path) else None

    def mark(self) -> None:
        """Record the version of the layout, unless one is recorded, and keep others out of the directory."""
        if isinstance(self.files, LocalFiles):
            make_private(self.root, _NAMES)
        self.files.write_new(f"{self.root}/layout.json", json.dumps({"version": VERSION}))

    @property
    def project(self) -> str:
        return f"{self.root}/project.json"

    @property
    def runs(self) -> str:
        return f"{self.root}/runs"

    def run(self, run_id: str) -> RunPaths:
        return RunPaths(f"{self.runs}/{path_of(run_id)}")

    def run_ids(self) -> list[str]:
        """The ids of all runs that left something here, sorted."""
        return [_run_id(name) for name in self.files.children(self.runs)]

    @property
    def open(self) -> str:
        return f"{self.root}/open"

    def open_run(self, run_id: str) -> str:
        """The file that lists a run as open."""
        return f"{self.open}/{path_of(run_id)}"

    def open_run_ids(self) -> list[str] | None:
        """The runs that have not ended; None in a directory of an earlier version, which did not list them."""
        if not self.files.exists(f"{self.open}/.listed"):
            return None
        return [_run_id(name) for name in self.files.children(self.open) if not name.startswith(".")]

    @property
    def started(self) -> str:
        return f"{self.root}/started"

    def started_run(self, run_id: str, at: str) -> str:
        """The file that lists a run by its start."""
        return f"{self.started}/{at.replace(':', '')}~{path_of(run_id)}"

    def started_runs(self) -> list[tuple[str, str]] | None:
        """The files that list runs by their start, the earliest first, each with the run's id; None in a directory of
        an earlier version, which did not list them."""
        if not self.files.exists(f"{self.started}/.listed"):
            return None
        names = sorted(name for name in self.files.children(self.started) if not name.startswith("."))
        return [(f"{self.started}/{name}", _run_id(name.partition("~")[2])) for name in names]

    def begin_listing(self) -> None:
        self.files.write(f"{self.open}/.listed", "")

    def output(self, run_id: str) -> str:
        """What a run in the background prints."""
        return f"{self.root}/output/{path_of(run_id)}.log"

    def watermark(self, source: str, digest: str) -> str:
        return f"{self.root}/incremental/{file_name(source)}/{digest}.json"

    def watermarks(self, source: str) -> list[str]:
        """The watermarks of all sources of that name, sorted."""
        folder = f"{self.root}/incremental/{file_name(source)}"
        return [f"{folder}/{name}" for name in self.files.children(folder) if name.endswith(".json")]

    def watermarks_of_key(self, digest: str) -> list[str]:
        """The watermarks of sources of all names that read and write the same."""
        folder = f"{self.root}/incremental"
        paths = (f"{folder}/{source}/{digest}.json" for source in self.files.children(folder))
        return [path for path in paths if self.files.exists(path)]

    def has_watermarks_beside(self, digest: str) -> bool:
        """Whether there are watermarks of the same target and of other datasets than that of the digest."""
        folder, start = f"{self.root}/incremental", f"{digest.partition('-')[0]}-"
        names = (name for source in self.files.children(folder) for name in self.files.children(f"{folder}/{source}"))
        return any(name.startswith(start) and not name.startswith(digest) for name in names)

    def intervals(self, digest: str) -> str:
        """The ledger of a target's intervals."""
        return f"{self.root}/intervals/{digest}"

    def ledgers(self) -> list[str]:
        """The digests of all ledgers, sorted."""
        return self.files.children(f"{self.root}/intervals")

    def earlier_watermark(self, job: str, source: str) -> str:
        return f"{self.root}/watermarks/{job}/{source}.json"

    def checkpoints(self, job: str) -> str:
        """The directory of a job's checkpoints, for jobs that name none."""
        return f"{self.root}/streams/{file_name(job)}"


def _of_epoch(name: str, epoch: int) -> str:
    return name if epoch <= 1 else f"{name}-{epoch}"


def _run_id(name: str) -> str:
    """The id of a run, by the name of its file or folder."""
    return name.replace(";", ":")


def open_to_others(state: str) -> str | None:
    """The mode of a state directory on this disk in which others can read, and which is another user's; else None."""
    path = local_path(state)
    return None if path is None or make_private(os.path.realpath(path), _NAMES) else f"{mode_of(path):o}"


_SCHEME: Final = re.compile(r"[A-Za-z][\w+.-]*://")


def local_layout(state: str) -> StateLayout | None:
    """The state directory of that name, where it is on this machine's disk; else None."""
    return None if local_path(state) is None else layout_at(None, state)


def layout_at(spark: "SparkSession | None", state: str) -> StateLayout:
    """The state directory of that name; one on this machine's disk needs no Spark, and is its owner's alone."""
    if spark is None and local_path(state) is None:
        message = f"the state directory `{redacted_text(state)}` cannot be read without Spark"
        raise job_error("PEN2004", message, None, "name a directory of this machine")
    if local_path(state) is None and "://" in state and not _SCHEME.match(state):
        message = f"the state directory `{redacted_text(state)}` is no path of a file system"
        raise job_error("PEN2004", message, None, "name a directory, or one of a store: s3a://bucket/state")
    files, root = files_at(spark, state)
    return StateLayout(LocalFiles(private=root) if isinstance(files, LocalFiles) else files, root)
