"""Writes a job: checks every sink, stages every sink, then commits every sink in order.

    check   inspects each target and determines the save-mode actions; changes nothing
    begin   opens the run's journal, after killed runs were ended
    stage   writes rows where readers do not see them; can be repeated for a retry
    commit  records the decision in the journal, then commits each sink
    abort   removes what was staged

A killed run is rolled back if it had not decided to commit, otherwise finished: by `resume`, or by the next run.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import connectors
from catalog.diagnostics import Diagnostic, Diagnostics, PenstockError, RunError, Severity, run_error
from catalog.evolution import Problem, SchemaEvolution, fits, widens
from catalog.quoting import quote
from catalog.row_kind import ROW_KIND
from catalog.savemode import Action, Outlook, TargetState, plan_actions
from catalog.table import CatalogTable
from catalog.typenames import to_ddl
from connectors.support import run_owner as owner
from connectors.support.connector import Connector
from connectors.support.sink import WriteTask
from connectors.support.staged import Staged
from engine.incremental.watermarks import Watermark, move, refuse_moved
from engine.plan.nodes import AnyNode, Scan, Write, below
from engine.plan.staged_rules import staged_rules
from engine.spark.commit_groups import (
    Pending,
    StagedWrite,
    begin_commit,
    cancel,
    commit_group,
    commit_groups,
    finishing_first,
)
from engine.spark.environment_errors import unwritable
from engine.spark.errors import as_run_error, reason
from engine.spark.journal import Journal, Recorded, RunOutcome, journal, open_journals

SPARK_ERRORS = (PySparkException, Py4JError)
DRY_RUN: Final = "dry-run"
CONNECTOR_ERRORS = (*SPARK_ERRORS, OSError, PenstockError)
"""Exceptions that the steps of connectors may raise."""


@dataclass(frozen=True, eq=False, slots=True)
class SinkCheck:
    """The result of a check: the target's state, and the actions of the commit, in order."""

    write: Write
    state: TargetState
    actions: tuple[Action, ...]


@dataclass(eq=False)
class OpenRun:
    """A run that may write: what is staged so far, by write id; its targets were checked in the session `spark`."""

    spark: SparkSession
    run_id: str
    journal: Journal
    checks: tuple[SinkCheck, ...]
    tasks: Mapping[str, WriteTask]
    places: dict[str, Staged] = field(default_factory=dict)
    positions: dict[Scan, Staged] = field(default_factory=dict)
    staged: set[str] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)


def outlooks(spark: SparkSession, writes: Sequence[Write]) -> dict[str, Outlook]:
    """What each write, by its id, finds at its target and would do there; raises as `check` does."""
    found = {}
    for checked in check(spark, writes, looks_for_rows=True):
        write = checked.write
        try:
            told = write.connector.statements(spark, _task(write, DRY_RUN), checked.state, checked.actions)
        except SPARK_ERRORS as error:
            raise as_run_error(error, write) from error
        found[write.id] = Outlook(checked.state, checked.actions, told)
    return found


def check(
    spark: SparkSession, writes: Sequence[Write], run_id: str = DRY_RUN, *, looks_for_rows: bool = False
) -> tuple[SinkCheck, ...]:
    """Inspect every target; raises `RunError` with all errors that prevent the run (PEN4003, PEN4006, PEN4007,
    PEN5005)."""
    diagnostics = Diagnostics()
    checks = []
    for write in writes:
        try:
            state = write.connector.inspect(spark, replace(_task(write, run_id), looks_for_rows=looks_for_rows))
        except PenstockError as error:
            diagnostics.extend(error.diagnostics)
            continue
        except SPARK_ERRORS as error:
            diagnostics.extend(as_run_error(error, write).diagnostics)
            continue
        except OSError as error:
            diagnostics.extend(unwritable(error, write).diagnostics)
            continue
        actions = plan_actions(write.schema_save_mode, write.data_save_mode, write.write_mode, state)
        diagnostics.extend(_obstacles(write, state, actions))
        checks.append(SinkCheck(write, state, actions))
    if diagnostics.has_errors:
        raise RunError(diagnostics)
    return tuple(checks)


