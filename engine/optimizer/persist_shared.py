"""Persist rows that several nodes read and that would differ between the reads."""

from collections import Counter
from dataclasses import replace

from catalog.exhaustive import assert_never
from connectors.interface.incremental import incremental_of
from engine.expectations.rules import QueryCheck
from engine.job.model.job import Cache
from engine.plan.nodes import (
    AnyNode,
    Expect,
    Native,
    PersistableNode,
    Persisted,
    Plan,
    Query,
    Scan,
    Shuffle,
    Union,
    Watermark,
    below,
    children,
    rewrite,
)
from engine.plan.staged_rules import staged_rules


def persist_shared(plan: Plan) -> Plan:
    """Persist the rows of a node with several readers where the job says so, where they may differ the next time
    (`rand()`, a clock, a limit without an order), where its source is expensive to read, or where a batch job would
    compute aggregates, DISTINCT or windows again.

    Not if the job sets `cache = none`, unless an incremental source would be read twice. Deterministic rows that are
    cheap to read are computed for each reader: then Spark reads only what that reader needs.
    """
    readers = _readers(plan)
    unsettled: set[str] = set()
    shuffled: set[str] = set()
    is_batch = plan.env.mode == "BATCH"  # in a stream, Spark keeps the groups as its state

    def persist(node: AnyNode) -> AnyNode:
        if not isinstance(node, PersistableNode) or (isinstance(node, Shuffle) and node.routing is not None):
            return node  # what `shuffle_tables` has chosen stands
        varies = varies_by_itself(node) or any(child.name in unsettled for child in children(node))
        shuffles = is_batch and (
            (isinstance(node, Query) and node.analysis.shuffles)
            or any(child.name in shuffled for child in children(node))
        )
        persisted = _persisted(node, readers[node.name], varies, shuffles)
        if persisted is None:
            if varies:
                unsettled.add(node.name)
            if shuffles:
                shuffled.add(node.name)
        return node if node.persisted == persisted else replace(node, persisted=persisted)

    return rewrite(plan, persist)


def varies_by_itself(node: Scan | Query | Native | Union | Expect | Watermark | Shuffle) -> bool:
    """Whether the node may yield different rows the next time from the same input."""
    match node:
        case Query():
            return not node.analysis.is_deterministic
        case Scan():
            is_same = node.connector.source_capabilities.is_deterministic
            return not is_same or incremental_of(node.options) is not None  # new rows come while it is read
        case Native():
            return node.plugin.is_expensive
        case Union() | Expect() | Watermark() | Shuffle():
            return False
        case _:
            assert_never(node)


def chosen_cache(node: PersistableNode) -> Cache | None:
    """What the job says; `none` has no effect on rows of an incremental source, whose watermark holds for one read."""
    if node.cache is Cache.NONE and isinstance(node, Scan | Query | Native | Union | Expect | Watermark | Shuffle):
        scans = (scan for scan in below(node) if isinstance(scan, Scan))
        return None if any(incremental_of(scan.options) for scan in scans) else Cache.NONE
    return node.cache


def _persisted(node: PersistableNode, readers: int, varies: bool, shuffles: bool) -> Persisted | None:
    cache = chosen_cache(node)
    if readers < 2 or cache is Cache.NONE:
        return None
    if cache is not None:
        return Persisted(cache, readers, f"cache = {cache.value}")
    if varies:
        return Persisted(Cache.DISK, readers, "its rows may differ the next time")
    if isinstance(node, Scan) and not node.connector.source_capabilities.is_cheap:
        return Persisted(Cache.DISK, readers, "its source is expensive to read and may change in between")
    if shuffles:
        return Persisted(Cache.DISK, readers, f"its aggregates or windows would be computed {readers} times")
    return None


def _readers(plan: Plan) -> Counter[str]:
    """How often each node, by its name, is read; rules that are checked by a query of their own read it again,
    unless they read what a sink has staged."""
    judged = {write.input.name for write in plan.writes if staged_rules(write)}
    found = Counter(child.name for node in plan.nodes() for child in children(node))
    for node in plan.nodes():
        if not isinstance(node, Expect) or node.name in judged:
            continue
        if any(isinstance(rule.check, QueryCheck) for rule in node.rules):
            found[node.input.name] += 1
    return found
