"""Fuse a query into the one that reads it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText
from catalog.types.datatypes import DataType
from engine.job.model.job import Chain
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
    if not plan.env.chains:
        return plan
    return _fuse_all(_fuse_all(plan, merge_ours), read_from_text)


MOST_STEPS: Final = 32
"""More steps in one query gain little, and each is analyzed together with all before it."""


def hindrance(inner: Query, outer: Query, readers: int) -> str | None:
    """Why the two cannot become one: each must be the other's only neighbour at the edge, and the outer query can take
    over all settings of the inner one. None if they can."""
    name = inner.written_name
    reasons = (
        (outer.chain is not Chain.ALWAYS, f"`chain = {outer.chain.value}`"),
        (inner.chain is Chain.NEVER, f"`{name}` has `chain = never`"),
        (readers != 1, f"{readers} blocks read `{name}`"),
        (len(outer.inputs) != 1, f"it reads {len(outer.inputs)} inputs"),
        (inner.uid is not None, f"`{name}` has a `uid`"),
        (inner.parallelism != outer.parallelism, f"`{name}` has another `parallelism`"),
        (inner.kind.count(_JOINT) + 1 >= MOST_STEPS, f"`{name}` has {MOST_STEPS} steps already"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def not_chained(plan: Plan) -> Iterator[tuple[Query, Query, str]]:
    """The edges between two queries of an optimized plan: both, and the reason why they are two."""
    readers = _readers(plan)
    for outer in plan.nodes():
        for inner in (child for child in children(outer) if isinstance(child, Query)):
            if isinstance(outer, Query):
                yield inner, outer, _reason(plan, inner, outer, readers[inner.name])


def _reason(plan: Plan, inner: Query, outer: Query, readers: int) -> str:
    if not plan.env.chains:
        return "`chaining = false`"
    if isinstance(outer.body, PlacedText):
        return "Spark gets a query of the job as it is written"
    return hindrance(inner, outer, readers) or "as one, they might not yield the same"


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
        chain=inner.chain,
        analysis=replace(analysis, table=outer.table),
    )


def _rows(analysis: Analysis) -> list[tuple[str, DataType, bool]]:
    return [(column.name, column.type, column.nullable) for column in analysis.columns]


def _readers(plan: Plan) -> Counter[str]:
    """Names are unique, and a fused node keeps that of its last part: so they count readers while the plan changes."""
    return Counter(child.name for node in plan.nodes() for child in children(node))


def _fuse_all(plan: Plan, merge: Merge) -> Plan:
    readers = _readers(plan)

    def fuse(node: AnyNode) -> AnyNode:
        if not isinstance(node, Query) or len(node.inputs) != 1:
            return node
        inner = node.inputs[0].node
        if not isinstance(inner, Query) or hindrance(inner, node, readers[inner.name]):
            return node
        return chain(inner, node, merge) or node

    return rewrite(plan, fuse)
