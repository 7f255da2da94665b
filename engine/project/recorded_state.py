"""What an environment last ran, in its state directory: how the jobs of the last command ended, and what each job meant
when it last succeeded.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum

from catalog.diagnostics.diagnostic import job_error
from catalog.types.typenames import ddl_or_unknown
from engine.plan.datasets import shown
from engine.project.project_job import ProjectJob
from engine.project.selection.selectable import Changes
from engine.state.layout import StateLayout


class JobStatus(str, Enum):
    """How a job of a project ended. As in dbt: these are the values of `result:`."""

    SUCCESS = "success"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class RecordedColumn:
    name: str
    type: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class RecordedJob:
    """A job as it was: its fingerprint, and the columns of each dataset that it writes."""

    path: str
    fingerprint: str
    writes: Mapping[str, tuple[RecordedColumn, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedState:
    """`command` and `results`: of the last command; `jobs`: as each last succeeded."""

    command: str = ""
    results: Mapping[str, str] = field(default_factory=dict)
    jobs: Mapping[str, RecordedJob] = field(default_factory=dict)

    def changes(self, jobs: Iterable[ProjectJob]) -> Changes:
        """What is new or means something else since."""
        now = {job.name: job.fingerprint for job in jobs}
        new = frozenset(name for name in now if name not in self.jobs)
        differing = (name for name in now.keys() - new if now[name] != self.jobs[name].fingerprint)
        return Changes(new, frozenset(differing))


def recorded(job: ProjectJob) -> RecordedJob:
    writes = {
        shown(write.dataset): tuple(
            RecordedColumn(column.name, ddl_or_unknown(column.type), column.nullable) for column in write.columns
        )
        for write in job.writes
    }
    return RecordedJob(job.path.as_posix(), job.fingerprint or "", writes)


def read_state(layout: StateLayout) -> RecordedState | None:
    """The state of the environment; None where none is recorded. Raises a `JobError` PEN1610 for another file."""
    if not layout.files.exists(layout.project):
        return None
    try:
        content = json.loads(layout.files.read(layout.project))
        jobs = {str(name): _job(job) for name, job in content["jobs"].items()}
        results = {str(name): str(value) for name, value in content["results"].items()}
        return RecordedState(str(content["command"]), results, jobs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"`{layout.project}` is not what runs of a project have recorded"
        help = "name the directory that they recorded in: `--state-dir DIR`"
        raise job_error("PEN1610", message, None, help) from error


def record_state(
    layout: StateLayout, command: str, results: Mapping[str, JobStatus], jobs: Mapping[str, ProjectJob]
) -> None:
    """Record how jobs ended; those that succeeded with what they mean now."""
    before = read_state(layout) or RecordedState()
    succeeded = {name: recorded(jobs[name]) for name, status in results.items() if status is JobStatus.SUCCESS}
    values = {name: status.value for name, status in results.items()}
    now = replace(before, command=command, results=values, jobs={**before.jobs, **succeeded})
    layout.files.write(layout.project, json.dumps({"version": 1, **asdict(now)}, indent=1))


def _job(content: Mapping[str, object]) -> RecordedJob:
    writes = content["writes"]
    if not isinstance(writes, Mapping):
        raise TypeError("no writes")
    columns = {name: tuple(map(_column, listed)) for name, listed in writes.items()}
    return RecordedJob(str(content["path"]), str(content["fingerprint"]), columns)


def _column(content: Mapping[str, object]) -> RecordedColumn:
    return RecordedColumn(str(content["name"]), str(content["type"]), bool(content["nullable"]))
