"""Answers a run before Spark is started: one that is committed already, or that another process keeps from starting."""

from catalog.diagnostics.diagnostic import RunError
from engine.compile import Compiled
from engine.runtime.job_events import JobEvents, with_events
from engine.runtime.results import JobResult, committed_before
from engine.spark.writing.marks import shows_all
from engine.state.journal import journal_in
from engine.state.layout import local_layout
from engine.state.recorded_runs import committed_as, killed_runs, refuse_running, uncommitted


def answered(compiled: Compiled, run_id: str) -> JobResult | None:
    """The result of a run that is committed already; None if Spark is needed. Changes nothing.

    It is needed, too, for a state directory elsewhere than on this disk, where killed runs are to be ended first, and
    where only Spark can see whether the targets have the rows.
    Raises PEN5301 if another process has the run id or is running the job. As of every run, the job's listeners are
    notified of the answer.
    """
    plan, layout = compiled.plan, local_layout(compiled.state_dir)
    if layout is None:
        return None
    is_stream = plan.env.mode == "STREAMING"
    meant = compiled.meaning
    missing = plan.writes if is_stream else uncommitted(layout, run_id, plan.writes, meant)
    if not missing:
        recorded = journal_in(layout, run_id).read()
        known = committed_as(recorded, meant) if recorded is not None else {}
        if any(True for _ in killed_runs(layout)) or not shows_all(plan.writes, run_id, known):
            return None
        return with_events(plan, run_id, lambda _: committed_before(plan, run_id))
    try:
        refuse_running(layout, run_id, missing, plan.env.name)
    except RunError as error:
        refusal = error

        def refuse(_: JobEvents) -> JobResult:
            raise refusal

        return with_events(plan, run_id, refuse)
    return None
