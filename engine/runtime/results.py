"""The results of a run: of each pipeline, and of the whole job."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from engine.plan.nodes import Plan
from engine.runtime.counting.costs import Cost
from engine.runtime.counting.counts import ReadCount, WriteCount
from engine.runtime.counting.native_share import NativeShare, together
from engine.state.run_state import State


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """A pipeline's end. Its name is its number and what it reads; the counts are empty unless it finished.

    `table_set`: the sink's name, where all that the pipeline writes are `tables` of a set. `native`: with an
    accelerator, how much of what was staged it executed. `cost`: of a batch job.
    """

    name: str
    state: State
    attempts: int
    seconds: float
    reads: tuple[ReadCount, ...] = ()
    writes: tuple[WriteCount, ...] = ()
    table_set: str | None = None
    tables: tuple[str, ...] = ()
    native: NativeShare | None = None
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class JobResult:
    """A job's end; `seconds` from the first check of its sinks to its last commit; `errors` are the exceptions behind
    its diagnostics.

    `interrupted_by`: a signal that came too late to stop this job, but stops those after it. `done`: how many writes a
    run of the same id had committed before. `intervals`: of a job with intervals, how many runs were due. `kept`: how
    many writes an earlier attempt had staged.
    """

    job: str
    run_id: str
    state: State
    seconds: float
    pipelines: tuple[PipelineResult, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    errors: tuple[BaseException, ...] = ()
    interrupted_by: int | None = None
    done: int = 0
    intervals: int | None = None
    kept: int = 0

    @property
    def reads(self) -> Iterator[ReadCount]:
        return (read for pipeline in self.pipelines for read in pipeline.reads)

    @property
    def writes(self) -> Iterator[WriteCount]:
        return (write for pipeline in self.pipelines for write in pipeline.writes)

    @property
    def native(self) -> NativeShare | None:
        """How much of all pipelines an accelerator executed; None without one."""
        return together(pipeline.native for pipeline in self.pipelines)

    @property
    def counts(self) -> dict[str, object]:
        """For the ledger: totals, and each source and sink by its name."""
        reads, writes = list(self.reads), list(self.writes)
        return {
            "rows_read": sum(read.rows or 0 for read in reads),
            "rows_written": sum(write.rows or 0 for write in writes),
            "sources": {read.source: _read(read) for read in reads},
            "sinks": {
                write.sink: {
                    "rows": write.rows,
                    "filtered": write.filtered,
                    "rejected": write.rejected,
                    "bytes": write.bytes,
                    **_changes(write),
                }
                for write in writes
            },
            "pipelines": {
                pipeline.name: {
                    "state": pipeline.state.value,
                    "seconds": pipeline.seconds,
                    **(pipeline.cost.as_json if pipeline.cost is not None else {}),
                }
                for pipeline in self.pipelines
            },
            **_accelerated(self.native),
        }


def left_out_warnings(reads: Iterable[ReadCount]) -> tuple[Diagnostic, ...]:
    """A warning (PEN4420) for each source that has left out records which did not fit."""
    return tuple(_left_out(read) for read in reads if read.left_out)


def _left_out(read: ReadCount) -> Diagnostic:
    of = "" if read.rows is None else f" of {read.rows:,}"
    is_all = read.rows is not None and read.left_out >= read.rows
    shown = f"all {read.left_out:,}" if is_all else f"{read.left_out:,}{of}"
    message = f"`{read.source}` left out {shown} records, because they do not fit its format or schema"
    help = "let the job fail at the first one (`format_error_handle_way`, `on_malformed`): the message says why"
    return Diagnostic("PEN4420", message, help=help, severity=Severity.WARNING)


def _read(read: ReadCount) -> dict[str, int | None]:
    left_out = {"left_out": read.left_out} if read.left_out else {}
    return {"rows": read.rows, "bytes": read.bytes, "passes": read.passes, **left_out}


def _accelerated(native: NativeShare | None) -> dict[str, object]:
    """For the ledger: how many operators were native, and why the others were not."""
    return {} if native is None else {"accelerator": native.as_json}


def _changes(write: WriteCount) -> dict[str, int | None]:
    return {} if write.changes is None else {**asdict(write.changes), "unchanged": write.unchanged}


def committed_before(plan: Plan, run_id: str) -> JobResult:
    """The result of a run of which an earlier run of its id has committed all writes: it does nothing."""
    return JobResult(plan.env.name, run_id, State.FINISHED, 0.0, (), done=len(plan.writes))
