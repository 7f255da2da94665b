"""Reads from another environment what a run does not make in its own: one changed job without all those before it."""

from argparse import Namespace
from collections.abc import Collection
from dataclasses import dataclass, replace

from catalog.diagnostics.diagnostic import Diagnostics, job_error
from connectors.storage.paths import local_path
from engine.compile import Compiled
from engine.job.model.settings import Settings
from engine.optimizer import optimize
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.ids import with_ids
from engine.plan.nodes import AnyNode, Scan, rewrite
from engine.project.compile_project import CompiledProject, compile_project, compile_with
from engine.project.compiled_jobs import of_all_jobs
from engine.project.read_project import read_project
from engine.project.recorded_state import RecordedState, read_state
from engine.state.layout import layout_at


@dataclass(frozen=True, eq=False, slots=True)
class Deferral:
    """`project`: the project in the other environment; `settings`: those to compile jobs in it. `datasets`: what is
    read there, as this environment calls it, with the job that writes it."""

    project: CompiledProject
    settings: Settings
    datasets: dict[Dataset, str]

    @classmethod
    def to(
        cls, environment: str, here: CompiledProject, selected: Collection[str], built: RecordedState | None,
        settings: Settings,
    ) -> "Deferral":  # fmt: skip
        """Defer what jobs write that are not `selected`, and have not been built here. Raises a `JobError` PEN1662
        where both environments are one, and one where the other cannot be compiled."""
        if environment == here.project.environment:
            message = f"`{environment}` is the environment of this run: there is nothing to defer to"
            raise job_error("PEN1662", message, None, "`--env` names the environment that is written")
        project = read_project(
            here.project.root, environment, settings.variables, masks=settings.masks,
            allows_outside=settings.allows_outside, limits_process=settings.limits_process,
        )  # fmt: skip
        there = replace(settings, project=project.defaults, interval=None)
        known = {} if built is None else built.jobs
        datasets = {
            write.dataset: job.name
            for job in here.jobs
            if job.name not in selected and job.name not in known
            for write in job.writes
        }
        return cls(compile_project(project, of_all_jobs(there), fingerprints=False), there, datasets)

    def apply(self, job: Compiled) -> Compiled:
        """The job with sources of the other environment, where it reads what is deferred. Raises a `JobError` PEN1662
        where it writes what the other environment has: a deferred run writes its own environment alone."""
        self._refuse_shared(job)
        if not any(self.deferred(node) for node in job.built.nodes()):
            return job
        found = Diagnostics()
        settings = replace(self.settings, interval=job.settings.interval)
        other = compile_with(job.path, settings, self.project.written, found)
        found.raise_errors()
        assert other is not None
        sources = {node.written_name: node for node in other.built.nodes() if isinstance(node, Scan)}

        def read(node: AnyNode) -> AnyNode:
            if not isinstance(node, Scan) or not self.deferred(node) or node.written_name not in sources:
                return node
            there = sources[node.written_name]
            return replace(node, connector=there.connector, options=there.options, table=there.table)

        built = with_ids(rewrite(job.built, read))
        return replace(job, built=built, plan=optimize(built, disabled=job.settings.disabled_rules))

    def deferred(self, node: AnyNode) -> str | None:
        """The job whose rows a source would read, if they are read in the other environment."""
        dataset = dataset_of(node) if isinstance(node, Scan) else None
        if dataset is None:
            return None
        return next((job for target, job in self.datasets.items() if target.holds(dataset.folder)), None)

    def names(self, jobs: Collection[Compiled]) -> tuple[str, ...]:
        """The jobs whose rows are read in the other environment, sorted."""
        found = (self.deferred(node) for job in jobs for node in job.built.nodes())
        return tuple(sorted({name for name in found if name is not None}))

    def _refuse_shared(self, job: Compiled) -> None:
        theirs = {write.dataset for other in self.project.jobs for write in other.writes}
        for write in job.built.writes:
            dataset = dataset_of(write)
            if dataset is not None and any(dataset.holds(other) or other.holds(dataset) for other in theirs):
                name = self.project.project.environment
                message = f"`{write.name}` writes `{write.target}`, which the environment `{name}` writes, too"
                help = "let a variable of the environment name the target; a deferred run writes its own alone"
                raise job_error("PEN1662", message, write.options.span("path") or write.span, help)


def deferral_of(arguments: Namespace, settings: Settings, here: CompiledProject, selected: Collection[str]) -> Deferral:
    """What `--defer` means for a command that works on the selected jobs."""
    state = arguments.state_dir or here.project.state_dir
    built = read_state(layout_at(None, state)) if local_path(state) is not None else None
    return Deferral.to(arguments.defer, here, selected, built, settings)
