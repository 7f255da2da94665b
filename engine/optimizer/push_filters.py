"""Let scans drop rows that later filters would drop."""

from collections import Counter
from dataclasses import replace
from itertools import takewhile

from catalog.quoting import quote
from engine.plan.nodes import AnyNode, Input, Plan, Query, Scan, children, rewrite
from sql.analyze import analyze
from sql.rewrite.fragments import is_pure, substitute
from sql.rewrite.safety import may_raise
from sql.rewrite.select_query import Select, text_of


def push_filters(plan: Plan) -> Plan:
    """Move predicates of a Select into its scan, if it is the only reader and the connector supports it.

    Only the leading ones, up to one that may raise or is not pure, since earlier predicates decide which rows it sees.
    """
    readers = Counter(child.name for node in plan.nodes() for child in children(node))

    def push(node: AnyNode) -> AnyNode:
        if not isinstance(node, Query) or not isinstance(node.body, Select) or len(node.inputs) != 1:
            return node
        scan = node.inputs[0].node
        if not isinstance(scan, Scan) or not can_take_filters(scan, readers[scan.name]):
            return node
        filters = pushable(node.body, scan)
        return _pushed(node, node.body, scan, filters) if filters else node

    return rewrite(plan, push)


def can_take_filters(scan: Scan, readers: int) -> bool:
    can = scan.connector.source_capabilities
    is_plain = not scan.table.is_open and not scan.table.has_row_kind
    return readers == 1 and can.filter_pushdown and can.is_deterministic and is_plain


def pushable(select: Select, scan: Scan) -> tuple[str, ...]:
    """The first predicates, over the scan's plain column names, that are pure and cannot raise."""
    types = {column.name.lower(): column.type for column in scan.table.columns}

    def over_scan(predicate: str) -> str | None:
        plain = substitute(predicate, select.source, quote) if is_pure(predicate) else None
        return None if plain is None or may_raise(text_of(plain), types) else text_of(plain)

    found = (over_scan(text_of(condition)) for condition in select.predicates)
    return tuple(filter_text for filter_text in takewhile(bool, found) if filter_text)


def _pushed(query: Query, select: Select, scan: Scan, filters: tuple[str, ...]) -> Query:
    rest = replace(select, predicates=select.predicates[len(filters) :])
    name = query.inputs[0].name
    analysis = analyze(rest.to_text(), {name: scan.table.renamed(name)}, output=query.name)
    read = replace(scan, filters=(*scan.filters, *filters))
    return replace(query, body=rest, inputs=(Input(name, read),), analysis=replace(analysis, table=query.table))
