"""Run a streaming job: its pipelines side by side until they end, are stopped, or fail."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, Severity, run_error
from catalog.masks import Masks
from connectors.storage.filesystem import Files, files_at
from engine.compile import Compiled
from engine.plan.nodes import Plan
from engine.plan.streams import streams_of
from engine.runtime.attendant import Attendant, Unattended
from engine.runtime.interrupts import Interrupts
from engine.runtime.job_events import with_events
from engine.runtime.job_execution import diagnostics_of
from engine.runtime.results import JobResult, PipelineResult, left_out_warnings
from engine.runtime.run_request import RunRequest
from engine.runtime.streaming.checkpoint import folder_of, open_checkpoint, with_incarnations
from engine.runtime.streaming.followed_schema import FollowedSchema
from engine.runtime.streaming.lost_batches import refuse_lost_batches
from engine.runtime.streaming.metrics import prometheus_text
from engine.runtime.streaming.stream import BatchFailedError, Stream
from engine.runtime.transient import is_transient
from engine.spark.writing.open_run import begin_stream
from engine.spark.writing.recover import recover
from engine.spark.writing.sink_checks import check
from engine.state import ledger
from engine.state.journal import RunOutcome
from engine.state.layout import StateLayout, layout_at
from engine.state.run_claims import release
from engine.state.run_state import State
from engine.state.stop_request import is_stop_requested

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POLL_SECONDS: Final = 0.2


def run_stream(
    spark: "SparkSession", compiled: Compiled, request: RunRequest, attendant: Attendant | None = None
) -> JobResult:
    """Run a streaming job until it ends, is stopped or fails; raises only what prevents its start. The job's listeners
    receive the states of the stream.

    It goes on from the checkpoints of its job; PEN5310 where the run that it restores has left none.
    """
    run = partial(_run, spark, compiled, request, attendant or Unattended())
    return with_events(compiled.plan, request.run_id, lambda _: run())


def _run(spark: "SparkSession", compiled: Compiled, request: RunRequest, attendant: Attendant) -> JobResult:
    plan, run_id = compiled.plan, request.run_id
    layout = layout_at(spark, compiled.state_dir)
    warnings = recover(spark, layout, compiled.settings.credentials, job=plan.env.name)
    entry = ledger.RunRecord(run_id, plan.env.name, str(compiled.path), State.RUNNING, ledger.now())
    job = _Job(layout, entry, plan.env.masks, metrics=_metrics_file(spark, plan))
    _open_streams(spark, compiled, request, job)
    check(spark, [write for stream in job.streams for write in stream.writes], run_id)
    for stream in job.streams:
        refuse_lost_batches(spark, stream)
    log, claim = begin_stream(spark, layout, run_id, plan.writes, plan.env.name)
    ledger.begin(layout, entry, plan.env.masks)
    job.record(State.RUNNING)
    try:
        with attendant.interrupts() as received:
            failed = job.run(received)
    except BaseException as error:
        job.record(State.FAILED, str(error))
        log.end(RunOutcome.ROLLED_BACK)
        release(claim)
        raise
    result = job.end(failed, warnings)
    log.end(RunOutcome.FINISHED if result.state is State.FINISHED else RunOutcome.ROLLED_BACK)
    release(claim)
    return result


def _open_streams(spark: "SparkSession", compiled: Compiled, request: RunRequest, job: "_Job") -> None:
    """Raises PEN5306 and PEN5310 where the run to restore is unknown, or has left no checkpoint."""
    if request.restores is not None:
        job.require(request.restores)
    job.streams = tuple(_streams(spark, compiled, job))
    if request.restores is not None and any(stream.checkpoint.is_new for stream in job.streams):
        raise run_error(
            "PEN5310", f"run `{request.restores}` has left no checkpoint to go on from", None, "leave --restore out"
        )


def _streams(spark: "SparkSession", compiled: Compiled, job: "_Job") -> Iterable[Stream]:
    several = streams_of(compiled.plan)
    folders = {folder_of(stream) for stream in several}
    for stream in several:
        checkpoint = with_incarnations(spark, open_checkpoint(spark, job.layout, stream, others=folders), stream)
        yield Stream(spark, FollowedSchema(compiled, stream), checkpoint, job.layout, job.committed)


def _metrics_file(spark: "SparkSession", plan: Plan) -> tuple[Files, str] | None:
    path = plan.env.options.get("metrics_file") if plan.env.options else None
    return files_at(spark, str(path)) if path else None


@dataclass(eq=False)
class _Job:
    """A streaming job while it runs, and what the ledger has of it. `metrics`: the file for Prometheus."""

    layout: StateLayout
    entry: ledger.RunRecord
    masks: Masks
    metrics: tuple[Files, str] | None = None
    streams: tuple[Stream, ...] = ()
    started: float = 0.0
    recording: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.started = monotonic()

    def require(self, run_id: str) -> None:
        found = ledger.find(self.layout, run_id)
        if found is None or found.job != self.entry.job:
            message = f"no run `{run_id}` of the job `{self.entry.job}` is recorded in `{self.layout.root}`"
            raise run_error("PEN5306", message, None, "`penstock runs` lists them")

    def run(self, received: Interrupts) -> Mapping[Stream, BaseException]:
        """Run all streams to their end; gives those that failed."""
        failed: dict[Stream, BaseException] = {}
        try:
            for stream in self.streams:  # where one cannot start, those before it end
                stream.start()
            while running := [
                stream for stream in self.streams if stream not in failed and self.goes_on(stream, failed)
            ]:
                if received.received is not None or is_stop_requested(self.layout, self.entry.run_id):
                    self.stop(running)
                if failed and running and running[0].plan.env.failure_policy == "stop":
                    self.stop(running)
                self.look()
                for stream in running:
                    stream.advance()
                sleep(_POLL_SECONDS)
            for stream in self.streams:
                if stream not in failed and not stream.stopping.is_set():
                    stream.run_empty()
        except BatchFailedError as error:  # of `run_empty`
            failed[self.streams[0]] = error
        finally:
            while active := [stream for stream in self.streams if stream.is_active]:
                self.stop(active)
                sleep(_POLL_SECONDS)
            for stream in self.streams:
                stream.close()
        return failed

    def goes_on(self, stream: Stream, failed: dict[Stream, BaseException]) -> bool:
        """Whether the stream is running; one that failed for a passing reason is started again."""
        if stream.is_active:
            return True
        if stream in failed:
            return False
        error = stream.failure()
        if error is None:
            return False
        if stream.is_unreported:
            stream.start()
            return True
        env = stream.plan.env
        stream.failures += 1
        is_final = isinstance(error, BatchFailedError)  # the micro-batch was retried by itself
        if is_final or stream.failures > env.retry_times or not is_transient(error):
            failed[stream] = error
            return False
        sleep(env.retry_interval_seconds)
        stream.start()
        return True

    def end(self, failed: Mapping[Stream, BaseException], warnings: tuple[Diagnostic, ...]) -> JobResult:
        """Record how the job has ended; `warnings`: of before it began."""
        changed = tuple(warning for stream in self.streams for warning in stream.checkpoint.warnings)
        self.look()  # the last micro-batches may have ended since it was asked last
        late = tuple(_late_rows(stream) for stream in self.streams if stream.totals.late or stream.totals.left_out)
        waiting = tuple(warning for stream in self.streams for warning in _waiting(stream))
        result = self.result(failed, (*warnings, *changed, *late, *waiting))
        messages = [f"[{diagnostic.code}] {diagnostic.message}" for diagnostic in result.diagnostics]
        self.record(result.state, "; ".join(messages))
        return result

    def stop(self, streams: Iterable[Stream]) -> None:
        for stream in streams:
            stream.stop()

    def look(self) -> None:
        """Record the progress of micro-batches that were committed, once Spark reports it."""
        if [stream for stream in self.streams if stream.look()]:
            self.record(State.RUNNING)

    def committed(self, stream: Stream, result: JobResult) -> None:
        self.record(State.RUNNING)

    def record(self, state: State, error: str = "") -> None:
        """Record the state and counts; called by the threads of all streams."""
        with self.recording:
            self._record(state, error)

    def _record(self, state: State, error: str) -> None:
        ended = None if state is State.RUNNING else ledger.now()
        streams = [stream.totals for stream in self.streams]
        counts = {
            **self.totals(()).counts,
            "batches": sum(stream.batches for stream in streams),
            "streams": {stream.source: stream.counts for stream in streams},
        }
        seconds = round(monotonic() - self.started, 3)
        entry = replace(self.entry, state=state, ended=ended, seconds=seconds, error=error or None, counts=counts)
        ledger.record(self.layout, entry, self.masks)
        if self.metrics is not None:
            files, path = self.metrics
            text = prometheus_text(entry.job, entry.run_id, streams, is_running=state is State.RUNNING)
            files.write(path, text)

    def result(self, failed: Mapping[Stream, BaseException], warnings: tuple[Diagnostic, ...]) -> JobResult:
        errors = [cause for error in failed.values() for cause in _causes(error)]
        errors_of = tuple(diagnostic for error in failed.values() for diagnostic in _diagnostics(error))
        more = tuple(warning for stream in self.streams for warning in stream.totals.warnings.values())
        totals = self.totals(failed)
        unique = {(warning.code, warning.message): warning for warning in (*warnings, *more)}
        unique |= {(warning.code, warning.message): warning for warning in left_out_warnings(totals.reads)}
        return replace(totals, diagnostics=errors_of, warnings=tuple(unique.values()), errors=tuple(errors))

    def totals(self, failed: Iterable[Stream]) -> JobResult:
        ended = set(failed)
        found = tuple(
            _total(stream, number, State.FAILED if stream in ended else State.FINISHED)
            for number, stream in enumerate(self.streams, start=1)
        )
        state = State.FAILED if ended else State.FINISHED
        return JobResult(self.entry.job, self.entry.run_id, state, monotonic() - self.started, found)


def _total(stream: Stream, number: int, state: State) -> PipelineResult:
    """What a stream has read and written, over all its micro-batches of this run."""
    totals = stream.totals
    return PipelineResult(
        f"{number}: {stream.of.name}, {totals.batches} micro-batches",
        state,
        1,
        monotonic() - stream.started,
        tuple(totals.reads.values()),
        tuple(totals.writes.values()),
    )


def _late_rows(stream: Stream) -> Diagnostic:
    """Spark counts what it leaves out after each task has grouped its own rows: a group may be of several. What
    Penstock leaves out, it counts exactly."""
    left_out = stream.totals.late + stream.totals.left_out
    rows = "1 row" if left_out == 1 else f"{left_out:,} rows"
    rows += " or more" if stream.totals.late else ""
    message = f"{rows} of `{stream.of.name}` came later than the watermark allows, and were left out"
    help = "raise the `delay` of `watermark`, or write the rows themselves to another table"
    return Diagnostic("PEN5314", message, stream.of.head.span, help, Severity.WARNING)


def _waiting(stream: Stream) -> Iterable[Diagnostic]:
    for node, partitions in stream.times.waiting() if stream.times is not None else ():
        named = ", ".join(f"`{name}`" for name in partitions[:3]) + (", …" if len(partitions) > 3 else "")
        message = f"the watermark of `{node.input.written_name}` waits for partitions that have had no record: {named}"
        help = '`watermark { …, idle.timeout = "5 minutes" }` goes on without those that are silent for so long'
        yield Diagnostic("PEN5315", message, node.span, help, Severity.WARNING)


def _causes(error: BaseException) -> tuple[BaseException, ...]:
    return error.result.errors if isinstance(error, BatchFailedError) else (error,)


def _diagnostics(error: BaseException) -> tuple[Diagnostic, ...]:
    if isinstance(error, BatchFailedError):
        return error.result.diagnostics
    return error.diagnostics if isinstance(error, PenstockError) else diagnostics_of(error)
