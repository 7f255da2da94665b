"""The paths of the state directory; no other module spells one.

<state dir>/layout.json                     the version of this layout
<state dir>/runs/<run id>/run.json          the run in the ledger
<state dir>/runs/<run id>/journal/          its steps (`journal.py`)
<state dir>/runs/<run id>/staging/          rows that sinks stage next to the journal
<state dir>/runs/<run id>/scratch/          what it needs only while it runs
<state dir>/runs/<run id>/expectations_1.json
<state dir>/runs/<run id>/stop              asks a stream to stop
<state dir>/watermarks/<job>/<source>.json  how far incremental sources were read
<state dir>/streams/<job>/<stream>/         checkpoints
<state dir>/project.json                    how the jobs of the last command ended, and what each job meant then
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from connectors.storage.filesystem import Files, as_uri, files_at
from engine.state.file_names import file_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class RunPaths:
    """The paths of one run, in `folder`."""

    folder: str

    @property
    def record(self) -> str:
        return f"{self.folder}/run.json"

    @property
    def journal(self) -> str:
        return f"{self.folder}/journal"

    @property
    def scratch(self) -> str:
        return f"{self.folder}/scratch"

    @property
    def stop(self) -> str:
        return f"{self.folder}/stop"

    def staging(self, write_id: str) -> str:
        """The directory in which a write may stage rows, as a URI."""
        return as_uri(f"{self.folder}/staging/{write_id}")

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
        """Record the version of the layout, unless one is recorded."""
        self.files.write_new(f"{self.root}/layout.json", json.dumps({"version": VERSION}))

    @property
    def project(self) -> str:
        return f"{self.root}/project.json"

    @property
    def runs(self) -> str:
        return f"{self.root}/runs"

    def run(self, run_id: str) -> RunPaths:
        return RunPaths(f"{self.runs}/{run_id}")

    def run_ids(self) -> list[str]:
        """The ids of all runs that left something here, sorted."""
        return self.files.children(self.runs)

    def watermark(self, job: str, source: str) -> str:
        return f"{self.root}/watermarks/{file_name(job)}/{file_name(source)}.json"

    def checkpoints(self, job: str) -> str:
        """The directory of a job's checkpoints, for jobs that name none."""
        return f"{self.root}/streams/{file_name(job)}"


def layout_at(spark: "SparkSession | None", state: str) -> StateLayout:
    """The state directory of that name; one on this machine's disk needs no Spark."""
    return StateLayout(*files_at(spark, state))
