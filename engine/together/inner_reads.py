"""Sources of a group of jobs that read what another job of the group writes: they read the rows before their commit."""

from collections.abc import Iterator
from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.quoting import quote
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.tables.table import Column
from connectors.interface.sink_abilities import SupportsStagedTable
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.nodes import AnyNode, GroupRead, Input, Node, Plan, Query, Scan, Union, Write, rewrite
from sql.analyze import analyze
from sql.rewrite.select_query import Projection, Select

_PLAIN = frozenset(
    {"path", "table", "catalog_name", "file_format_type", "format", "schema", "connection", "plugin_name",
     "plugin_output", "result_table_name", "parallelism", "uid", "cache", "expect", "warehouse", "uri", "catalog_type"}
)  # fmt: skip
"""Options of a source that leave it all rows of the dataset, as they are."""
_EXACT_FORMATS = ("parquet", "orc")
_EXACT = ("Delta", "Iceberg", "Paimon", "Table")


def with_inner_reads(plan: Plan, diagnostics: Diagnostics) -> Plan:
    """The plan in which a source of the group's own rows reads them before they are committed; what cannot is reported
    (PEN1661). The writes of a job come before those of jobs that read them; their names are unique.

    Where the rows replace all others, the source is a query over them; where they are added, these rows and those that
    the target has; else, if the sink stages the whole table as it will be, that.
    """
    targets: dict[Dataset, list[Write]] = {}
    for write in plan.writes:
        if (dataset := dataset_of(write)) is not None:
            targets.setdefault(dataset, []).append(write)
    written: dict[str, Write] = {}

    def read(node: AnyNode) -> AnyNode:
        if isinstance(node, Write):
            written[node.name] = node
        dataset = dataset_of(node) if isinstance(node, Scan) else None
        if not isinstance(node, Scan) or dataset is None:
            return node
        target = next((found for found in targets if found.holds(dataset) or dataset.holds(found)), None)
        if target is None:
            return node
        writes = [written[write.name] for write in targets[target] if write.name in written]
        problem = next(_problems(node, writes, len(targets[target])), None)
        if problem is None:
            return _inner_read(node, writes[0])
        message = (
            f"`{node.written_name}` reads what `{targets[target][0].name}` writes, before it is committed: {problem}"
        )
        help = "run the two jobs one after the other, each with a commit of its own"
        diagnostics.error("PEN1661", message, node.options.span("path") or node.span, help)
        return node

    return rewrite(plan, read)


def _problems(scan: Scan, writes: list[Write], expected: int) -> Iterator[str]:
    if len(writes) < expected:
        yield "it is read before it is written"
        return
    if expected > 1:
        yield "several jobs of the group write it"
    write = writes[0]
    if dataset_of(scan) != dataset_of(write):
        yield "it reads a part of it, or more"
    if (problem := _mode_problem(write)) is not None:
        yield problem
    form = str(scan.options.get("file_format_type") or "").lower()
    if write.connector.name not in _EXACT and form not in _EXACT_FORMATS:
        yield "values may come back with other types than they are written with"
    given = {name.partition(".")[0] for name in scan.options.places} - _PLAIN
    if given:
        yield f"`{sorted(given)[0]}` of the source changes which rows it reads"
    for column in scan.table.columns:
        if (found := _column_problem(column, write.table.column(column.name))) is not None:
            yield found


def _mode_problem(write: Write) -> str | None:
    """Why the rows of the target after the commit are not known before it."""
    if replaces_all(write):
        return None
    if write.options.choice("schema_evolution", SchemaEvolution) is not SchemaEvolution.FAIL:
        return "`schema_evolution` may change the columns of the rows that the target has"
    if write.options.get("to_branch") is not None:
        return "its rows are added to a branch"
    if _adds(write) or _stages_table(write):
        return None
    mode = write.write_mode.value if write.write_mode is not WriteMode.APPEND else write.data_save_mode.value
    return f"after {mode}, which rows the target has is only known once they are committed"


def _column_problem(column: Column, own: Column | None) -> str | None:
    if own is None or own.type != column.type:
        found = "not written" if own is None else f"written as {own.type}"
        return f"the column `{column.name}` ({column.type}) is {found}"
    return f"the column `{column.name}` is NOT NULL, and written with NULLs" if own.nullable > column.nullable else None


def replaces_all(write: Write) -> bool:
    """Whether the target has the rows of the write alone, as they are."""
    is_plain = write.write_mode is WriteMode.APPEND
    is_empty = write.data_save_mode in (DataSaveMode.DROP_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS)
    return is_plain and (is_empty or write.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA)


def _adds(write: Write) -> bool:
    return write.write_mode is WriteMode.APPEND and write.data_save_mode is DataSaveMode.APPEND_DATA


def _stages_table(write: Write) -> bool:
    sink = write.connector
    return isinstance(sink, SupportsStagedTable) and sink.stages_table(write.options, write.write_mode)


def _inner_read(scan: Scan, write: Write) -> Node:
    if replaces_all(write):
        return _rows_of(scan, write, scan.name)
    if not _adds(write):
        return replace(scan, of_group=GroupRead(write.name, is_staged=True))
    before = replace(scan, name=f"{scan.name}_before", of_group=GroupRead(write.name), written=scan.written_name)
    added = _rows_of(scan, write, f"{scan.name}_added")
    return Union(scan.name, (before, added), scan.table, span=scan.span)


def _rows_of(scan: Scan, write: Write, name: str) -> Query:
    """The written rows, with the columns that the source has."""
    source = write.input.name
    table = write.table.renamed(source)
    projections = tuple(Projection(column.name, quote(column.name)) for column in scan.table.columns)
    select = Select(source, projections)
    analysis = analyze(select.to_text(), {source: table}, output=name)
    return Query(name, "Together", select, (Input(source, write.input),), analysis, span=scan.span)
