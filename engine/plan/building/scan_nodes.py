"""Turns sources into scans, one for each table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath

import connectors
from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics
from catalog.options import Options
from catalog.tables.table import CatalogTable, TablePath
from connectors.interface.incremental import check_incremental
from connectors.interface.source import SOURCE_QUERY, Source
from connectors.interface.source_abilities import (
    SupportsTableSets,
    SupportsUntypedColumns,
    own_order_of,
    table_pattern_of,
)
from engine.job.model.job import Block, BlockKind, Job
from engine.plan.building.locked_schema import with_locked_schema, with_matching_tables
from engine.plan.building.outside_data import outside_option, outside_tables
from engine.plan.building.table_sets import member_names, refuse_equal_paths
from engine.plan.nodes import Scan


def scan_nodes(block: Block, name: str, job: str, diagnostics: Diagnostics) -> tuple[Scan, ...] | None:
    """The scans of a source block; None if an error was reported. Those of a set have its name as `table_set`."""
    source = connectors.source(block.plugin)
    if source is None or not block.options.is_valid:
        return None
    own = Diagnostics()
    is_set, listed = _listed(block, source, own)
    if is_set and not listed and not own.has_errors:
        own.error("PEN4002", f"`{name}` has no table", block.options.span("path"), "is the pattern right?")
    if is_set and own.has_errors:
        diagnostics.extend(own)
        return None
    if any(table_pattern_of(source, options) for options in listed or [block.options]):
        listed = list(with_matching_tables(source, listed or [block.options], name, job, own))
        if own.has_errors:
            diagnostics.extend(own)
            return None
    reader = _Reader(block, source, job, own)
    scans = list(reader.of_set(name, listed) if listed else reader.of_block(name))
    is_distinct = len(scans) < 2 or refuse_equal_paths(block, name, [scan.table for scan in scans], own)
    diagnostics.extend(
        {(diagnostic.code, diagnostic.span, diagnostic.message): diagnostic for diagnostic in own}.values()
    )
    return tuple(scans) if is_distinct and not own.has_errors else None


@dataclass(frozen=True, eq=False, slots=True)
class _Reader:
    """One source block of the job file `job`."""

    block: Block
    source: Source
    job: str
    diagnostics: Diagnostics

    def of_block(self, name: str) -> Iterator[Scan]:
        """The scans of a block as it is: one, or those of a connector that lists tables by itself."""
        tables = self.tables(name, self.block.options)
        if len(tables) == 1 and "table" not in self.block.options.mapping("schema"):
            path = self.source.table_path(self.block.options)
            tables = (replace(tables[0], path=path),) if path else tables
        if len(tables) == 1 or len(self.block.outputs) == len(tables):
            outputs = [output.name for output in self.block.outputs]
            names: Iterable[str] = outputs if len(outputs) == len(tables) else (name,)
            table_set = None
        else:
            names, table_set = member_names(name, [table.path for table in tables]), name
        for own, table in zip(names, tables, strict=True):
            scan = self.scan(own, self.block.options, table, table_set)
            is_own = scan.uid is None or table_set is not None or len(tables) == 1
            yield scan if is_own else replace(scan, uid=f"{scan.uid}.{own}")

    def of_set(self, name: str, listed: list[Options]) -> Iterator[Scan]:
        paths = [_path(self.source, options) for options in listed]
        names = member_names(name, [path or TablePath(name) for path in paths])
        for own, options, path in zip(names, listed, paths, strict=True):
            for table in self.tables(own, options):
                yield self.scan(own, options, replace(table, path=path) if path else table, name)

    def tables(self, name: str, options: Options) -> tuple[CatalogTable, ...]:
        own = Diagnostics()
        if SOURCE_QUERY in self.source.source_options and options.get(SOURCE_QUERY.name) is not None:
            message = "a table of a list has no `query` of its own"  # that of a block is a transform by now
            own.error("PEN2011", message, options.span(SOURCE_QUERY.name), "read it by a block of its own")
        locked = with_locked_schema(options, name, self.job, own)
        tables = outside_tables(self.source, locked, name, own) or self.source.tables(locked, own)
        if not len(own) and any(table.is_open for table in tables):
            own.warning(
                "PEN4002",
                f"the columns of `{name}` are not known, so nothing that reads them can be checked",
                self.block.plugin_span or self.block.span,
                "give it `schema { fields { name = type, … } }`, or run `penstock schema sync`",
            )
        for table in tables:
            check_incremental(options, own_order_of(self.source, options), table, own)
        self.diagnostics.extend(own)
        return () if own.has_errors else tables

    def scan(self, name: str, options: Options, table: CatalogTable, table_set: str | None) -> Scan:
        block = self.block
        return Scan(
            name,
            self.source,
            options,
            table,
            parallelism=block.parallelism,
            uid=member_uid(block, name, table_set),
            span=options.span() or block.options.span(),
            cache=block.cache,
            table_set=table_set,
            written=block.written and f"{block.written}{name.removeprefix(block.name)}",
        )


def members(block: Block, name: str, source: Source, diagnostics: Diagnostics) -> tuple[tuple[str, Options], ...]:
    """The tables of a source block, each with its name and options: those of its set, or the block itself."""
    _, listed = _listed(block, source, diagnostics)
    if not listed:
        return ((name, block.options),)
    names = member_names(name, [_path(source, options) or TablePath(name) for options in listed])
    return tuple(zip(names, listed, strict=True))


def _listed(block: Block, source: Source, diagnostics: Diagnostics) -> tuple[bool, list[Options]]:
    """Whether the block lists tables or has a pattern of them, and the options of each; none of a block as it is."""
    blocks = [table.options for table in block.tables]
    found = [_expanded(source, options, diagnostics) for options in blocks or [block.options]]
    if not blocks:
        return found[0] is not None, list(found[0] or ())
    each = zip(blocks, found, strict=True)
    return True, [own for options, expanded in each for own in ((options,) if expanded is None else expanded)]


def _expanded(source: Source, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
    if outside_option(source, options) or not isinstance(source, SupportsTableSets):
        return None
    return source.expand(options, diagnostics)


def with_unseen_columns(job: Job, errors: Iterable[Diagnostic]) -> Job | None:
    """The job with the tables of sources open whose directories are not visible: columns of these are no errors.

    None where that cannot help: no name is unknown, or no source has such columns. A job that names no others is
    checked in full against the columns that its sources declare.
    """
    if all(error.code != "PEN3004" for error in errors):
        return None
    blocks = tuple(_opened(block) if block.kind is BlockKind.SOURCE else block for block in job.blocks)
    return None if blocks == job.blocks else replace(job, blocks=blocks)


def _opened(block: Block) -> Block:
    source = connectors.source(block.plugin)
    if source is None:
        return block
    options = _open_options(source, block.options)
    tables = tuple(replace(table, options=_open_options(source, table.options)) for table in block.tables)
    is_new = options is not block.options or any(
        new.options is not old.options for new, old in zip(tables, block.tables, strict=True)
    )
    return replace(block, options=options, tables=tables) if is_new else block


def _open_options(source: Source, options: Options) -> Options:
    if options.seatunnel is None or not options.is_valid:
        return options
    if not (isinstance(source, SupportsUntypedColumns) and source.has_unseen_columns(options)):
        return options
    return replace(options, seatunnel=replace(options.seatunnel, is_open=True))


def _path(source: Source, options: Options) -> TablePath | None:
    """The path of a table of a set: as its schema says, else as its database, its file or its folder calls it."""
    declared = options.mapping("schema").get("table")
    if declared is not None:
        try:
            return TablePath.parse(str(declared))
        except ValueError:
            return None  # reported with the schema
    if (named := source.table_path(options)) is not None:
        return named
    path = options.get("path")
    stem = PurePath(path).name.split(".")[0] if isinstance(path, str) else ""
    return TablePath(stem) if stem else None


def member_uid(block: Block, name: str, table_set: str | None) -> str | None:
    """The `uid` of one table's node: the block's, and the table."""
    if block.uid is None or table_set is None:
        return block.uid
    return f"{block.uid}.{name.removeprefix(f'{table_set}.')}"
