"""`penstock schema diff`: how schemas changed, which jobs break, and what reads the column. Needs no Spark."""

import io
import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from catalog.diagnostics.diagnostic import Diagnostics, job_error
from catalog.masks import Masks
from catalog.reach import leads_out
from catalog.tables.evolution import Change, ChangeKind, diff
from catalog.tables.schema_lock import find_lock
from catalog.tables.table import CatalogTable, TableSchema
from engine.child_processes import in_folder
from engine.compile import Compiled, compile_job
from engine.job.find import find_jobs
from engine.job.load import load_file
from engine.job.model.settings import Settings
from engine.job.root import root_of
from engine.plan.building.build_plan import source_tables
from engine.plan.building.locked_schema import job_key, read_lock
from engine.plan.datasets import dataset_of
from engine.plan.lineage import readers
from engine.plan.nodes import Scan, Write
from engine.schema.git_changes import checked_revision, git_bytes, git_output
from engine.schema.lock_file import current_tables


@dataclass(frozen=True, slots=True)
class TableChange:
    """One change of a source's or sink's schema, and what reads the column."""

    job: str
    role: str
    name: str
    change: Change
    read_by: tuple[str, ...] = ()

    def __str__(self) -> str:
        weight = "breaking" if self.change.is_breaking else "additive"
        readers = f"; read by {', '.join(self.read_by)}" if self.read_by else ""
        return f"{self.job}: {self.role} {self.name}: {weight}: {self.change}{readers}"


@dataclass(frozen=True, slots=True)
class Report:
    """All changes. `broken` are the errors of jobs, whose schemas cannot be compared. `new` are jobs that had errors
    at the revision, or were not there."""

    changes: tuple[TableChange, ...]
    broken: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    @property
    def is_breaking(self) -> bool:
        return bool(self.broken) or any(change.change.is_breaking for change in self.changes)

    def lines(self) -> Iterator[str]:
        ordered = sorted(
            self.changes, key=lambda change: (change.job, change.role, change.name, not change.change.is_breaking)
        )
        yield from map(str, ordered)
        yield from self.broken
        yield from self.new
        if not self.changes and not self.broken:
            yield "no schema changed"


def since_locked(jobs: Iterable[Path], settings: Settings, diagnostics: Diagnostics) -> Report:
    """Compare the current columns of the sources with the lock."""
    changes: list[TableChange] = []
    for job in jobs:
        path = find_lock(job.absolute().parent)
        if path is None:
            raise job_error("PEN4009", f"there is no schema lock for `{job}`", None, "penstock schema sync")
        if leads_out(path, root_of(job.absolute())):
            raise job_error("PEN1602", f"`{path}` leads out of the project by a link, and is not read")
        lock, key = read_lock(path, diagnostics), job_key(path, job)
        locked = compile_job(job, settings, Diagnostics())
        for name, table in current_tables(job, settings, diagnostics):
            before = lock.sources.get((key, name), TableSchema(()))
            if before.columns:
                now = _with_locked_types(table, before).schema
                changes += _source_changes(str(job), name, before, now, locked)
    return Report(tuple(changes))


def _with_locked_types(table: CatalogTable, locked: TableSchema) -> CatalogTable:
    """The table with the locked types of columns that have none of their own: a CSV has only column names."""
    columns = tuple(
        replace(column, type=before.type) if column.is_untyped and (before := locked.column(column.name)) else column
        for column in table.columns
    )
    return replace(table, schema=TableSchema(columns, table.schema.primary_key))


def since_revision(paths: Sequence[str], revision: str, settings: Settings, diagnostics: Diagnostics) -> Report:
    """Compare the schemas of all sources and sinks with those of a git revision."""
    paths = [os.path.relpath(path) for path in paths]  # the same in the files of the revision
    now = _Jobs.here(find_jobs(paths, diagnostics), settings)
    with _checked_out(revision, paths) as folder:
        then = in_folder(folder, _before, paths, settings, now.sources)
    settings.masks.merge(then.masks)
    changes = list(then.changes)
    broken = [f"{job}: broken: {error}" for job, errors in now.errors.items() for error in errors]
    new = [
        f"{job}: not compared: it is not in {revision}, or has errors there"
        for job in now.jobs
        if job not in then.sinks
    ]
    for job, sinks in then.sinks.items():
        if (after := now.jobs.get(job)) is not None:
            changes += _sink_changes(job, sinks, after, now)
    return Report(tuple(changes), tuple(broken), tuple(new))


