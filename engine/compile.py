"""Job file -> job -> plan -> optimized plan: the first step of every command that reads a job."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity
from catalog.diagnostics.source import SourceFile
from catalog.limits import LimitError
from catalog.options import Options
from catalog.tables.table import Column
from catalog.types.datatypes import has_unknown
from connectors.interface.source_abilities import SupportsNewColumns
from engine.job.compat.seatunnel_marks import note_compat
from engine.job.load import bounded_by, load, located, read_file
from engine.job.model.job import Block, Job
from engine.job.model.project_defaults import NO_PROJECT
from engine.job.model.settings import Settings
from engine.optimizer import optimize
from engine.plan.building.build_plan import build
from engine.plan.chosen_writes import with_chosen_writes
from engine.plan.credentials import credentials_of
from engine.plan.meaning.plan_record import PlanRecord
from engine.plan.nodes import Plan, Query, Scan


@dataclass(frozen=True, eq=False, slots=True)
class Compiled:
    """A job and its plan, as built and as optimized."""

    path: Path
    job: Job
    built: Plan
    plan: Plan
    warnings: tuple[Diagnostic, ...]
    settings: Settings = field(default_factory=Settings)

    @property
    def meaning(self) -> PlanRecord:
        """What the job means, as the journal of a run records it."""
        return PlanRecord.of(self.built, is_part=bool(self.settings.only or self.settings.but))

    @property
    def state_dir(self) -> str:
        """Where runs of the job are recorded: the directory chosen for this run, else the job's own, else the default.

        Raises PEN5201 where an earlier version of Penstock recorded them relative to the current folder.
        """
        from engine.state.state_dir import state_dir  # imported here, because `validate` needs none of it

        return state_dir(self.settings.state_dir, self.path, self.plan.env.options)


@dataclass(frozen=True, eq=False, slots=True)
class BuiltJob:
    """A job as far as it could be read, and the plan of its intact blocks: those that can be read, whose queries have
    no error, and whose inputs are intact too."""

    job: Job
    plan: Plan


def compile_job(path: Path, settings: Settings, diagnostics: Diagnostics) -> Compiled | None:
    """The plan of a job file; None if it has an error, all of which are then in `diagnostics`."""
    source = None
    try:
        with bounded_by(path, settings):
            source = read_file(path, diagnostics, settings.read, allows_outside=settings.allows_outside)
    except LimitError as error:
        diagnostics.extend(located(error, path))
    return compile_text(source, settings, diagnostics) if source else None


def compile_text(source: SourceFile, settings: Settings, diagnostics: Diagnostics) -> Compiled | None:
    """The plan of a job's text, which need not be saved; None if it has an error, all of which are in `diagnostics`."""
    own, compiled = Diagnostics(), None
    try:
        with bounded_by(Path(source.path), settings):
            job = load(source, own, settings)
            compiled = compile_loaded(job, settings, own) if job else None
    except LimitError as error:
        own.extend(located(error, Path(source.path)))
    diagnostics.extend(own)
    return compiled


def compile_loaded(job: Job, settings: Settings, diagnostics: Diagnostics) -> Compiled | None:
    """The plan of a job that was read; None if it has an error, also one of those that are in `diagnostics`."""
    path = Path(job.source.path)
    try:
        with bounded_by(path, settings):
            built = _built_job(job, settings, diagnostics)
            return None if diagnostics.has_errors else _optimized(job, built.plan, settings, diagnostics)
    except LimitError as error:
        diagnostics.extend(located(error, path))
        return None


def build_text(source: SourceFile, settings: Settings, diagnostics: Diagnostics) -> BuiltJob | None:
    """What can be compiled of a job's text, also if it has errors, as an editor needs it; None if nothing can be read.

    All errors go to `diagnostics`.
    """
    own, built = Diagnostics(), None
    try:
        with bounded_by(Path(source.path), settings):
            job = load(source, own, settings)
            built = _built_job(job, settings, own) if job else None
    except LimitError as error:
        own.extend(located(error, Path(source.path)))
    diagnostics.extend(own)
    return built