def begin(spark: SparkSession, checks: Sequence[SinkCheck], run_id: str, state: str, job: str = "") -> OpenRun | None:
    """Open the run's journal; None if this run id has already committed all these writes.

    `state` is the state directory (any Hadoop path). Call `recover` before `check`, so that targets are seen as they
    will stand. Raises PEN5007 if a living process holds the run id, PEN5005 if a target can never be one.
    """
    log = journal(spark, state, run_id)
    recorded = log.read()
    done = recorded.done if recorded is not None else frozenset()
    if recorded is not None and recorded.outcome is RunOutcome.FINISHED and all(c.write.id in done for c in checks):
        return None
    if recorded is not None and recorded.is_alive and not owner.is_this_process(recorded.mark):
        raise run_error("PEN5007", f"run {run_id} is still running: {owner.describe(recorded.mark)}")
    if recorded is not None and recorded.is_decided and not (recorded.outcome or owner.is_this_process(recorded.mark)):
        raise run_error("PEN5011", f"run `{run_id}` has begun to commit, and has not ended", None, _ways_to_end(run_id))
    refuse_second_run(spark, state, run_id, [check.write for check in checks], job)
    mark = owner.with_jvm(owner.this_process(), _jvm_pid(spark))
    tasks = {check.write.id: replace(_task(check.write, run_id), owner=mark, journal=log.uri) for check in checks}
    places = {
        check.write.id: check.write.connector.prepare(spark, tasks[check.write.id], check.actions) for check in checks
    }
    log.begin(mark, {check.write.id: check.write.connector.name for check in checks}, job, done)
    for write_id, place in places.items():
        log.prepared(write_id, place)
    return OpenRun(spark, run_id, log, tuple(checks), tasks, places)


def begin_stream(spark: SparkSession, state: str, run_id: str, writes: Sequence[Write], job: str) -> Journal:
    """The journal of a stream, which stages nothing itself: it shows others that the stream is running. Raises PEN5007
    where it is already."""
    refuse_second_run(spark, state, run_id, writes, job)
    log = journal(spark, state, run_id)
    mark = owner.with_jvm(owner.this_process(), _jvm_pid(spark))
    log.begin(mark, {write.id: write.connector.name for write in writes}, job)
    return log


def refuse_second_run(spark: SparkSession, state: str, run_id: str, writes: Sequence[Write], job: str) -> None:
    """Raise PEN5007 if another process is running this job: both would write the same targets."""
    ids = {write.id for write in writes}
    for log in open_journals(spark, state):
        recorded = log.read() if log.run_id != run_id else None
        if recorded is None or recorded.job != job or not ids & recorded.writes.keys():
            continue
        if recorded.is_alive and not owner.is_this_process(recorded.mark):
            message = f"the job `{job}` is already running: run `{log.run_id}`, {owner.describe(recorded.mark)}"
            help = (
                "wait until it has ended, or stop that process: what it staged is then removed; where it is gone for "
                f"certain, `penstock runs --forget {log.run_id}` dismisses it and changes no target"
            )
            raise run_error("PEN5007", message, None, help, (f"its journal is {log.folder}",))


def refuse_unfinished(spark: SparkSession, state: str, job: str, nodes: Collection[str]) -> None:
    """Raise PEN5007 where a run that reads these incremental sources has begun to commit and cannot be finished now:
    their watermarks are about to move, and the rows would be read again."""
    for log in open_journals(spark, state) if nodes else ():
        recorded = log.read()
        if recorded and recorded.job == job and not set(nodes).isdisjoint(each.node for each in recorded.watermarks):
            message = f"run `{log.run_id}` has begun to commit what it read incrementally, and is not finished"
            raise run_error("PEN5007", message, None, f"finish it by `penstock run --resume {log.run_id}`")


def committed_writes(spark: SparkSession, state: str, run_id: str) -> frozenset[str]:
    """The ids of the writes that a run of this id has committed; a rerun does the rest."""
    recorded = journal(spark, state, run_id).read()
    return recorded.done if recorded is not None else frozenset()


