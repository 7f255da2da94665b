"""Sources of a group of jobs that read what another job of the group writes: they read the rows before their commit."""

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.quoting import quote
from catalog.tables.savemode import DataSaveMode, WriteMode
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.nodes import AnyNode, Input, Plan, Query, Scan, Write, rewrite
from sql.analyze import analyze
from sql.rewrite.select_query import Projection, Select

_PLAIN = frozenset(
    {"path", "table", "catalog_name", "file_format_type", "format", "schema", "connection", "plugin_name",
     "plugin_output", "result_table_name", "parallelism", "uid", "cache", "expect"}
)  # fmt: skip
"""Options of a source that leave it all rows of the dataset, as they are."""
_EXACT_FORMATS = ("parquet", "orc")
_EXACT = ("Delta", "Iceberg", "Paimon", "Table")


def with_inner_reads(plan: Plan, diagnostics: Diagnostics) -> Plan:
    """The plan in which a source of the group's own rows is a query over them; what cannot be one is reported
    (PEN1661). The writes of a job come before those of jobs that read them."""
    targets = {dataset: write for write in plan.writes if (dataset := dataset_of(write)) is not None}
    written: dict[Dataset, Write] = {}

    def read(node: AnyNode) -> AnyNode:
        dataset = dataset_of(node) if isinstance(node, Scan | Write) else None
        if isinstance(node, Write) and dataset is not None:
            written[dataset] = node
        if not isinstance(node, Scan) or dataset is None:
            return node
        target = next((found for found in targets if found.holds(dataset) or dataset.holds(found)), None)
        if target is None:
            return node
        write = written.get(target)
        problem = "it is read before it is written" if write is None else _problem(node, write)
        if write is None or problem is not None:
            message = f"`{node.name}` reads what `{targets[target].name}` writes, before it is committed: {problem}"
            help = "run the two jobs one after the other, without `--together`"
            diagnostics.error("PEN1661", message, node.options.span("path") or node.span, help)
            return node
        return _query(node, write)

    return rewrite(plan, read)


def _problem(scan: Scan, write: Write) -> str | None:
    if dataset_of(scan) != dataset_of(write):
        return "it reads a part of it, or more"
    if write.data_save_mode is not DataSaveMode.DROP_DATA or write.write_mode is not WriteMode.APPEND:
        mode = write.write_mode.value if write.write_mode is not WriteMode.APPEND else "adding rows"
        return f"after {mode}, the target has other rows, too; `data_save_mode = DROP_DATA` replaces all of them"
    form = str(scan.options.get("file_format_type") or "").lower()
    if write.connector.name not in _EXACT and form not in _EXACT_FORMATS:
        return "values may come back with other types than they are written with"
    given = {name.partition(".")[0] for name in scan.options.places} - _PLAIN
    if given:
        return f"`{sorted(given)[0]}` of the source changes which rows it reads"
    for column in scan.table.columns:
        own = write.table.column(column.name)
        if own is None or own.type != column.type:
            found = "not written" if own is None else f"written as {own.type}"
            return f"the column `{column.name}` ({column.type}) is {found}"
    return None


def _query(scan: Scan, write: Write) -> Query:
    """The written rows, with the columns that the source has."""
    source = write.input.name
    table = write.table.renamed(source)
    projections = tuple(Projection(column.name, quote(column.name)) for column in scan.table.columns)
    select = Select(source, projections)
    analysis = analyze(select.to_text(), {source: table}, output=scan.name)
    return Query(scan.name, "Together", select, (Input(source, write.input),), analysis, span=scan.span)
