"""Fuse a query into the one that reads it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText
from catalog.types.datatypes import DataType
from engine.plan.nodes import AnyNode, Plan, Query, children, rewrite
from sql.analyze import Analysis, analyze
from sql.rewrite.merge import merge_selects, select_from_text
from sql.rewrite.select_query import Select

_JOINT: Final = " + "

Merge: TypeAlias = Callable[[Query, Query], PlacedText | Select | None]


def chain_transforms(plan: Plan) -> Plan:
    """Fuse a query into the next one if that is its only reader, and it is that one's only input.

    Two generated Selects become one. A user's query becomes the FROM of the generated Select after it;
    nothing is fused into a user's query, which Spark gets as written. Selects are fused first, so that
    few of them contain a user's query.
    """
    return _fuse_all(_fuse_all(plan, merge_ours), read_from_text)


MOST_STEPS: Final = 32
"""More steps in one query gain little, and each is analyzed together with all before it."""


def can_chain(inner: Query, outer: Query, readers: int) -> bool:
    """Whether the edge is the only one of both, and the outer query can take over all settings of the inner one."""
    if inner.kind.count(_JOINT) + 1 >= MOST_STEPS:
        return False
    return readers == 1 and len(outer.inputs) == 1 and inner.uid is None and inner.parallelism == outer.parallelism


def merge_ours(inner: Query, outer: Query) -> Select | None:
    if isinstance(inner.body, Select) and isinstance(outer.body, Select) and len(inner.inputs) == 1:
        return merge_selects(inner.body, outer.body, inner.inputs[0].node.table)
    return None


def read_from_text(inner: Query, outer: Query) -> PlacedText | None:
    if isinstance(inner.body, PlacedText) and isinstance(outer.body, Select):
        return select_from_text(outer.body, inner.body)
    return None


def chain(inner: Query, outer: Query, merge: Merge) -> Query | None:
    """The two as one, under the outer's name and id; None if what it yields is not surely the same."""
    body = merge(inner, outer)
    if body is None:
        return None
    text = body.to_text() if isinstance(body, Select) else body
    tables = {input.name: input.node.table.renamed(input.name) for input in inner.inputs}
    analysis = analyze(text, tables, output=outer.name)
    has_errors = any(diagnostic.severity is Severity.ERROR for diagnostic in analysis.diagnostics)
    if has_errors or _rows(analysis) != _rows(outer.analysis):
        return None
    return replace(
        outer,
        kind=f"{inner.kind}{_JOINT}{outer.kind}",
        body=body,
        inputs=inner.inputs,
        analysis=replace(analysis, table=outer.table),
    )


def _rows(analysis: Analysis) -> list[tuple[str, DataType, bool]]:
    return [(column.name, column.type, column.nullable) for column in analysis.columns]


def _fuse_all(plan: Plan, merge: Merge) -> Plan:
    # Names are unique, and a fused node keeps that of its last part: so they count readers while the plan changes.
    readers = Counter(child.name for node in plan.nodes() for child in children(node))

    def fuse(node: AnyNode) -> AnyNode:
        if not isinstance(node, Query) or len(node.inputs) != 1:
            return node
        inner = node.inputs[0].node
        if not isinstance(inner, Query) or not can_chain(inner, node, readers[inner.name]):
            return node
        return chain(inner, node, merge) or node

    return rewrite(plan, fuse)
