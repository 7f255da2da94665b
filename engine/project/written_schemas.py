"""Sources without a `schema` take their columns from the job of the project that writes what they read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import connectors
from catalog.diagnostics.source import Span
from catalog.options import Options, Value
from catalog.tables.savemode import WriteMode
from catalog.tables.table import CatalogTable, Column, TablePath, TableSchema
from catalog.types.datatypes import has_unknown
from connectors.interface.schema_option import declares_columns
from connectors.interface.sink import Sink
from connectors.interface.sink_abilities import SupportsKnownTable
from connectors.interface.source import Source
from connectors.interface.source_abilities import table_pattern_of
from connectors.lakehouse.versions import VERSION_OPTIONS, version_columns
from engine.job.model.job import Block, BlockKind, Job
from engine.plan.building.locked_schema import as_schema
from engine.plan.datasets import Dataset
from engine.plan.nodes import Write

Written = Mapping[Dataset, tuple[Column, ...]]
"""The columns of each dataset that a job writes."""


@dataclass(frozen=True, slots=True)
class BlockDataset:
    """A block of a job that was not compiled, and the dataset that it reads or writes."""

    name: str
    connector: str
    dataset: Dataset
    span: Span | None
    path_span: Span | None

    def __reduce__(self) -> "tuple[type[BlockDataset], tuple[object, ...]]":
        """Faster to read back than what dataclasses do."""
        return BlockDataset, (self.name, self.connector, self.dataset, self.span, self.path_span)


def wanted_datasets(job: Job) -> tuple[BlockDataset, ...]:
    """The sources that do not declare their columns."""
    return tuple(
        BlockDataset(block.name, block.plugin, dataset, options.span(), options.span("path"))
        for block, source, options in _sources(job)
        if (dataset := _wanted(source, options)) is not None
    )


def targets_of(job: Job) -> tuple[BlockDataset, ...]:
    """What the job writes, as far as its options say it: not where they have placeholders of tables."""
    return tuple(
        BlockDataset(block.name, block.plugin, Dataset.of(location), block.options.span(), block.options.span("path"))
        for block, location in _targets(job)
        if not _is_open(location)
    )


def has_open_targets(job: Job) -> bool:
    """Whether the job writes more than that."""
    return any(_is_open(location) for _, location in _targets(job))


def _targets(job: Job) -> Iterator[tuple[Block, str]]:
    for block in job.of_kind(BlockKind.SINK):
        sink = connectors.sink(block.plugin)
        if isinstance(sink, Sink) and block.options.is_valid and (location := sink.target(block.options)) is not None:
            yield block, location


def _is_open(location: str) -> bool:
    return "${" in location


def filled_columns(write: Write) -> tuple[Column, ...]:
    """The columns of the target that the sink fills itself, which the rows do not have: those of versions."""
    options = write.options
    if write.write_mode is not WriteMode.SCD2 or not options.values.keys() >= set(VERSION_OPTIONS):
        return ()
    known = write.connector.known_table(options) if isinstance(write.connector, SupportsKnownTable) else None
    return tuple((known and known.column(column.name)) or column for column in version_columns(options))


def with_written_schemas(job: Job, written: Written, left: Written | None = None) -> Job:
    """The job with the columns of what other jobs write; the same object where it reads nothing of it. `left`: what the
    jobs that run before leave at their targets, whatever is there now."""
    schemas = _Schemas(written, left or {})
    blocks = tuple(_completed(block, schemas) if block.kind is BlockKind.SOURCE else block for block in job.blocks)
    same = all(new is old for new, old in zip(blocks, job.blocks, strict=True))
    return job if same else replace(job, blocks=blocks)


@dataclass(frozen=True, slots=True)
class _Schemas:
    """The columns of datasets: those that jobs of the project write, and those that jobs before will have left."""

    written: Written
    left: Written


def _sources(job: Job) -> Iterator[tuple[Block, Source, Options]]:
    for block in job.of_kind(BlockKind.SOURCE):
        source = connectors.source(block.plugin)
        if source is not None and block.options.is_valid:
            yield from ((block, source, options) for options in _listed(block))


def _listed(block: Block) -> list[Options]:
    return [table.options for table in block.tables] or [block.options]


def _wanted(source: Source, options: Options) -> Dataset | None:
    """The dataset of a source whose columns it does not declare, although it could."""
    if "schema" not in options.values or declares_columns(options) or table_pattern_of(source, options) is not None:
        return None
    location = source.origin(options, CatalogTable(TablePath("unknown"), TableSchema(())))
    if location is None and isinstance(source, Sink) and options.get("path") is not None:
        location = source.target(options)
    return None if location is None else Dataset.of(location)


def _completed(block: Block, written: _Schemas) -> Block:
    source = connectors.source(block.plugin)
    if source is None or not block.options.is_valid:
        return block
    if block.tables:
        tables = tuple(replace(table, options=_with_schema(source, table.options, written)) for table in block.tables)
        same = all(new.options is old.options for new, old in zip(tables, block.tables, strict=True))
        return block if same else replace(block, tables=tables)
    options = _with_schema(source, block.options, written)
    return block if options is block.options else replace(block, options=options)


def _keeps_types(source: Source, options: Options) -> bool:
    """Whether a reader gets the types that were written, not those that it finds in texts."""
    format = options.get("file_format_type")
    return isinstance(source, SupportsKnownTable) and (format is None or str(format).lower() in ("parquet", "orc"))


def _with_schema(source: Source, options: Options, schemas: _Schemas) -> Options:
    dataset = _wanted(source, options)
    left = schemas.left.get(dataset.folder) if dataset is not None and _keeps_types(source, options) else None
    columns = left if dataset is None or left is not None else schemas.written.get(dataset.folder)
    if columns is None or any(has_unknown(column.type) for column in columns):  # known once the writer has run
        return options
    nullable = tuple(replace(column, nullable=True) for column in columns)
    schema: dict[str, Value] = {**options.mapping("schema"), **as_schema(TableSchema(nullable))}
    return replace(options, values={**options.values, "schema": schema}, is_foreseen=left is not None)
