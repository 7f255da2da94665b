"""Let scans read only the columns that are used."""

from dataclasses import replace

from catalog.exhaustive import assert_never
from connectors.interface.incremental import incremental_of
from engine.plan.nodes import (
    AnyNode,
    Expect,
    Native,
    Plan,
    Query,
    Rejects,
    Scan,
    Shuffle,
    Union,
    Watermark,
    Write,
    rewrite,
)
from sql.rewrite.fragments import references


def push_columns(plan: Plan) -> Plan:
    """Give each scan, if its connector supports it, the columns that its readers and its own filters use.

    Not where a reader takes all of them (a union, a sink, `*`), nor where the columns are not known. Where none is
    used, as by `count(*)`, the first is read: a table has at least one.
    """
    used: dict[Scan, set[str] | None] = {}
    for node in plan.nodes():
        _note_uses(node, used)

    def push(node: AnyNode) -> AnyNode:
        if not isinstance(node, Scan) or not can_take_columns(node):
            return node
        columns = _columns(node, used.get(node))
        return node if columns == node.columns else replace(node, columns=columns)

    return rewrite(plan, push)


def can_take_columns(scan: Scan) -> bool:
    return scan.connector.source_capabilities.column_pushdown and bool(scan.table.columns) and not scan.table.is_open


def _note_uses(node: AnyNode, used: dict[Scan, set[str] | None]) -> None:
    """Add the columns that a node reads of the scans below it; None: all."""
    match node:
        case Scan():
            return
        case Query():
            read = {name.lower(): columns for name, columns in node.analysis.columns_read.items()}
            edges = [(input.node, read.get(input.name.lower())) for input in node.inputs]
        case Union():
            edges = [(input, None) for input in node.inputs]
        case Native() | Expect() | Rejects() | Watermark() | Shuffle() | Write():
            edges = [(node.input, None)]
        case _:
            assert_never(node)
    for child, columns in edges:
        if isinstance(child, Scan):
            before = used.get(child, set())
            used[child] = None if columns is None or before is None else before | {column.lower() for column in columns}


def _columns(scan: Scan, used: set[str] | None) -> tuple[str, ...] | None:
    if used is None:
        return None
    filtered = {
        reference.column.lower() for text in scan.filters for reference in references(text, scan.table.path.table) or ()
    }
    names = scan.table.schema.names
    asked = incremental_of(scan.options)
    wanted = used | filtered | ({asked.column.lower()} if asked and asked.column else set())
    columns = tuple(name for name in names if name.lower() in wanted) or names[:1]
    return None if len(columns) == len(names) else columns
