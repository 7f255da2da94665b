"""Job file -> job -> plan -> optimized plan: the first step of every command that reads a job."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity
from catalog.options import Options
from catalog.tables.table import Column
from catalog.types.datatypes import has_unknown
from connectors.interface.source_abilities import SupportsNewColumns
from engine.job.load import load
from engine.job.model.job import Block, Job
from engine.job.model.project_defaults import NO_PROJECT, ProjectDefaults
from engine.optimizer import optimize
from engine.plan.building.build_plan import build
from engine.plan.chosen_writes import with_chosen_writes
from engine.plan.nodes import Plan, Query, Scan


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings from the command line.

    `strict`: a column whose type cannot be proved is an error, and so is a source without files. `reads_secrets`:
    passwords are read and decrypted, which only a run needs. `seatunnel_line`: 2 or 3, which line of its versions
    `seatunnel` follows. `only`, `but`: the tables to write, and
    those to leave out. `project`: what the jobs have from their project.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    seatunnel: bool = False
    seatunnel_line: int = 2
    strict: bool = False
    disabled_rules: tuple[str, ...] = ()
    reads_secrets: bool = False
    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    project: ProjectDefaults = NO_PROJECT


@dataclass(frozen=True, eq=False, slots=True)
class Compiled:
    """A job and its plan, as built and as optimized."""

    path: Path
    job: Job
    built: Plan
    plan: Plan
    warnings: tuple[Diagnostic, ...]
    settings: Settings = field(default_factory=Settings)


def load_job(path: Path, settings: Settings, diagnostics: Diagnostics) -> Job | None:
    """The job of a file, read as the settings say; None if its text cannot be read at all."""
    return load(
        path,
        diagnostics,
        variables=settings.variables,
        seatunnel=settings.seatunnel,
        seatunnel_line=settings.seatunnel_line,
        reads_secrets=settings.reads_secrets,
        project=settings.project,
    )


def compile_job(path: Path, settings: Settings, diagnostics: Diagnostics) -> Compiled | None:
    """The plan of a job file; None if it has an error, all of which are then in `diagnostics`."""
    own = Diagnostics()
    job = load_job(path, settings, own)
    if job and job.env.dialect == "spark":
        note_compat(job, own)
    compiled = _compiled(path, job, settings, own) if job else None
    diagnostics.extend(own)
    return compiled


def with_columns(compiled: Compiled, scan: Scan, columns: Sequence[Column]) -> Compiled:
    """The job as if a source declared these columns, too. Raises a `JobError` where a step cannot take them."""
    assert isinstance(scan.connector, SupportsNewColumns), f"`{scan.name}` follows the schema of its records"
    options = scan.connector.with_columns(scan.options, scan.table, columns)
    blocks = tuple(_with_options(block, scan.options, options) for block in compiled.job.blocks)
    assert blocks != compiled.job.blocks, f"{scan.name} is a block of the job"
    diagnostics = Diagnostics()
    changed = _compiled(compiled.path, replace(compiled.job, blocks=blocks), compiled.settings, diagnostics)
    diagnostics.raise_errors()
    assert changed is not None, "has no errors"
    return changed


def _with_options(block: Block, before: Options, after: Options) -> Block:
    if block.options is before:
        return replace(block, options=after)
    if all(table.options is not before for table in block.tables):
        return block
    tables = (replace(table, options=after) if table.options is before else table for table in block.tables)
    return replace(block, tables=tuple(tables))


def _compiled(path: Path, job: Job, settings: Settings, own: Diagnostics) -> Compiled | None:
    """The plan of a job; `own` has the diagnostics of reading it."""
    built = build(job, own)
    if built and (settings.only or settings.but):
        built = with_chosen_writes(built, settings.only, settings.but, own)
    if settings.strict:
        own.items = [_strict(diagnostic) for diagnostic in own]
    if built and settings.strict:
        refuse_unknown_types(built, own)
    if built is None or own.has_errors:
        return None
    plan = optimize(built, disabled=settings.disabled_rules)
    return Compiled(path, job, built, plan, tuple(own), settings)


def _strict(diagnostic: Diagnostic) -> Diagnostic:
    """With `--strict`, missing files of a source, or files that differ from the schema lock, are errors."""
    return replace(diagnostic, severity=Severity.ERROR) if diagnostic.code in ("PEN4009", "PEN4030") else diagnostic


_SEATUNNEL_MARKS: Final = re.compile(
    r"\b(?:source_table_name|result_table_name|execution\.parallelism|from\s+dual)\b", re.I
)
_SEATUNNEL_WORDS: Final = ("_table_name", "execution.parallelism", "dual")
_CALLS_THAT_DIFFER: Final = re.compile(
    r"\b(?:[lr]?trim\s*\([^()]*,|datediff\s*\(|dateadd\s*\(|dayname\s*\(|monthname\s*\(|insert\s*\(|week\s*\("
    r"|formatdatetime\s*\(|parsedatetime\s*\(|extract\s*\(\s*dayofweek|cast\s*\([^()]*as\s+timestamp\s*\))",
    re.I,
)


def note_compat(job: Job, diagnostics: Diagnostics) -> None:
    """Warn where a job looks like Apache SeaTunnel's and calls functions that mean something else there."""
    folded = job.source.text.lower()
    if not any(word in folded for word in _SEATUNNEL_WORDS):  # most jobs: faster than the pattern
        return
    if _SEATUNNEL_MARKS.search(job.source.text) and (call := _CALLS_THAT_DIFFER.search(job.source.text)):
        diagnostics.warning(
            "PEN2031",
            f"the job looks like Apache SeaTunnel's, whose `{call.group().partition('(')[0].strip()}` is not Spark's",
            job.source.span(*call.span()),
            "`--compat seatunnel`, or `env { sql.dialect = seatunnel }`, runs it as there",
        )


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
                        "PEN3014", message, node.span, "put a `cast` around it, or run without `--strict`"
                    )


def typed_columns(plan: Plan) -> tuple[int, int]:
    """How many of the queries' output columns have a known type, and how many there are."""
    types = [column.type for node in plan.nodes() if isinstance(node, Query) for column in node.table.columns]
    return sum(not has_unknown(type) for type in types), len(types)