def stage(spark: SparkSession, run: OpenRun, write: Write, df: DataFrame, nodes: Iterable[AnyNode] = ()) -> None:
    """Write the rows where readers do not see them; may be called again for a retry, and from any thread.

    `nodes` are the nodes whose work this is: an error is reported at the one that it came from. Raises PEN5007 if the
    target is held by another run, or one has written to it since it was checked.
    """
    checked = next(check for check in run.checks if check.write is write)
    try:
        rows = _aligned(df.drop(ROW_KIND) if write.drops_row_kind else df, checked)
        staged = write.connector.stage(spark, rows, run.tasks[write.id], run.places[write.id])
        _refuse_changed_target(run, checked)
    except SPARK_ERRORS as error:
        raise as_run_error(error, write, nodes) from error
    except OSError as error:
        raise unwritable(error, write) from error
    with run.lock:
        run.journal.staged(write.id, staged)
        run.places[write.id] = staged
        run.staged.add(write.id)


def staged_rows(spark: SparkSession, run: OpenRun, writes: Iterable[Write]) -> dict[AnyNode, DataFrame]:
    """The staged rows of nodes whose rules are checked on them."""
    judged = [write for write in writes if staged_rules(write)]
    found = [
        (write.input, write.connector.staged_rows(spark, run.tasks[write.id], run.places[write.id])) for write in judged
    ]
    return {node: df for node, df in found if df is not None}


def commit_all(spark: SparkSession, run: OpenRun, watermarks: Sequence[Watermark] = ()) -> tuple[Diagnostic, ...]:
    """Decide, then commit the staged writes in the order of the job; those never staged are left as they are.

    Commits that a target may refuse are started before the decision: if one is refused, nothing has changed and the
    caller aborts. They are finished first, since they hold locks. A failure after the decision leaves the journal open:
    the run is finished by `resume`. Returns warnings (PEN5014) of maintenance that failed when the run had ended.
    `watermarks` move when all is committed; raises PEN5007 if another run has moved one.
    """
    writes = {check.write.id: check.write for check in run.checks if check.write.id in run.staged}
    staged = (StagedWrite(write_id, write.connector, run.places[write_id]) for write_id, write in writes.items())
    groups = tuple(commit_groups(staged))
    refuse_moved(run.journal.files, run.journal.state, watermarks)
    pending = _begin_commits(spark, groups, writes)
    try:
        run.journal.decide(watermarks)
    except OSError as error:
        cancel(pending)
        raise _unjournaled(run, error) from error
    for group in finishing_first(groups, pending):
        write = writes[group[0].write_id]
        try:
            commit_group(spark, group, run.journal.committed, pending)
        except SPARK_ERRORS as error:
            raise _unfinished(run.run_id, as_run_error(error, write)) from error
        except PenstockError as error:
            raise _unfinished(run.run_id, error) from error
        except OSError as error:
            raise _unfinished(run.run_id, unwritable(error, write)) from error
    _acknowledge(spark, run, writes.values())
    try:
        move(run.journal.files, run.journal.state, watermarks)
        run.journal.end(RunOutcome.FINISHED)
    except OSError as error:
        raise _unfinished(run.run_id, _unjournaled(run, error)) from error
    return tuple(_maintain(spark, run, writes.values()))


def note_positions(run: OpenRun, positions: Mapping[Scan, Staged]) -> None:
    """Record what was read of sources that are notified after the commit; again after a retry."""
    for scan, position in positions.items():
        run.journal.read_from(scan.id, scan.connector.name, position)
    with run.lock:
        run.positions.update(positions)


def _acknowledge(spark: SparkSession, run: OpenRun, writes: Iterable[Write]) -> None:
    read = {node for write in writes for node in below(write)}
    for scan, position in run.positions.items():
        if scan not in read:
            continue
        try:
            scan.connector.acknowledge(spark, position)
            run.journal.acknowledged(scan.id)
        except SPARK_ERRORS as error:
            raise _unfinished(run.run_id, as_run_error(error, scan)) from error
        except PenstockError as error:
            raise _unfinished(run.run_id, error) from error


def _maintain(spark: SparkSession, run: OpenRun, writes: Iterable[Write]) -> Iterator[Diagnostic]:
    for write in writes:
        try:
            write.connector.maintain(spark, run.places[write.id])
        except CONNECTOR_ERRORS as error:
            message = (
                f"the rows of `{write.name}` are committed, but the maintenance of its target failed: {reason(error)}"
            )
            yield Diagnostic("PEN5014", message, write.options.span("after_commit"), None, Severity.WARNING)