def _built_job(job: Job, settings: Settings, own: Diagnostics) -> BuiltJob:
    if not job.env.dialect.is_seatunnel:
        note_compat(job, own)
    return BuiltJob(job, _built(job, settings, own))


def with_columns(compiled: Compiled, scan: Scan, columns: Sequence[Column]) -> Compiled:
    """The job as if a source declared these columns, too. Raises a `JobError` where a step cannot take them."""
    assert isinstance(scan.connector, SupportsNewColumns), f"`{scan.name}` follows the schema of its records"
    options = scan.connector.with_columns(scan.options, scan.table, columns)
    blocks = tuple(_with_options(block, scan.options, options) for block in compiled.job.blocks)
    assert blocks != compiled.job.blocks, f"{scan.name} is a block of the job"
    diagnostics = Diagnostics()
    job = replace(compiled.job, blocks=blocks)
    built = _built(job, compiled.settings, diagnostics)
    diagnostics.raise_errors()
    return _optimized(job, built, compiled.settings, diagnostics)


def _with_options(block: Block, before: Options, after: Options) -> Block:
    if block.options is before:
        return replace(block, options=after)
    if all(table.options is not before for table in block.tables):
        return block
    tables = (replace(table, options=after) if table.options is before else table for table in block.tables)
    return replace(block, tables=tuple(tables))


def _built(job: Job, settings: Settings, own: Diagnostics) -> Plan:
    """The plan of the blocks without errors; `own` has the diagnostics of reading the job."""
    plan = build(job, own)
    if not own.has_errors and (settings.only or settings.but):
        plan = with_chosen_writes(plan, settings.only, settings.but, own)
    own.items = [strict(diagnostic, settings, in_project=settings.project is not NO_PROJECT) for diagnostic in own]
    if settings.strict_types:
        refuse_unknown_types(plan, own)
    return plan


def _optimized(job: Job, built: Plan, settings: Settings, warnings: Diagnostics) -> Compiled:
    plan = optimize(built, disabled=settings.disabled_rules)
    if settings.reads_secrets:
        settings.credentials.update(credentials_of(built))
    return Compiled(Path(job.source.path), job, built, plan, tuple(warnings), settings)


def strict(diagnostic: Diagnostic, settings: Settings, *, in_project: bool = False) -> Diagnostic:
    """The diagnostic, an error if `--strict` makes one of such a warning. In a project, another job may write the
    missing files of a source: whoever compiles all its jobs decides."""
    codes = (*(_STRICT_TYPES if settings.strict_types else ()), *(_STRICT_DATA if settings.strict_data else ()))
    is_error = diagnostic.code in codes and not (in_project and diagnostic.code == "PEN4030")
    return replace(diagnostic, severity=Severity.ERROR) if is_error else diagnostic


_STRICT_TYPES: Final = ("PEN4501", "PEN4455")
"""Values that may not fit without loss, and rows that do not fit the target as it is."""
_STRICT_DATA: Final = ("PEN1602", "PEN4009", "PEN4030", "PEN4503")
"""Data that is not read, files that differ from the schema lock, missing files of a source, files of other columns than
the source's."""


def compile_jobs(paths: Iterable[Path], settings: Settings) -> tuple[Compiled, ...]:
    """The plans of several jobs; raises a `JobError` with the errors of all of them."""
    diagnostics = Diagnostics()
    compiled = [compile_job(path, settings, diagnostics) for path in paths]
    diagnostics.raise_errors()
    return tuple(job for job in compiled if job)


def refuse_unknown_types(plan: Plan, diagnostics: Diagnostics) -> None:
    """Report every output column of a query whose type is unknown."""
    for node in plan.nodes():
        if isinstance(node, Query):
            for column in node.table.columns:
                if has_unknown(column.type):
                    message = f"the type of `{column.name}`, a column of `{node.name}`, cannot be proved"
                    diagnostics.error(
                        "PEN3014", message, node.span, "put a `cast` around it, or run with `--strict=data` alone"
                    )


def typed_columns(plan: Plan) -> tuple[int, int]:
    """How many of the queries' output columns have a known type, and how many there are."""
    types = [column.type for node in plan.nodes() if isinstance(node, Query) for column in node.table.columns]
    return sum(not has_unknown(type) for type in types), len(types)
