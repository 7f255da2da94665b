"""Makes one job of several: their writes in one plan, so that one journal decides for all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Compiled
from engine.job.model.job import Env
from engine.optimizer import optimize
from engine.plan.ids import with_ids
from engine.plan.intervals.interval_writes import has_target
from engine.plan.nodes import AnyNode, Plan, Scan, Watermark, Write, rewrite
from engine.state.incremental_reads import incremental_scans
from engine.together.inner_reads import with_inner_reads

_OF_ROWS = "spark.sql."


def group_of(jobs: Sequence[Compiled]) -> Compiled:
    """The jobs as one, in their order: each after those that it needs.

    A source that reads what another job of the group writes reads the rows that are to be written. Raises a `JobError`
    with what keeps a job from being committed with others (PEN1660), and with such sources that would read something
    else (PEN1661).
    """
    diagnostics = Diagnostics()
    first = jobs[0]
    for job in jobs:
        for problem in _problems(job, first):
            own = job.plan.env.options.span() if job.plan.env.options else None
            place = own or job.job.source.span(0, 0)
            message, help = problem
            diagnostics.error(
                "PEN1660", f"`{job.plan.env.name}` cannot be committed with others: {message}", place, help
            )
    diagnostics.raise_errors()
    plan = Plan(_env(jobs), tuple(write for job in jobs for write in job.built.writes))
    plan = with_ids(_with_names(with_inner_reads(_with_names(plan), diagnostics)))
    diagnostics.raise_errors()
    warnings = tuple(warning for job in jobs for warning in job.warnings)
    optimized = optimize(plan, disabled=first.settings.disabled_rules)
    return replace(first, built=plan, plan=optimized, warnings=warnings)


def _problems(job: Compiled, first: Compiled) -> Iterator[tuple[str, str]]:
    """What is wrong with the job, and what to do."""
    env = job.plan.env
    alone = "leave it out of the group, and run it alone"
    if env.mode == "STREAMING":
        yield "it is a streaming job", alone
    if env.interval is not None:
        yield "its intervals are committed one by one", alone
    if incremental_scans(job.plan):
        yield "it has incremental sources", alone
    if env.failure_policy != "stop":
        yield f"`failure_policy = {env.failure_policy}` commits a part of a job", "failure_policy = stop"
    for write in job.plan.writes:
        if has_target(write.connector) and not write.connector.sink_capabilities.is_staged:
            yield f"`{write.connector.name}` writes its rows at once", "write them by a job of its own"
    if job.state_dir != first.state_dir:
        yield "it has a state directory of its own", "leave `state_dir` out of `env`, or name one by `--state-dir`"
    if env.accelerator is not first.plan.env.accelerator:
        yield f"its `accelerator` differs from that of `{first.plan.env.name}`", "name one by `--accelerator`"
    if env.dialect is not first.plan.env.dialect or _settings(env) != _settings(first.plan.env):
        name = first.plan.env.name
        yield f"its settings of Spark SQL differ from those of `{name}`", "set them for all jobs, in `penstock.conf`"


def _settings(env: Env) -> dict[str, str]:
    return {name: value for name, value in env.spark.items() if name.startswith(_OF_ROWS)}


def _env(jobs: Sequence[Compiled]) -> Env:
    envs = [job.plan.env for job in jobs]
    spark = {name: value for env in reversed(envs) for name, value in env.spark.items()}
    listeners = tuple(dict.fromkeys(listener for env in envs for listener in env.listeners))
    name = ", ".join(env.name for env in envs)
    return replace(
        envs[0], name=name, spark=spark, listeners=listeners, parallelism=max(env.parallelism for env in envs),
        tuning=frozenset.intersection(*(env.tuning for env in envs)),
    )  # fmt: skip


def _with_names(plan: Plan) -> Plan:
    """The plan with unique names of nodes: those of the jobs may be equal."""
    nodes, writes = set[str](), set[str]()

    def rename(node: AnyNode) -> AnyNode:
        taken = writes if isinstance(node, Write) else nodes
        base = f"{node.input.name}_watermark" if isinstance(node, Watermark) else node.name
        numbered = (base, *(f"{base}_{number}" for number in range(2, len(taken) + 3)))
        name = next(candidate for candidate in numbered if candidate not in taken)
        taken.add(name)
        if name == node.name:
            return node
        written = node.written_name if isinstance(node, Scan) else node.written
        return replace(node, name=name, written=written)

    return rewrite(plan, rename)
