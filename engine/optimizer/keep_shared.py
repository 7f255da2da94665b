"""Compute once what several read and what would not be the same for each."""

from collections import Counter
from dataclasses import replace

from engine.expectations.rules import QueryCheck
from engine.job.model.job import Cache
from engine.plan.nodes import AnyNode, Expect, KeepableNode, Kept, Plan, Query, Scan, Union, children, rewrite
from engine.plan.staged_rules import staged_rules


def keep_shared(plan: Plan) -> Plan:
    """Have the rows of a node kept for its readers where the job says so, where they may be others the next time
    (`rand()`, a clock, a limit without an order), or where its source is dear to read.

    Not where the job says `cache = none`. Rows that are the same each time and cheap to read are computed for each
    reader: then Spark reads only what that one needs.
    """
    readers = _readers(plan)
    unsettled: set[str] = set()

    def keep(node: AnyNode) -> AnyNode:
        if not isinstance(node, KeepableNode):
            return node
        varies = varies_by_itself(node) or any(child.name in unsettled for child in children(node))
        kept = _kept(node, readers[node.name], varies)
        if varies and kept is None:
            unsettled.add(node.name)
        return node if node.kept == kept else replace(node, kept=kept)

    return rewrite(plan, keep)


def varies_by_itself(node: Scan | Query | Union | Expect) -> bool:
    """Whether the node may yield other rows the next time, though what it reads is the same."""
    match node:
        case Query():
            return not node.analysis.is_deterministic
        case Scan():
            return not node.connector.source_capabilities.is_deterministic
        case Union() | Expect():
            return False


def _kept(node: KeepableNode, readers: int, varies: bool) -> Kept | None:
    if readers < 2 or node.cache is Cache.NONE:
        return None
    if node.cache is not None:
        return Kept(node.cache, readers, f"cache = {node.cache.value}")
    if varies:
        return Kept(Cache.DISK, readers, "its rows may be others the next time")
    if isinstance(node, Scan) and not node.connector.source_capabilities.is_cheap:
        return Kept(Cache.DISK, readers, "its source is dear to read, and may change in between")
    return None


def _readers(plan: Plan) -> Counter[str]:
    """How often each node, by its name, is read; rules that are checked by a query of their own read it once more,
    unless they read what a sink has staged."""
    judged = {write.input.name for write in plan.writes if staged_rules(write)}
    found = Counter(child.name for node in plan.nodes() for child in children(node))
    for node in plan.nodes():
        if not isinstance(node, Expect) or node.name in judged:
            continue
        if any(isinstance(rule.check, QueryCheck) for rule in node.rules):
            found[node.input.name] += 1
    return found
