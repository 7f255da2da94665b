"""The Spark application for jobs, dry runs and resumed runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.secret_names import redacted_mapping
from catalog.tables.savemode import WritePreview
from connectors.interface.base import Connector
from connectors.interface.incremental import Since
from connectors.shared.staged import Credentials
from connectors.storage.object_store import store_jars
from engine.compile import Compiled
from engine.job.model.job import Accelerator, Tuning
from engine.job.model.shared_jars import JARS, refuse_two_versions, shared_jars
from engine.job.options.env import is_of_application
from engine.plan.input_size import are_small
from engine.plan.nodes import Scan, Write
from engine.plan.query_jars import jars_of_queries
from engine.plan.required_packages import refuse_missing_packages
from engine.spark.failures.errors import SPARK_ERRORS
from engine.spark.session import end_java, has_session, open_session
from engine.spark.starting.hadoop import reduce_overhead
from engine.spark.writing import recover
from engine.spark.writing.sink_checks import previews
from engine.state.incremental_reads import JobFile, reads_of
from engine.state.journal import RunOutcome
from engine.state.layout import layout_at, local_layout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Announce: TypeAlias = Callable[[Sequence[str]], None]
"""Called with the Maven coordinates of the jars that Spark fetches if they are not on this machine."""


def _silently(jars: Sequence[str]) -> None:
    pass


@contextmanager
def application(
    jobs: Sequence[Compiled], master: str | None = None, *, announce: Announce = _silently
) -> Iterator["SparkSession"]:
    """A session with the jars and settings of all the jobs, and of the killed runs that they will end.

    It is stopped at the end, unless it was running before; `announce` is called before it is started. Raises `JobError`
    PEN2014 if two jobs want different settings of the application.
    """
    refuse_differing_settings(jobs)
    settings: dict[str, str] = {}
    for job in reversed(jobs):  # the first job's settings win; each pipeline also has those of its own job
        settings.update(job.plan.env.spark)
    if (shared := shared_jars(job.plan.env for job in jobs)) is not None:
        settings[JARS] = shared
    nodes = [node for job in jobs for node in job.plan.nodes() if isinstance(node, Scan | Write)]
    refuse_missing_packages(nodes)
    jars_for_recovery = dict(needs for job in jobs for needs in _to_recover(job.state_dir).items())
    used = [*(node.connector for node in nodes), *jars_for_recovery]
    jars = [jar for node in nodes for jar in node.connector.jars(node.options)]
    jars += [jar for needed in jars_for_recovery.values() for jar in needed]
    jars += [jar for job in jobs for jar in jars_of_queries(job.plan.nodes())]
    is_small, was_running = are_small(job.plan for job in jobs), has_session()
    tuning = frozenset.intersection(*(job.plan.env.tuning for job in jobs))
    is_accelerated = any(job.plan.env.accelerator is Accelerator.COMET for job in jobs)
    with _session(
        jobs[0].plan.env.name, settings, used, jars, master, announce=announce, is_small=is_small,
        late_compiler=Tuning.LATE_COMPILER in tuning,
        accelerator=Accelerator.COMET if is_accelerated else Accelerator.NONE,
    ) as spark:  # fmt: skip
        if not was_running and Tuning.HADOOP in tuning:
            reduce_overhead(spark)
        yield spark


def refuse_differing_settings(jobs: Sequence[Compiled]) -> None:
    """Report the settings of one application that two jobs want different: only the first would take effect. Jars of
    several jobs are put together, but for two versions of one."""
    diagnostics = Diagnostics()
    first: dict[str, Compiled] = {}
    for job in jobs:
        env = job.plan.env
        for name in filter(is_of_application, env.spark.keys() - {JARS}):
            other = first.setdefault(name, job).plan.env
            if env.spark[name] != other.spark[name]:
                value, others = (redacted_mapping(settings.spark)[name] for settings in (env, other))
                message = f"`{name}` is `{value}`, but `{others}` in the job `{other.name}`"
                place = other.places.get(name)
                notes = (f"the other value is at {place.file}:{place.line}:{place.column}",) if place else ()
                help = "jobs of one run share one Spark application: give both the same value, or run them one by one"
                diagnostics.error("PEN2014", message, env.places.get(name), help, notes)
    refuse_two_versions([job.plan.env for job in jobs], diagnostics)
    diagnostics.raise_errors()


def dry_run(spark: "SparkSession", compiled: Compiled) -> Mapping[str, WritePreview]:
    """What each write, by its id, finds at its target now, and what its commit would do there."""
    return previews(spark, compiled.plan.writes)


def starts_of(spark: "SparkSession | None", compiled: Compiled, *, is_full: bool = False) -> Mapping[str, Since]:
    """Where a run would begin to read the job's incremental sources."""
    layout = layout_at(spark, compiled.state_dir)
    reads = reads_of(compiled.plan, layout, JobFile.of(compiled.plan.env.name, compiled.path), is_full=is_full)
    return {read.scan.name: read.since for read in reads}


def resume(
    state: str, run_id: str, master: str | None = None, credentials: Credentials = recover.NO_CREDENTIALS
) -> RunOutcome:
    """End a run that was killed: finish it where it had begun to commit, else remove what it staged."""
    is_remote = local_layout(state) is None  # only a session could read there which connectors are needed
    used = _all_sinks() if is_remote else _to_recover(state)
    jars = [jar for needed in used.values() for jar in needed]
    with _session("penstock resume", {}, used, jars, master) as spark:
        return recover.resume(spark, layout_at(spark, state), run_id, credentials)


@contextmanager
def session_at(path: str) -> Iterator["SparkSession"]:
    """A session that reaches the file system of a path, for commands that need no more."""
    with _session("penstock", {}, (), store_jars(path), "local[1]") as spark:
        yield spark


def clean_up_cancelled(run_id: str, state: str, master: str) -> bool:
    """Remove what a cancelled run staged although some of its tasks have not ended: first their Java process is ended.

    Call it after `application`. Returns False where the next run must do it: the tasks run on other machines, or what
    they wrote can be removed only with Spark.
    """
    layout = local_layout(state)
    return layout is not None and master.startswith("local") and end_java() and recover.roll_back(layout, run_id)


@contextmanager
def _session(
    name: str,
    settings: Mapping[str, str],
    used: Iterable[Connector],
    jars: Iterable[str],
    master: str | None,
    *,
    announce: Announce = _silently,
    is_small: bool = False,
    late_compiler: bool = False,
    accelerator: Accelerator = Accelerator.NONE,
) -> Iterator["SparkSession"]:
    named = {connector.name: connector for connector in used}.values()
    required = {key: value for connector in named for key, value in connector.session_settings.items()}
    was_running = has_session()
    jars = tuple(dict.fromkeys(jars))
    if not was_running:
        announce(jars)
    settings = {**settings, **({"spark.master": master} if master else {})}
    spark = open_session(
        name, settings, jars, required, for_small_jobs=is_small, late_compiler=late_compiler, accelerator=accelerator
    )
    try:
        yield spark
    finally:
        if not was_running:
            with suppress(*SPARK_ERRORS, ConnectionError):  # Java has ended, as when a signal went to all processes
                spark.stop()


def _to_recover(state: str) -> Mapping[Connector, tuple[str, ...]]:
    """The connectors of killed runs and their jars; none for a state directory elsewhere than on this disk."""
    layout = local_layout(state)
    return {} if layout is None else recover.connectors_to_recover(layout)


def _all_sinks() -> Mapping[Connector, tuple[str, ...]]:
    return {sink: sink.maven for name in connectors.sink_names() if (sink := connectors.sink(name))}