_Schemas: TypeAlias = Mapping[str, Mapping[str, TableSchema]]
"""The schemas of a job's sources or sinks by their names, by its file."""


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The revision as the process that reads it sees it: how its sources differ from those of now, and the sinks of the
    jobs without errors. `masks`: the secrets that it met."""

    changes: tuple[TableChange, ...]
    sinks: _Schemas
    masks: Masks


def _before(paths: Sequence[str], settings: Settings, sources: _Schemas) -> _Earlier:
    """What the current folder, that of a revision, has; `sources`: those of now."""
    then = _Jobs.here(find_jobs(paths, Diagnostics()), settings)
    changes = [
        change
        for job, before in then.jobs.items()
        for name, schema in then.sources[job].items()
        if (now := sources.get(job, {}).get(name)) is not None
        for change in _source_changes(job, name, schema, now, before)
    ]
    sinks = {job: {write.name: write.table.schema for write in compiled.built.writes}
             for job, compiled in then.jobs.items()}  # fmt: skip
    return _Earlier(tuple(changes), sinks, settings.masks)


@dataclass(frozen=True, slots=True)
class _Jobs:
    """The jobs of one state of the files, as far as they can be planned, and their sources."""

    jobs: Mapping[str, Compiled]
    sources: _Schemas
    errors: Mapping[str, tuple[str, ...]]

    @classmethod
    def here(cls, paths: Iterable[Path], settings: Settings) -> "_Jobs":
        jobs: dict[str, Compiled] = {}
        sources: dict[str, Mapping[str, TableSchema]] = {}
        errors: dict[str, tuple[str, ...]] = {}
        for path in paths:
            diagnostics = Diagnostics()
            if compiled := compile_job(path, settings, diagnostics):
                jobs[path.as_posix()] = compiled
            errors[path.as_posix()] = tuple(
                f"[{diagnostic.code}] {diagnostic.message} ({diagnostic.span})"
                for diagnostic in diagnostics
                if diagnostic.severity.value == "error"
            )
            loaded = load_file(path, Diagnostics(), replace(settings, reads_secrets=False))
            tables = source_tables(loaded) if loaded else {}
            sources[path.as_posix()] = {name: table.schema for name, table in tables.items()}
        return cls(jobs, sources, errors)


def _source_changes(
    job: str, name: str, before: TableSchema, after: TableSchema, reader: Compiled | None
) -> Iterator[TableChange]:
    scans = {node.written_name: node for node in reader.built.nodes() if isinstance(node, Scan)} if reader else {}
    scan = scans.get(name)
    for change in diff(before, after):
        read_by: tuple[str, ...] = ()
        if reader and scan and change.kind is not ChangeKind.ADDED:
            column = change.column.split(".", maxsplit=1)[0]
            found = [(write.name, own, how.value) for write, own, how in readers(reader.built, scan, column)]
            read_by = tuple(dict.fromkeys(f"{write}.{own} ({how})" for write, own, how in found))
        yield TableChange(job, "source", name, change, read_by)


def _sink_changes(job: str, before: Mapping[str, TableSchema], after: Compiled, now: _Jobs) -> Iterator[TableChange]:
    for write in after.built.writes:
        if write.name in before:
            for change in diff(before[write.name], write.table.schema):
                yield TableChange(job, "sink", write.name, change, tuple(_readers_of(write, change, now)))


def _readers_of(write: Write, change: Change, now: _Jobs) -> Iterator[str]:
    """The jobs that read what a sink writes, and use the column."""
    target = dataset_of(write)
    column = change.column.split(".", maxsplit=1)[0]
    for job, compiled in now.jobs.items():
        for scan in (node for node in compiled.built.nodes() if isinstance(node, Scan)):
            origin = dataset_of(scan)
            if target is not None and origin is not None and target.overlaps(origin):
                uses = sorted({f"{w.name}.{own}" for w, own, _ in readers(compiled.built, scan, column)})
                yield f"{job} {scan.name}" + (f" -> {', '.join(uses)}" if uses else "")


@contextmanager
def _checked_out(revision: str, paths: Sequence[str]) -> Iterator[Path]:
    """A folder with the working directory as it was at a revision, in which relative paths are as they are here.

    Raises PEN1001 where one of them is outside the repository. Links are left out: they may lead anywhere.
    """
    revision = checked_revision(revision)
    root = git_output("rev-parse", "--show-toplevel").strip()
    for path in paths:
        if not Path(path).resolve().is_relative_to(Path(root).resolve()):
            raise job_error("PEN1001", f"`{path}` is not in the repository of the working directory, `{root}`")
    archive = git_bytes("-C", root, "archive", "--format=tar", revision)
    with TemporaryDirectory(prefix="penstock-") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, [member for member in tar.getmembers() if member.isreg() or member.isdir()])
        inside = Path(folder, os.path.relpath(Path.cwd(), root))
        inside.mkdir(parents=True, exist_ok=True)
        yield inside
