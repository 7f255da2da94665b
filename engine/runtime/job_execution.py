"""The execution of one job: stages its pipelines side by side, commits them, and counts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, Severity, run_error
from catalog.diagnostics.unexpected_errors import os_error
from connectors.interface.incremental import NewRows
from connectors.shared.running_tasks import tag_of_run, wait_for_tasks
from engine.expectations.ge_result import text_of, validation_result
from engine.job.model.job import NO_READ_LIMIT, Accelerator
from engine.plan.connections import connections_of, limits_of
from engine.plan.nodes import AnyNode, Node, Plan, Scan, Write, below
from engine.plan.pipelines import named_pipelines, slots, weight
from engine.runtime.attendant import RunProgress
from engine.runtime.counting.costs import costs, jobs_begun
from engine.runtime.counting.counts import count_reads
from engine.runtime.counting.executions import attributes_of, executions, last_execution
from engine.runtime.counting.fallback_places import in_queries
from engine.runtime.counting.native_share import together
from engine.runtime.counting.pipeline_counts import StagedPipeline, write_counts
from engine.runtime.incremental_targets import IncrementalReads, incarnations
from engine.runtime.interrupts import InterruptedRun, Interrupts
from engine.runtime.job_events import JobEvents
from engine.runtime.persistence import Persistence, identity
from engine.runtime.results import JobResult, PipelineResult, left_out_warnings
from engine.runtime.schedule import FailurePolicy, PipelineOutcome, Retry, Schedule
from engine.runtime.slots import Need, Slots
from engine.spark import expect
from engine.spark.executors import ExecutorWatch
from engine.spark.failures.lost_java import exit_of_java
from engine.spark.lower import Arrived, Lowered, lower, lower_write
from engine.spark.pace import Pace
from engine.spark.session import pipeline_session
from engine.spark.streaming.batch_plans import BatchPlans
from engine.spark.writing.abort import abort, abort_all, left_to_tasks
from engine.spark.writing.commit import commit_all
from engine.spark.writing.group_reads import missing_targets, staged_table
from engine.spark.writing.keep import NOT_STAGED, bases_of, position_of
from engine.spark.writing.open_run import OpenRun
from engine.spark.writing.stage import journaled, note_positions, stage, staged_rows
from engine.state.interval_ledger import DoneInterval
from engine.state.run_state import State
from engine.state.staged_basis import StagedBasis
from engine.state.watermarks import HighWatermark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_INTERVALS: Final[Mapping[str, tuple[DoneInterval, ...]]] = {}


class JobExecution:
    """One running job, or one micro-batch of a stream (`arrived`), which uses `plans` of the one before.

    `progress`: shows so many pipelines of a job during a block."""

    def __init__(
        self,
        spark: "SparkSession",
        plan: Plan,
        run: OpenRun,
        received: Interrupts,
        started: float,
        *,
        incremental: IncrementalReads,
        intervals: Mapping[str, tuple[DoneInterval, ...]] = NO_INTERVALS,
        events: JobEvents,
        progress: Callable[[str, int], AbstractContextManager[RunProgress]],
        arrived: Mapping[Node, Arrived] | None = None,
        plans: BatchPlans | None = None,
    ) -> None:
        self.spark = spark
        self.arrived = {**(arrived or {}), **missing_targets(plan, run)}
        self.plans = plans
        self.plan = plan
        self.run = run
        self.incremental = incremental
        self.intervals = intervals
        self.received = received
        self.started = started
        self.events = events
        self.progress = progress
        self.pipelines = named_pipelines(plan)
        self.connections = {name: connections_of(pipeline) for name, pipeline in self.pipelines.items()}
        self.before = last_execution(spark)
        self.jobs_before = 0 if self.arrived else jobs_begun(spark)
        self.attempts = dict.fromkeys(self.pipelines, 0)
        self.policy = FailurePolicy(plan.env.failure_policy)
        self.unended: set[str] = set()

    def result(self) -> JobResult:
        try:
            with self.progress(self.plan.env.name, len(self.pipelines)) as progress:
                with self.received.raised():
                    outcomes = self._stage(progress)
                self.received.check()
                left = self._commit_or_abort(outcomes, progress)
        except BaseException as error:
            left = () if self.run.journal.is_decided else self._abort_all()
            if left and isinstance(error, InterruptedRun):
                error.is_clean = False
            raise
        finished = all(outcome.state is State.FINISHED for outcome in outcomes)
        errors = causes(outcomes)
        diagnostics = [diagnostic for error in errors for diagnostic in diagnostics_of(error)]
        staged = [outcome.value for outcome in outcomes if outcome.value]
        warned = [item for value in staged for item in (*value.warnings, *expect.warnings(value.expectations))]
        seconds = monotonic() - self.started
        head = (self.plan.env.name, self.run.run_id, State.FINISHED if finished else State.FAILED, seconds)
        kept = len(self.run.kept.writes)
        warned += read_again(self.run.kept.reasons)
        counted = self._counted(outcomes)
        if not self.arrived:  # a stream reports those of all its micro-batches at its end
            warned += left_out_warnings(read for pipeline in counted for read in pipeline.reads)
        return JobResult(*head, counted, tuple(diagnostics), (*warned, *left), errors, kept=kept)

    def _commit_or_abort(
        self, outcomes: Sequence[PipelineOutcome[StagedPipeline]], progress: RunProgress
    ) -> tuple[Diagnostic, ...]:
        """Commit the pipelines that finished, if the policy allows it; returns warnings about staged rows that cannot
        be removed, and about failed maintenance."""
        committed = self._committed(outcomes)
        if not committed:
            return self._abort_all()
        failed = [outcome.name for outcome in outcomes if outcome.state is not State.FINISHED]
        ended = [name for name in failed if name not in self.unended]
        abort(self.spark, self.run, [write for name in ended for write in self.pipelines[name].writes])
        progress.committing(committed)
        read = [watermark for outcome in outcomes if outcome.value for watermark in outcome.value.watermarks]
        writes = (write for outcome in outcomes if outcome.value for write in self.pipelines[outcome.name].writes)
        done = [record for write in writes for record in self.intervals.get(write.name, ())]
        warned = commit_all(self.spark, self.run, read, done, stays_open=bool(self.unended))
        progress.committed(committed)
        return (*warned, *(left_to_tasks(self.run.run_id, self.unended) if self.unended else ()))

    def _committed(self, outcomes: Sequence[PipelineOutcome[StagedPipeline]]) -> list[str]:
        """The pipelines that are committed: those that finished, none where the failure of another one forbids it."""
        finished = [outcome.name for outcome in outcomes if outcome.state is State.FINISHED]
        return [] if self.policy is FailurePolicy.STOP and len(finished) < len(outcomes) else finished

    def _abort_all(self) -> tuple[Diagnostic, ...]:
        """Remove what was staged, unless a task that has not ended would write after that: then the run stays open."""
        return abort_all(self.spark, self.run) if not self.unended else left_to_tasks(self.run.run_id, self.unended)

    def _stage(self, progress: RunProgress) -> tuple[PipelineOutcome[StagedPipeline], ...]:
        env = self.plan.env

        def observe(name: str, state: State, cause: str | None) -> None:
            progress.changed(name, state)
            self.events.pipeline(name, state, cause)

        kept = {name: self._kept(name) for name in self.pipelines if self._is_kept(name)}
        for name in kept:
            observe(name, State.FINISHED, None)
        ran = Schedule(
            names=tuple(name for name in self.pipelines if name not in kept),
            work=lambda name: self._work(name, progress),
            cancel=lambda name: self.spark.sparkContext.cancelJobsWithTag(self._tag(name)),
            parallelism=env.parallelism,
            retry=Retry(env.retry_times, env.retry_interval_seconds),
            policy=self.policy,
            observe=observe,
            slots=Slots(slots(self.plan), connections=limits_of(self.plan)),
            needs={name: Need(weight(plan), self.connections[name].taken) for name, plan in self.pipelines.items()},
            slot_timeout=env.slot_timeout,
            can_retry=lambda: exit_of_java() is None,
            look=ExecutorWatch(self.spark, env.slot_timeout).look,
        ).run()
        outcomes = kept | {outcome.name: outcome for outcome in ran}
        return tuple(outcomes[name] for name in self.pipelines)

    def _is_kept(self, name: str) -> bool:
        return all(write.id in self.run.kept.writes for write in self.pipelines[name].writes)

    def _kept(self, name: str) -> PipelineOutcome[StagedPipeline]:
        """The end of a pipeline that an earlier attempt of the run has staged."""
        writes = self.pipelines[name].writes
        moved = next((self.run.kept.writes[write.id].basis.watermarks for write in writes), ())
        staged = StagedPipeline((), {write.id: "" for write in writes}, (), moved)
        return PipelineOutcome(name, State.FINISHED, 0, 0.0, staged)

    def _work(self, name: str, progress: RunProgress) -> StagedPipeline:
        if name in self.unended and not self._tasks_have_ended(name):
            message = f"tasks of the last attempt of `{name}` have not ended, and may still write"
            raise run_error("PEN5250", message, None, "run the job again once they have ended")
        try:
            return self._stage_pipeline(name, progress)
        except BaseException:  # what is staged can be removed, or staged again, once the tasks have ended
            self._tasks_have_ended(name)
            raise

    def _tasks_have_ended(self, name: str) -> bool:
        has_ended = wait_for_tasks(self.spark, self._tag(name), is_cancelled=lambda: self.received.received is not None)
        (self.unended.discard if has_ended else self.unended.add)(name)
        return has_ended

    def _stage_pipeline(self, name: str, progress: RunProgress) -> StagedPipeline:
        """Stage the writes of one pipeline, in a session of its own."""
        plan = self.pipelines[name]
        self.attempts[name] += 1
        session = self._session(name)  # after a failed attempt, a new one
        descriptions = {write.id: self._description(write, self.attempts[name]) for write in plan.writes}
        bases = self._bases(session, plan)
        warned: list[Diagnostic] = []

        def computing(node: Node) -> str:
            progress.doing(name, f"computing {node.name}")
            text = self._description(node, self.attempts[name])
            self.spark.sparkContext.setJobDescription(text)
            return text

        persistence = Persistence(computing, self.run.journal, self.attempts[name])
        with self._labelled(name), closing(persistence):
            lowered = self._lowered(name, session, persistence)
            frames = lowered.dataframes
            note_positions(self.run, lowered.positions)
            expect.read_counters(lowered.watched)  # of what was computed for several readers
            for index, write in enumerate(plan.writes, start=1):
                progress.doing(name, f"writing {write.name} ({index} of {len(plan.writes)})")
                self.spark.sparkContext.setJobDescription(descriptions[write.id])
                df = lower_write(session, write, lowered)
                warned += stage(session, self.run, write, df, below(write))
                expect.read_counters(lowered.watched)
            outcomes = expect.outcomes(lowered.watched, staged_rows(session, self.run, plan.writes))
            if outcomes:
                text = text_of(validation_result(self.plan.env.name, self.run.run_id, outcomes))
                log = self.run.journal
                number = list(self.pipelines).index(name) + 1
                with journaled(self.run):
                    log.files.write(log.paths.expectations(number), text)
            expect.refuse(outcomes)
            computed = [node for node in frames if isinstance(node, Scan) and node.persisted is None]
            scans = [identity(node, attributes_of(frames[node])) for node in computed]
            watermarks = tuple(self._moved(lowered.new_rows))
            for write_id, basis in bases.items():
                with journaled(self.run):
                    self.run.journal.rests_on(write_id, replace(basis, watermarks=watermarks))
        return StagedPipeline(
            (*scans, *persistence.scans),
            {**persistence.descriptions, **descriptions},
            outcomes,
            watermarks,
            (*lowered.warnings, *warned),
        )

    def _bases(self, session: "SparkSession", pipeline: Plan) -> Mapping[str, StagedBasis]:
        """What the writes of a pipeline rest on: taken before its sources are read, so that a later change shows."""
        if self.run.meant is None:
            return {}  # a micro-batch
        checks = {check.write.id: check for check in self.run.checks}
        return bases_of(pipeline, self.run.meant, checks, partial(position_of, session, starts=self.incremental.starts))

    def _session(self, name: str) -> "SparkSession":
        settings = self.plan.env.session_settings
        if self.plans is None:
            return pipeline_session(self.spark, settings)
        if self.attempts[name] > 1:
            self.plans.forget(name)
        return self.plans.session(self.spark, name, settings)

    def _lowered(self, name: str, session: "SparkSession", persistence: Persistence) -> Lowered:
        writes, pace = self.pipelines[name].writes, Pace(self.plan.env.read_limit, self.connections[name].caps)

        def build() -> Lowered:
            return lower(
                session, writes, persistence.persist, self.incremental.starts, self.arrived, pace=pace,
                staged_table=partial(staged_table, session, self.run),
            )  # fmt: skip

        if self.plans is None or pace.limit != NO_READ_LIMIT or pace.connections:  # a pace depends on the partitions
            return build()
        return self.plans.lowered(name, writes, self.arrived, build)

    def _moved(self, new_rows: Mapping[Scan, NewRows]) -> Iterator[HighWatermark]:
        """The watermarks that move when what was read is committed."""
        for scan, rows in new_rows.items():
            read = self.incremental.of(scan.name)
            yield from read.moved(rows.reached(), self.run.run_id, incarnations(self.run.checks))

    @contextmanager
    def _labelled(self, name: str) -> Iterator[None]:
        """Run the thread's Spark jobs in their own pool, and with a tag by which they can be cancelled.

        Their tasks are interrupted then: one that waits for a server or in `sleep` would not see that it was killed.
        """
        context = self.spark.sparkContext
        context.setInterruptOnCancel(True)
        context.setLocalProperty("spark.scheduler.pool", self._tag(name))
        context.addJobTag(self._tag(name))
        context.addJobTag(tag_of_run(self.run.run_id))
        try:
            yield
        finally:  # the thread will run other pipelines
            context.clearJobTags()
            for label in ("spark.scheduler.pool", "spark.job.description", "spark.job.interruptOnCancel"):
                context.setLocalProperty(label, None)  # type: ignore[arg-type]

    def _tag(self, name: str) -> str:
        return f"{tag_of_run(self.run.run_id)} {list(self.pipelines).index(name)}"

    def _description(self, node: AnyNode, attempt: int) -> str:
        what = "write" if isinstance(node, Write) else "compute"
        return f"{self.plan.env.name}: {what} {node.name} (run {self.run.run_id}, try {attempt})"

    def _counted(self, outcomes: Sequence[PipelineOutcome[StagedPipeline]]) -> tuple[PipelineResult, ...]:
        wanted = {text for outcome in outcomes if outcome.value for text in outcome.value.descriptions.values()}
        is_accelerated = self.plan.env.accelerator is Accelerator.COMET
        ran = executions(self.spark, wanted.__contains__, after=self.before, is_accelerated=is_accelerated)
        committed = frozenset(self._committed(outcomes))
        tags = {self._tag(name): name for name in self.pipelines}
        paid = costs(self.spark, tags, self.jobs_before) if not self.arrived else {}
        results = []
        for pipeline in outcomes:
            head = (pipeline.name, pipeline.state, pipeline.attempts, pipeline.seconds)
            table_set, tables = _tables(self.pipelines[pipeline.name].writes)
            if pipeline.value is None:
                results.append(PipelineResult(*head, table_set=table_set, tables=tables, cost=paid.get(pipeline.name)))
                continue
            own = [execution for text in pipeline.value.descriptions.values() for execution in ran.get(text, ())]
            reads = count_reads(own, pipeline.value.scans)
            counts = write_counts(self.pipelines[pipeline.name], pipeline.value, self.run, ran)
            if pipeline.name not in committed:
                counts = tuple(count.without_commit() for count in counts)
            native = in_queries(together(execution.native for execution in own), self.pipelines[pipeline.name])
            results.append(PipelineResult(*head, reads, counts, table_set, tables, native, paid.get(pipeline.name)))
        return tuple(results)


def read_again(reasons: Mapping[str, str]) -> list[Diagnostic]:
    """One warning (PEN5261) for each reason why a continued run has staged writes again."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason != NOT_STAGED:
            by_reason.setdefault(reason, []).append(f"`{name}`")
    return [
        Diagnostic("PEN5261", f"read and staged again: {', '.join(names)}: {reason}", severity=Severity.WARNING)
        for reason, names in by_reason.items()
    ]


def _tables(writes: Sequence[Write]) -> tuple[str | None, tuple[str, ...]]:
    """The set of which all these writes are tables, and what the tables are called."""
    sets = {write.table_set for write in writes}
    return (sets.pop() if len(sets) == 1 else None), tuple(str(write.table.path) for write in writes)


def causes(outcomes: Sequence[PipelineOutcome[StagedPipeline]]) -> tuple[BaseException, ...]:
    """The errors that ended the job: those of pipelines that failed. Of a pipeline that was cancelled because another
    failed, Spark's error says only that."""
    failed = tuple(outcome.error for outcome in outcomes if outcome.error and outcome.state is State.FAILED)
    return failed or tuple(outcome.error for outcome in outcomes if outcome.error)


def diagnostics_of(error: BaseException) -> tuple[Diagnostic, ...]:
    """The diagnostics for an error that ended a pipeline."""
    if isinstance(error, PenstockError):
        return error.diagnostics
    if isinstance(error, OSError):
        return (os_error(error),)
    text = " ".join(str(error).split())[:300]
    return (Diagnostic("PEN9001", f"{type(error).__name__}: {text}", help="`--verbose` shows the stack trace"),)