def _begin_commits(
    spark: SparkSession, groups: Iterable[tuple[StagedWrite, ...]], writes: Mapping[str, Write]
) -> Pending:
    """Do the steps that targets may refuse, while the run can still be rolled back."""
    pending: Pending = {}
    for group in groups:
        try:
            begin_commit(spark, group, pending)
        except BaseException as error:
            cancel(pending)
            if isinstance(error, SPARK_ERRORS):
                raise as_run_error(error, writes[group[0].write_id]) from error
            raise
    return pending


def abort(spark: SparkSession, run: OpenRun, writes: Iterable[Write]) -> None:
    """Remove what these writes staged, before the others are committed."""
    for write in writes:
        write.connector.abort(spark, run.places[write.id])
        run.staged.discard(write.id)


def abort_all(spark: SparkSession, run: OpenRun) -> tuple[Diagnostic, ...]:
    """Remove everything that was staged; the targets are unchanged.

    Gives warnings (PEN5011) of what cannot be removed: the run then stays open, and the next one or `resume` ends it.
    It does not raise such errors, which would hide the error for which the run is aborted.
    """
    left: list[Diagnostic] = []
    for check in run.checks:
        try:
            check.write.connector.abort(spark, run.places[check.write.id])
        except CONNECTOR_ERRORS as error:
            left.append(_left(run.run_id, check.write.connector.name, error))
    if not left:
        try:
            run.journal.end(RunOutcome.ROLLED_BACK)
        except OSError as error:
            left.append(_left(run.run_id, "the journal", error))
    return tuple(left)


def resume(spark: SparkSession | None, state: str, run_id: str) -> RunOutcome:
    """End a killed run: finish it where it had decided to commit, else roll it back.

    Raises PEN5008 if there is no such run or it has ended, PEN5007 if it lives, and a `RunError` with all that
    keeps it from being ended: what could be done of it is done.
    """
    recorded = journal(spark, state, run_id).read()
    if recorded is None:
        known = [log.run_id for log in open_journals(spark, state) if _is_open(log.read())]
        help = f"runs that can be resumed: {', '.join(known)}" if known else "no run can be resumed"
        raise run_error("PEN5008", f"no run `{run_id}` in `{state}`", None, help)
    if recorded.outcome is not None:
        raise run_error("PEN5008", f"run `{run_id}` has ended: it was {recorded.outcome.value}")
    if recorded.is_alive and not owner.has_died(recorded.mark):
        help = f"where that process is gone for certain, `penstock runs --forget {run_id}` dismisses the run"
        raise run_error("PEN5007", f"run `{run_id}` is still running: {owner.describe(recorded.mark)}", None, help)
    return _end(spark, journal(spark, state, run_id), recorded)


def recover(spark: SparkSession, state: str) -> tuple[Diagnostic, ...]:
    """End all killed runs of this state directory whose connectors this session has.

    Gives warnings of those that cannot be ended, or only by the user (PEN5010): they stay as they are, and keep no
    other run back.
    """
    warnings: list[Diagnostic] = []
    for log in open_journals(spark, state):
        recorded = log.read()
        if recorded is None or not _is_open(recorded) or not owner.has_died(recorded.mark):
            continue
        if _has_jars(spark, log, recorded):
            try:
                _end(spark, log, recorded)
            except RunError as error:
                warnings += [replace(diagnostic, severity=Severity.WARNING) for diagnostic in error.diagnostics]
    return tuple(warnings)


def connectors_to_recover(state: str) -> Mapping[Connector, tuple[str, ...]]:
    """The connectors of killed runs in a local state directory, and the jars with which a session can end them."""
    needed: dict[Connector, tuple[str, ...]] = {}
    for log in open_journals(None, state):
        recorded = log.read()
        if recorded is not None and _is_open(recorded) and owner.has_died(recorded.mark):
            for connector, jars in _needed_jars(log, recorded):
                needed[connector] = (*needed.get(connector, ()), *jars)
    return needed


