"""`penstock schema sync`: records the columns and primary key of every source without a `schema` block."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, PenstockError, RunError, run_error
from catalog.diagnostics.shown_names import shown_name
from catalog.distribution import pip_install
from catalog.options import Options
from catalog.reach import leads_out
from catalog.tables.schema_lock import FILE_NAME, Key, Lock, find_lock
from catalog.tables.table import CatalogTable, TablePath, TableSchema
from catalog.types.datatypes import has_unknown
from connectors.files.file_schema import UnknownSchemaError
from connectors.interface.source import Source
from connectors.interface.source_abilities import SupportsTablePatterns, is_untyped, table_pattern_of
from engine.job.load import load_file
from engine.job.model.job import BlockKind
from engine.job.model.settings import Settings
from engine.job.root import root_of
from engine.plan.building.locked_schema import job_key, locked_name, read_lock
from engine.plan.building.scan_nodes import members

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def sync(
    jobs: Iterable[Path], settings: Settings, diagnostics: Diagnostics, *, infers: bool = True
) -> Mapping[Path, int]:
    """Write the lock of each job's folder (or the nearest one above); how many sources each then holds."""
    locks: dict[Path, dict[Key, TableSchema]] = {}
    for job in jobs:
        path = find_lock(job.absolute().parent) or _new_lock(job.absolute())
        if leads_out(path, root_of(job.absolute())):
            diagnostics.error("PEN1602", f"`{path}` leads out of the project by a link, and is not written")
            continue
        entries = locks.setdefault(path, dict(read_lock(path, diagnostics).sources) if path.is_file() else {})
        key = job_key(path, job)
        for old in [entry for entry in entries if entry[0] == key]:
            del entries[old]
        for name, table in current_tables(job, settings, diagnostics, infers=infers):
            if unknown := [column.name for column in table.columns if has_unknown(column.type)]:
                message = f"`{shown_name(name)}` is left out: the type of `{shown_name(unknown[0])}` is not known"
                diagnostics.warning("PEN5004", message, None, "declare its columns in a `schema` block")
            else:
                entries[key, name] = TableSchema(table.columns, table.schema.primary_key)
    for path, entries in locks.items():
        for gone in [entry for entry in entries if not (path.parent / entry[0]).exists()]:
            del entries[gone]
        path.write_text(str(Lock(entries)), encoding="utf-8")
    return {path: len(entries) for path, entries in locks.items()}


def current_tables(
    job: Path, settings: Settings, diagnostics: Diagnostics, *, infers: bool = False
) -> Iterator[tuple[str, CatalogTable]]:
    """The tables of the sources that have no `schema` block, as they are now; read by Spark only if necessary.

    `infers`: the types of untyped columns (CSV) are read from their values, through Spark.
    """
    loaded = load_file(job, diagnostics, replace(settings, reads_secrets=True))
    spark = loaded.env.spark if loaded else {}
    for block in loaded.of_kind(BlockKind.SOURCE) if loaded else ():
        source = connectors.source(block.plugin)
        if source is None or not block.options.is_valid:
            continue
        for name, options in members(block, block.name, source, diagnostics):
            if table_pattern_of(source, options) is not None:
                yield from _matching(source, options, block.name, spark, diagnostics)
                continue
            is_declared = bool(options.mapping("schema").keys() - {"table", "comment"})
            if is_declared or "schema" not in options.values:
                continue
            if table := _asked(partial(_ask, source, options, name, spark, diagnostics, infers=infers), name, options):
                yield name, table


def _asked(ask: Callable[[], CatalogTable | None], name: str, options: Options) -> CatalogTable | None:
    """What `ask` returns. Raises a RunError PEN5004 where Spark cannot read the source, whatever Spark says of it."""
    try:
        return ask()
    except PenstockError:
        raise
    except Exception as error:
        if not isinstance(error, UnknownSchemaError) and not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        said = str(error).partition("\n")[0][:300]
        help = "declare its columns in a `schema` block"
        raise run_error("PEN5004", f"`{shown_name(name)}` cannot be read: {said}", options.span(), help) from error


def _matching(
    source: Source, options: Options, name: str, settings: Mapping[str, str], diagnostics: Diagnostics
) -> Iterator[tuple[str, CatalogTable]]:
    """The tables of the database that match a pattern now; one that cannot be described is reported and left out."""
    spark = _session(source, options, name, settings)
    assert isinstance(source, SupportsTablePatterns), f"`{name}` has a pattern"
    for path in source.matching_tables(spark, options):
        try:
            yield locked_name(name, path), source.describe(spark, source.of_table(options, path))
        except RunError as error:
            message = f"the table `{shown_name(path)}` is left out: {error.diagnostics[0].message}"
            diagnostics.warning("PEN5004", message, options.span())


def _ask(
    source: Source,
    options: Options,
    name: str,
    settings: Mapping[str, str],
    diagnostics: Diagnostics,
    *,
    infers: bool,
) -> CatalogTable | None:
    own = Diagnostics()
    tables = source.tables(options, own)
    if is_untyped(source, options) and infers and not own.has_errors:
        return _ask_spark(source, replace(options, values={**options.values, "infer_schema": True}), name, settings)
    if len(tables) == 1 and not tables[0].is_open and not own.has_errors:
        return tables[0]
    others = [diagnostic for diagnostic in own if diagnostic.code != "PEN4002"]
    diagnostics.extend(others)
    if others or len(tables) > 1:
        return None
    return _ask_spark(source, options, name, settings)


def _ask_spark(source: Source, options: Options, name: str, settings: Mapping[str, str]) -> CatalogTable:
    spark = _session(source, options, name, settings)
    return replace(source.describe(spark, options), path=TablePath(name.replace(".", "_")))


def _session(source: Source, options: Options, name: str, settings: Mapping[str, str]) -> "SparkSession":
    """A session with the settings of the job, such as those of its catalogs."""
    if find_spec("pyspark") is None:
        help = f"{pip_install('spark')}; `--no-types` locks the columns of CSV files as strings, without Spark"
        raise run_error("PEN9003", f"the types of `{name}` are read by Spark, and pyspark is not installed", None, help)
    from engine.spark.session import open_session, pipeline_session

    spark = open_session("penstock schema sync", settings, source.jars(options), source.session_settings)
    return pipeline_session(spark, settings)


def _new_lock(job: Path) -> Path:
    """The folder of a new lock: the current one if the job is below it, so that all jobs of a project share a lock."""
    return (Path.cwd() if job.is_relative_to(Path.cwd()) else job.parent) / FILE_NAME
