"""Which intervals the next run of a job does, for commands that show it and change nothing."""

from dataclasses import dataclass, replace
from datetime import datetime, timezone

from connectors.storage.paths import local_path
from engine.compile import Compiled
from engine.intervals.due_intervals import ALL, DueRun, due_runs
from engine.intervals.job_ledgers import CompileAgain, JobLedgers, job_ledgers
from engine.job.model.intervals import START
from engine.state.layout import layout_at


@dataclass(frozen=True, slots=True)
class NextRuns:
    """`compiled`: the job for the first of the runs; `ledgers`: None of a job without intervals, and of a state
    directory that Spark alone reads."""

    compiled: Compiled
    ledgers: JobLedgers | None = None
    due: tuple[DueRun, ...] = ()


def next_runs(compiled: Compiled, compile_again: CompileAgain) -> NextRuns:
    """A variable `interval_start` chooses another interval than the first for the plan."""
    spec = compiled.plan.env.interval
    if spec is None or local_path(compiled.state_dir) is None:
        return NextRuns(compiled)
    ledgers = job_ledgers(compiled, layout_at(None, compiled.state_dir), compile_again)
    due = due_runs(spec, ledgers.done(), ALL, datetime.now(timezone.utc))
    if due and START not in compiled.settings.variables:
        compiled = compile_again(replace(compiled, settings=replace(compiled.settings, interval=due[0].window)))
    return NextRuns(compiled, ledgers, due)