def _needed_jars(log: Journal, recorded: Recorded) -> Iterator[tuple[Connector, tuple[str, ...]]]:
    """The installed connectors of a run, each with the jars that are needed to end its reads and writes."""
    for write_id, name in recorded.writes.items():
        sink = connectors.sink(name)
        if sink is None:
            continue
        jars = sink.maven
        if recorded.has_place(write_id):
            with suppress(RunError):  # unreadable steps are reported when the run is ended
                jars = sink.staged_jars(_staged_write(log, recorded, write_id).staged)
        yield sink, jars
    for name in recorded.unacknowledged.values() if recorded.is_decided else ():
        source = connectors.source(name)
        if source is not None:
            yield source, source.maven


def _is_open(recorded: Recorded | None) -> bool:
    return recorded is not None and recorded.outcome is None


def _end(spark: SparkSession | None, log: Journal, recorded: Recorded) -> RunOutcome:
    """End every write that can be ended; raises a `RunError` with the errors of the others, and leaves the run open."""
    diagnostics = Diagnostics()
    to_commit: list[StagedWrite] = []
    for write_id, name in recorded.writes.items():
        if recorded.has_place(write_id) and not recorded.is_committed(write_id):
            with _collected(diagnostics, log, name):
                write = _staged_write(log, recorded, write_id)
                if recorded.is_decided and recorded.is_staged(write_id):
                    to_commit.append(write)
                else:
                    write.sink.abort(spark, write.staged)  # type: ignore[arg-type]
    for group in commit_groups(to_commit):
        with _collected(diagnostics, log, group[0].sink.name):
            commit_group(spark, group, log.committed)
    for scan_id, name in recorded.unacknowledged.items() if recorded.is_decided else ():
        with _collected(diagnostics, log, name):
            source = connectors.source(name)
            if source is not None and source.position_type is not None:
                source.acknowledge(spark, recorded.position(scan_id, source.position_type))  # type: ignore[arg-type]
                log.acknowledged(scan_id)
    if diagnostics.has_errors:
        raise RunError(diagnostics)
    outcome = RunOutcome.FINISHED if recorded.is_decided else RunOutcome.ROLLED_BACK
    move(log.files, log.state, recorded.watermarks)
    log.end(outcome)
    return outcome


@contextmanager
def _collected(diagnostics: Diagnostics, log: Journal, name: str) -> Iterator[None]:
    """Collect the error of a write, so that the others are still ended."""
    try:
        yield
    except PenstockError as error:
        diagnostics.extend(error.diagnostics)
    except (*SPARK_ERRORS, OSError) as error:
        help = f"{_ways_to_end(log.run_id)}; until then only some of its sinks may have the new rows"
        message = f"run `{log.run_id}`, which was interrupted, cannot be ended (`{name}`): {reason(error)}"
        diagnostics.error("PEN5005", message, None, help)


def _staged_write(log: Journal, recorded: Recorded, write_id: str) -> StagedWrite:
    name = recorded.writes[write_id]
    sink = connectors.sink(name)
    if sink is None:
        raise run_error("PEN5008", f"run `{log.run_id}` wrote to `{name}`, a connector that is not installed")
    return StagedWrite(write_id, sink, recorded.place(write_id, sink.staged_type))


def _left(run_id: str, what: str, error: BaseException) -> Diagnostic:
    message = f"what {what} staged in run `{run_id}` cannot be removed: {reason(error)}"
    help = f"the next run removes it, or `penstock run --resume {run_id}`; the target is as it was"
    return Diagnostic("PEN5011", message, None, help, Severity.WARNING)


def _has_jars(spark: SparkSession, log: Journal, recorded: Recorded) -> bool:
    loaded = spark.conf.get("spark.jars.packages", "") or ""
    needed = dict(_needed_jars(log, recorded))
    is_installed = all(connectors.sink(name) is not None for name in recorded.writes.values())
    return is_installed and all(jar in loaded for jars in needed.values() for jar in jars if "?" not in jar)


def _ways_to_end(run_id: str) -> str:
    return (
        f"`penstock run --resume {run_id}` finishes it; where it cannot, `penstock runs --forget {run_id}` dismisses "
        "it and leaves every target as it is"
    )


