"""Run a job: check, stage the pipelines side by side, commit, count."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from time import monotonic
from typing import TYPE_CHECKING

from catalog.diagnostics import Diagnostic, PenstockError, Severity, run_error
from catalog.secret_names import redacted_text
from connectors.support.files.filesystem import Files, as_uri, files_at
from connectors.support.incremental import NewRows, Since
from engine.compile import Compiled
from engine.expectations.expectation_outcome import ExpectationOutcome
from engine.expectations.ge_result import text_of, validation_result
from engine.incremental.watermarks import Watermark, Watermarks, incremental_scans, moved, node_of, starts
from engine.plan.nodes import AnyNode, Expect, Node, Persisted, Plan, Scan, Shuffle, Write, below
from engine.plan.pipelines import named_pipelines, slots, weight
from engine.runtime import ledger
from engine.runtime.application import state_dir_of
from engine.runtime.counts import (
    Execution,
    ScanIdentity,
    WriteCount,
    count_reads,
    count_write,
    filtered_rows,
    last_that_read,
)
from engine.runtime.executions import attributes_of, executions, last_execution
from engine.runtime.interrupts import InterruptedRun, Interrupts, interrupts
from engine.runtime.job_events import JobEvents
from engine.runtime.progress import Progress, shown
from engine.runtime.results import JobResult, PipelineResult
from engine.runtime.schedule import FailurePolicy, PipelineOutcome, Retry, Schedule
from engine.runtime.slots import Slots
from engine.runtime.states import State
from engine.spark import expect
from engine.spark import write as writing
from engine.spark.journal import Journal
from engine.spark.lower import Arrived, lower
from engine.spark.persist import persist, persist_by, release
from engine.spark.session import pipeline_session
from engine.spark.tasks import wait_for_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def new_run_id() -> str:
    """A new run id; run ids sort by time."""
    return f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def run_job(
    spark: "SparkSession",
    compiled: Compiled,
    run_id: str,
    state_dir: str | None = None,
    *,
    is_quiet: bool = False,
    is_verbose: bool = False,
) -> JobResult:
    """Run one job until it succeeds or fails; raises only errors that prevent its start, and `InterruptedRun`.

    `state_dir`: where the run is recorded; it overrides the job's setting. The job's listeners receive each state.
    """
    events = JobEvents(compiled.plan, run_id)
    events.begin()
    try:
        result = _run_job(spark, compiled, run_id, state_dir, events, is_quiet=is_quiet, is_verbose=is_verbose)
    except BaseException as error:
        events.failed(error)
        events.close()
        raise
    cause = result.diagnostics[0].message if result.diagnostics else None
    events.end(result.state, cause, result.counts)
    return replace(result, warnings=(*result.warnings, *events.close()))


def _run_job(
    spark: "SparkSession",
    compiled: Compiled,
    run_id: str,
    state_dir: str | None,
    events: JobEvents,
    *,
    is_quiet: bool,
    is_verbose: bool,
) -> JobResult:
    plan, started = compiled.plan, monotonic()
    state = state_dir_of(plan, state_dir)
    files, root = files_at(spark, state)
    entry = ledger.RunRecord(run_id, plan.env.name, str(compiled.path), State.RUNNING, ledger.now())
    in_doubt = writing.recover(spark, state)
    done = writing.committed_writes(spark, state, run_id)
    missing = tuple(write for write in plan.writes if write.id not in done)
    if not missing:
        return JobResult(plan.env.name, run_id, State.FINISHED, 0.0, (), warnings=in_doubt, done=len(plan.writes))
    plan = replace(plan, writes=missing)
    since = starts(plan, Watermarks(files, root, plan.env.name), run_id)
    nodes = {node_of(scan) for scan, _ in incremental_scans(plan)}
    writing.refuse_unfinished(spark, state, plan.env.name, nodes)
    checks = writing.check(spark, plan.writes, run_id)
    try:
        run = writing.begin(spark, checks, run_id, state, plan.env.name)
    except OSError as error:
        help = "name another with `--state-dir DIR` or PENSTOCK_STATE_DIR"
        message = f"the state directory `{state}` cannot be written: {error.strerror or error}"
        raise run_error("PEN5005", message, None, help) from error
    if run is None:  # another process has just finished it
        return JobResult(plan.env.name, run_id, State.FINISHED, 0.0, (), warnings=in_doubt, done=len(missing))
    _record(files, root, entry)
    try:
        with interrupts() as received:
            try:
                execution = _Execution(
                    spark,
                    plan,
                    run,
                    received,
                    started,
                    since=since,
                    events=events,
                    is_quiet=is_quiet,
                    is_verbose=is_verbose,
                )
                result = execution.result()
            except Exception as error:
                if received.received is None or isinstance(error, PenstockError):
                    raise
                raise InterruptedRun(received.received, is_clean=False) from error  # the signal ended Java as well
            warnings = (*in_doubt, *result.warnings)
            written = len(compiled.plan.writes) - len(missing)
            result = replace(result, warnings=warnings, interrupted_by=received.received, done=written)
    except BaseException as error:
        ended = State.CANCELED if isinstance(error, KeyboardInterrupt) else State.FAILED
        _record(files, root, _ended(entry, ended, monotonic() - started, str(error), {}))
        raise
    messages = "; ".join(f"[{diagnostic.code}] {diagnostic.message}" for diagnostic in result.diagnostics)
    unrecorded = _record(files, root, _ended(entry, result.state, result.seconds, messages, result.counts))
    return replace(result, warnings=(*result.warnings, *unrecorded))


def run_batch(spark: "SparkSession", plan: Plan, run_id: str, state: str, arrived: Mapping[Scan, Arrived]) -> JobResult:
    """Stage and commit one micro-batch of a stream, as a run of its own that is in no ledger. Does nothing if it is
    committed already; raises what keeps it from starting."""
    done = writing.committed_writes(spark, state, run_id)
    missing = tuple(write for write in plan.writes if write.id not in done)
    finished = JobResult(plan.env.name, run_id, State.FINISHED, 0.0, (), done=len(plan.writes))
    if not missing:
        return finished
    plan = replace(plan, writes=missing)
    run = writing.begin(spark, writing.check(spark, missing, run_id), run_id, state, plan.env.name)
    if run is None:
        return finished
    events = JobEvents(replace(plan, env=replace(plan.env, listeners=())), run_id)  # they hear of the stream only
    return _Execution(
        spark, plan, run, Interrupts(), monotonic(), since={}, events=events, is_quiet=True, arrived=arrived
    ).result()


def _record(files: Files, root: str, run: ledger.RunRecord) -> tuple[Diagnostic, ...]:
    """Record how a run ended; returns a warning if that fails, since the run has ended anyway."""
    try:
        ledger.record(files, root, run)
    except OSError as error:
        message = f"the end of run `{run.run_id}` cannot be recorded in `{root}`: {error.strerror or error}"
        return (Diagnostic("PEN5005", message, severity=Severity.WARNING),)
    return ()


def _ended(
    entry: ledger.RunRecord, state: State, seconds: float, error: str, counts: Mapping[str, object]
) -> ledger.RunRecord:
    return ledger.RunRecord(
        entry.run_id,
        entry.job,
        entry.file,
        state,
        entry.started,
        ledger.now(),
        round(seconds, 3),
        error or None,
        counts,
    )


@dataclass(frozen=True, slots=True)
class _Staged:
    """The result of staging a pipeline: how to find its scans and writes in Spark's metrics, and its expectations.

    `descriptions`: of the Spark jobs of each write, and of each node whose rows were persisted, by their ids.
    """

    scans: tuple[ScanIdentity, ...]
    descriptions: Mapping[str, str]
    expectations: tuple[ExpectationOutcome, ...]
    watermarks: tuple[Watermark, ...] = ()


@dataclass(eq=False)
class _Persistence:
    """The persisted rows of a running pipeline; `label` names the work in Spark and in messages."""

    label: Callable[[Node], str]
    log: Journal
    attempt: int
    descriptions: dict[str, str] = field(default_factory=dict)
    scans: list[ScanIdentity] = field(default_factory=list)
    persisted: "list[DataFrame]" = field(default_factory=list)
    folders: list[str] = field(default_factory=list)

    def persist(self, node: Node, persisted: Persisted, df: "DataFrame") -> "DataFrame":
        self.descriptions[node.id] = self.label(node)
        if isinstance(node, Scan):
            self.scans.append(_identity(node, attributes_of(df)))
        if isinstance(node, Shuffle) and persisted.by is not None and self.is_shared(df):
            folder = f"{self.log.scratch}/{node.id}-{self.attempt}"
            rows = persist_by(df, persisted.by, as_uri(folder), len(node.values))
            self.folders.append(folder)
        else:
            rows = persist(df, persisted.cache)
            self.persisted.append(rows)
        self.scans.append(ScanIdentity(f"{node.name} (persisted)", attributes_of(rows), is_persisted=True))
        return rows

    def is_shared(self, df: "DataFrame") -> bool:
        """Whether the executors write where the driver reads: not on a cluster with the state directory on a disk."""
        return str(df.sparkSession.sparkContext.master).startswith("local") or not self.log.uri.startswith("file:")

    def close(self) -> None:
        for rows in self.persisted:
            release(rows)
        for folder in self.folders:
            self.log.files.delete(folder)


class _Execution:
    """One running job."""

    def __init__(
        self,
        spark: "SparkSession",
        plan: Plan,
        run: writing.OpenRun,
        received: Interrupts,
        started: float,
        *,
        since: Mapping[str, Since],
        events: JobEvents,
        is_quiet: bool = False,
        is_verbose: bool = False,
        arrived: Mapping[Scan, Arrived] | None = None,
    ) -> None:
        self.spark = spark
        self.arrived = arrived or {}
        self.plan = plan
        self.run = run
        self.since = since
        self.received = received
        self.started = started
        self.events = events
        self.is_quiet, self.is_verbose = is_quiet, is_verbose
        self.pipelines = named_pipelines(plan)
        self.before = last_execution(spark)
        self.attempts = dict.fromkeys(self.pipelines, 0)
        self.policy = FailurePolicy(plan.env.failure_policy)

    def result(self) -> JobResult:
        try:
            quiet, verbose, total = self.is_quiet, self.is_verbose, len(self.pipelines)
            with shown(self.spark, total=total, is_quiet=quiet, is_verbose=verbose) as progress:
                with self.received.raised():
                    outcomes = self._stage(progress)
                self.received.check()
                left = self._commit_or_abort(outcomes, progress)
        except BaseException as error:
            left = () if self.run.journal.is_decided else writing.abort_all(self.spark, self.run)
            if left and isinstance(error, InterruptedRun):
                error.is_clean = False
            raise
        finished = all(outcome.state is State.FINISHED for outcome in outcomes)
        diagnostics = [
            diagnostic for outcome in outcomes if outcome.error for diagnostic in diagnostics_of(outcome.error)
        ]
        warned = [item for outcome in outcomes if outcome.value for item in expect.warnings(outcome.value.expectations)]
        seconds = monotonic() - self.started
        errors = tuple(outcome.error for outcome in outcomes if outcome.error)
        head = (self.plan.env.name, self.run.run_id, State.FINISHED if finished else State.FAILED, seconds)
        return JobResult(*head, self._counted(outcomes), tuple(diagnostics), (*warned, *left), errors)

    def _commit_or_abort(
        self, outcomes: Sequence[PipelineOutcome[_Staged]], progress: Progress
    ) -> tuple[Diagnostic, ...]:
        """Commit the pipelines that finished, if the policy allows it; returns warnings about staged rows that cannot
        be removed, and about failed maintenance."""
        failed = [outcome.name for outcome in outcomes if outcome.state is not State.FINISHED]
        if failed and (self.policy is FailurePolicy.STOP or len(failed) == len(outcomes)):
            return writing.abort_all(self.spark, self.run)
        writing.abort(self.spark, self.run, [write for name in failed for write in self.pipelines[name].writes])
        committed = [name for name in self.pipelines if name not in failed]
        progress.committing(committed)
        read = [
            each
            for outcome in outcomes
            if outcome.name in committed and outcome.value
            for each in outcome.value.watermarks
        ]
        warned = writing.commit_all(self.spark, self.run, read)
        progress.committed(committed)
        return warned

    def _stage(self, progress: Progress) -> tuple[PipelineOutcome[_Staged], ...]:
        env = self.plan.env

        def observe(name: str, state: State, cause: str | None) -> None:
            progress.changed(name, state)
            self.events.pipeline(name, state, cause)

        return Schedule(
            names=tuple(self.pipelines),
            work=lambda name: self._work(name, progress),
            cancel=lambda name: self.spark.sparkContext.cancelJobsWithTag(self._tag(name)),
            parallelism=env.parallelism,
            retry=Retry(env.retry_times, env.retry_interval_seconds),
            policy=self.policy,
            observe=observe,
            slots=Slots(slots(self.plan)),
            weights={name: weight(plan) for name, plan in self.pipelines.items()},
            slot_timeout=env.slot_timeout,
        ).run()

    def _work(self, name: str, progress: Progress) -> _Staged:
        try:
            return self._stage_pipeline(name, progress)
        except BaseException:
            wait_for_tasks(self.spark, self._tag(name))  # what is staged can be removed, or staged again
            raise

    def _stage_pipeline(self, name: str, progress: Progress) -> _Staged:
        """Stage the writes of one pipeline, in a session of its own."""
        plan = self.pipelines[name]
        self.attempts[name] += 1
        session = pipeline_session(self.spark, plan.env.spark)
        descriptions = {write.id: self._description(write, self.attempts[name]) for write in plan.writes}

        def computing(node: Node) -> str:
            progress.doing(name, f"computing {node.name}")
            text = self._description(node, self.attempts[name])
            self.spark.sparkContext.setJobDescription(text)
            return text

        persistence = _Persistence(computing, self.run.journal, self.attempts[name])
        with self._labelled(name), closing(persistence):
            lowered = lower(session, plan.writes, persistence.persist, self.since, self.arrived)
            frames = lowered.dataframes
            writing.note_positions(self.run, lowered.positions)
            expect.note(lowered.watched)  # of what was computed for several readers
            for index, write in enumerate(plan.writes, start=1):
                progress.doing(name, f"writing {write.name} ({index} of {len(plan.writes)})")
                self.spark.sparkContext.setJobDescription(descriptions[write.id])
                writing.stage(session, self.run, write, frames[write.input], below(write))
                expect.note(lowered.watched)
            outcomes = expect.outcomes(lowered.watched, writing.staged_rows(session, self.run, plan.writes))
            if outcomes:
                text = text_of(validation_result(self.plan.env.name, self.run.run_id, outcomes))
                log = self.run.journal
                number = list(self.pipelines).index(name) + 1
                log.files.write(f"{log.folder.rpartition('/')[0]}/expectations_{number}.json", text)
            expect.refuse(outcomes)
            computed = [node for node in frames if isinstance(node, Scan) and node.persisted is None]
            scans = [_identity(node, attributes_of(frames[node])) for node in computed]
            watermarks = tuple(self._moved(lowered.new_rows))
        return _Staged((*scans, *persistence.scans), {**persistence.descriptions, **descriptions}, outcomes, watermarks)

    def _moved(self, new_rows: Mapping[Scan, NewRows]) -> Iterator[Watermark]:
        """The watermarks that move when what was read is committed."""
        for scan, rows in new_rows.items():
            since = self.since.get(scan.name, Since())
            if mark := moved(self.plan.env.name, scan, since, rows.reached(), self.run.run_id):
                yield mark

    @contextmanager
    def _labelled(self, name: str) -> Iterator[None]:
        """Run the thread's Spark jobs in their own pool, and with a tag by which they can be cancelled."""
        context = self.spark.sparkContext
        context.setLocalProperty("spark.scheduler.pool", self._tag(name))
        context.addJobTag(self._tag(name))
        try:
            yield
        finally:  # the thread will run other pipelines
            context.clearJobTags()
            for label in ("spark.scheduler.pool", "spark.job.description"):
                context.setLocalProperty(label, None)  # type: ignore[arg-type]

    def _tag(self, name: str) -> str:
        return f"penstock {self.run.run_id} {list(self.pipelines).index(name)}"

    def _description(self, node: AnyNode, attempt: int) -> str:
        what = "write" if isinstance(node, Write) else "compute"
        return f"{self.plan.env.name}: {what} {node.name} (run {self.run.run_id}, try {attempt})"

    def _counted(self, outcomes: Sequence[PipelineOutcome[_Staged]]) -> tuple[PipelineResult, ...]:
        wanted = {text for outcome in outcomes if outcome.value for text in outcome.value.descriptions.values()}
        ran = executions(self.spark, wanted.__contains__, after=self.before)
        results = []
        for pipeline in outcomes:
            head = (pipeline.name, pipeline.state, pipeline.attempts, pipeline.seconds)
            table_set, tables = _tables(self.pipelines[pipeline.name].writes)
            if pipeline.value is None:
                results.append(PipelineResult(*head, table_set=table_set, tables=tables))
                continue
            own = [execution for text in pipeline.value.descriptions.values() for execution in ran.get(text, ())]
            writes = self.pipelines[pipeline.name].writes
            counts = [self._write_count(write, pipeline.value, ran) for write in writes]
            counts += self._before_routing(pipeline.value, self.pipelines[pipeline.name], ran)
            results.append(
                PipelineResult(*head, count_reads(own, pipeline.value.scans), tuple(counts), table_set, tables)
            )
        return tuple(results)

    def _write_count(self, write: Write, staged: _Staged, ran: Mapping[str, list[Execution]]) -> WriteCount:
        """Count rows that a rule removed as rejected, not filtered, although Spark drops them by a filter."""
        if not write.connector.sink_capabilities.is_staged:
            printed = write.connector.written(self.run.places[write.id])
            return WriteCount(write.name, printed[0] if printed else None, None)
        of_write = ran.get(staged.descriptions[write.id], ())
        count = count_write(write.name, of_write)
        if (written := write.connector.written(self.run.places[write.id])) is not None:
            last = last_that_read(of_write)
            filtered = 0 if last is None else filtered_rows(last)
            count = replace(count, rows=written[0], bytes=written[1], filtered=filtered)
        count = replace(count, target=_target(write))
        nodes = below(write)
        if routed := next((node for node in nodes if isinstance(node, Shuffle)), None):
            nodes = tuple(node for node in nodes if node not in below(routed))  # the others are those of all tables
            if routed.persisted is None or routed.persisted.by is None:
                count = replace(count, filtered=None)  # Spark counts the rows of other tables, too
        return self._with_earlier(count, nodes, staged, ran)

    @staticmethod
    def _is_computed(node: AnyNode, staged: _Staged) -> bool:
        return not isinstance(node, Write) and node.id in staged.descriptions

    def _before_routing(self, staged: _Staged, plan: Plan, ran: Mapping[str, list[Execution]]) -> Iterator[WriteCount]:
        """Rows that were dropped before a stream was routed to its tables, of each that drops any."""
        for node in plan.nodes():
            if isinstance(node, Shuffle):
                count = WriteCount(f"{node.name} (before its tables)", None, 0)
                count = self._with_earlier(count, below(node), staged, ran)
                if count.filtered or count.rejected:
                    yield count

    def _with_earlier(
        self, count: WriteCount, nodes: Sequence[AnyNode], staged: _Staged, ran: Mapping[str, list[Execution]]
    ) -> WriteCount:
        """The count with the rows that were dropped where these nodes were computed."""
        persisted = [ran.get(staged.descriptions[node.id], ()) for node in nodes if self._is_computed(node, staged)]
        earlier = [filtered_rows(last) for executions in persisted if (last := last_that_read(executions))]
        if count.filtered is not None and earlier:
            known = [number for number in earlier if number is not None]
            count = replace(count, filtered=count.filtered + sum(known) if len(known) == len(earlier) else None)
        checked = {node.name for node in nodes if isinstance(node, Expect)}
        taken = [
            expectation
            for expectation in staged.expectations
            if expectation.node in checked and expectation.rule.takes_out
        ]
        if not taken:
            return count
        rejected = sum({expectation.node: expectation.rejected for expectation in taken}.values())
        filtered = None if count.filtered is None else max(0, count.filtered - rejected)
        return replace(count, rejected=rejected, filtered=filtered)


def _tables(writes: Sequence[Write]) -> tuple[str | None, tuple[str, ...]]:
    """The set of which all these writes are tables, and what the tables are called."""
    sets = {write.table_set for write in writes}
    return (sets.pop() if len(sets) == 1 else None), tuple(str(write.table.path) for write in writes)


def diagnostics_of(error: BaseException) -> tuple[Diagnostic, ...]:
    """The diagnostics for an error that ended a pipeline."""
    if isinstance(error, PenstockError):
        return error.diagnostics
    text = " ".join(str(error).split())[:300]
    return (Diagnostic("PEN9001", f"{type(error).__name__}: {text}", help="`--verbose` shows the stack trace"),)


def _target(write: Write) -> str | None:
    """The target of a write, as the job names it."""
    named = (write.options.get(name) for name in ("path", "table", "topic"))
    return next((redacted_text(text) for text in named if isinstance(text, str)), None)


def _identity(scan: Scan, attributes: frozenset[int]) -> ScanIdentity:
    path = scan.options.get("path")
    return ScanIdentity(scan.name, attributes, (path,) if isinstance(path, str) else ())