def _unfinished(run_id: str, error: PenstockError) -> RunError:
    help = f"the run has begun to commit; finish it by `penstock run --resume {run_id}`"
    return RunError([replace(diagnostic, help=diagnostic.help or help) for diagnostic in error.diagnostics])


def _unjournaled(run: OpenRun, error: OSError) -> RunError:
    return run_error("PEN5005", f"the journal `{run.journal.folder}` cannot be written: {error.strerror or error}")


def _task(write: Write, run_id: str) -> WriteTask:
    return WriteTask(
        write.options, write.table, write.schema_save_mode, write.data_save_mode, write.write_mode, run_id, write.id
    )


def _obstacles(write: Write, state: TargetState, actions: tuple[Action, ...]) -> Iterable[Diagnostic]:
    if Action.FAIL_MISSING in actions:
        help = "schema_save_mode = CREATE_SCHEMA_WHEN_NOT_EXIST"
        yield Diagnostic("PEN4006", f"the target of `{write.name}` does not exist", write.options.span("path"), help)
    if Action.FAIL_HAS_ROWS in actions:
        help = "data_save_mode = APPEND_DATA adds the rows to those"
        yield Diagnostic(
            "PEN4007", f"the target of `{write.name}` already holds rows", write.options.span("path"), help
        )
    target = _kept_table(state, actions)
    if target is not None and not write.table.is_open:
        evolution = str(write.options.get("schema_evolution") or "fail")
        for problem in fits(write.table.schema, target.schema, evolution):
            help = _remedy(write, target, problem)
            yield Diagnostic("PEN4003", f"rows of `{write.name}` do not fit its target: {problem}", write.span, help)


def _remedy(write: Write, target: CatalogTable, problem: Problem) -> str:
    """How the rows or the target could be changed so that they fit, without loss of rows."""
    option = next((spec for spec in write.connector.sink_options if spec.name == "schema_evolution"), None)
    for evolution in option.choices if option else ():
        if problem not in fits(write.table.schema, target.schema, evolution):
            return f"schema_evolution = {evolution} changes the target and keeps its rows"
    if target.column(problem.column) is None:
        return f"leave `{problem.column}` out of the query, or add the column to the target first"
    return f"cast `{problem.column}` in the query to the target's type"


def _refuse_changed_target(run: OpenRun, checked: SinkCheck) -> None:
    """The target is this run's alone once its rows are staged; a run that ended before that may have written to it."""
    write = checked.write
    state = write.connector.inspect(run.spark, run.tasks[write.id])
    actions = plan_actions(write.schema_save_mode, write.data_save_mode, write.write_mode, state)
    if actions != checked.actions or _kept_table(state, actions) != _kept_table(checked.state, checked.actions):
        message = f"the target of `{write.name}` has changed since this run checked it: another writer was faster"
        raise run_error("PEN5007", message, write.options.span("path"), "run the job again")


def _kept_table(state: TargetState, actions: tuple[Action, ...]) -> CatalogTable | None:
    """The schema that the rows must fit, if the target is kept."""
    keeps = Action.KEEP in actions or Action.NO_SCHEMA_CHANGE in actions
    return state.table if keeps and state.exists else None


def _aligned(df: DataFrame, checked: SinkCheck) -> DataFrame:
    """The rows in the kept target's types and order, so that its files stay of one schema; new columns come last."""
    target = _kept_table(checked.state, checked.actions)
    if target is None:
        return df
    names = {name.lower(): name for name in df.columns}
    is_widened = checked.write.options.get("schema_evolution") == SchemaEvolution.WIDEN.value
    columns = []
    for column in target.columns:
        name = names.pop(column.name.lower(), None)
        if name is None and checked.write.connector.sink_capabilities.fills_columns:
            continue
        value = quote(name) if name else "null"
        given = checked.write.table.column(name) if name and is_widened else None
        type = given.type if given is not None and widens(column.type, given.type) else column.type
        columns.append(f"cast({value} as {to_ddl(type)}) as {quote(column.name)}")
    return df.selectExpr(*columns, *(quote(name) for name in names.values()))


def _jvm_pid(spark: SparkSession) -> int:
    return int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
