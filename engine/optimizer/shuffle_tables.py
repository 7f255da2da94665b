"""Choose how the rows of one stream get to the tables that they are for.

| what                  | reads the source | cost in addition to the writes of the tables             |
|-----------------------|------------------|----------------------------------------------------------|
| independent branches  | once per table   | nothing but these reads                                  |
| one partitioned write | once             | each row is written to Parquet and read there, once each |
| persist               | once             | each row is persisted, and read once for every table     |

The threshold `MOST_BRANCHES` is a rule of thumb: it has not been measured.
"""

from collections import Counter
from dataclasses import replace
from typing import Final

from catalog.types.datatypes import has_unknown
from connectors.files.file_types import can_hold
from engine.job.model.job import Cache
from engine.optimizer.persist_shared import chosen_cache, varies_by_itself
from engine.plan.nodes import (
    AnyNode,
    Node,
    PersistableNode,
    Persisted,
    Plan,
    Routing,
    RoutingStrategy,
    Scan,
    Shuffle,
    below,
    children,
    rewrite,
)

MOST_BRANCHES: Final = 2
"""Up to so many tables, each may read the source by itself, instead of the rows being written once more."""


def shuffle_tables(plan: Plan) -> Plan:
    """Choose for each `Shuffle` between independent branches, one partitioned write and persisting its rows.

    Branches only where the rows are the same each time and the source is cheap to read, or where the job says
    `cache = none`; a partitioned write only where Parquet can hold the rows.
    """
    readers = Counter(child.name for node in plan.nodes() for child in children(node))

    def choose(node: AnyNode) -> AnyNode:
        if not isinstance(node, Shuffle):
            return node
        routing = routing_of(node, readers[node.name])
        persisted = _persisted(node, routing, readers[node.name])
        if (node.routing, node.persisted) == (routing, persisted):
            return node
        return replace(node, routing=routing, persisted=persisted)

    return rewrite(plan, choose)


def routing_of(node: Shuffle, tables: int) -> Routing:
    """The strategy for a stream of which so many tables are read, and the reason."""
    if tables < 2:
        return Routing(RoutingStrategy.BRANCHES, "one table is read of it")
    cache = chosen_cache(node)
    if cache is Cache.NONE:
        return Routing(RoutingStrategy.BRANCHES, "cache = none")
    if cache is not None:
        return Routing(RoutingStrategy.PERSIST, f"cache = {cache.value}")
    reason = _reason_to_compute_once(node)
    if reason is None and tables <= MOST_BRANCHES:
        return Routing(RoutingStrategy.BRANCHES, f"{tables} tables, and the source is cheap to read again")
    reason = reason or f"{tables} tables would read the source {tables} times"
    if why := _unfit(node):
        return Routing(RoutingStrategy.PERSIST, f"{reason}; {why}")
    return Routing(RoutingStrategy.PARTITIONED, f"{reason}; each table reads its own directory")


def _reason_to_compute_once(node: Shuffle) -> str | None:
    """Why the rows must be computed once: else two tables could both have a row, or none."""
    if may_differ(node.input):
        return "its rows may differ the next time"
    scans = [scan for scan in below(node) if isinstance(scan, Scan)]
    if not all(scan.connector.source_capabilities.is_cheap for scan in scans):
        return "its source is expensive to read and may change in between"
    return None


def may_differ(node: Node) -> bool:
    """Whether a second read may yield other rows; not of what the job has persisted."""
    stack: list[Node] = [node]
    seen: set[Node] = set()
    while stack:
        current = stack.pop()
        is_settled = isinstance(current, PersistableNode) and current.cache in (Cache.MEMORY, Cache.DISK)
        if current in seen or is_settled:
            continue
        if isinstance(current, PersistableNode) and varies_by_itself(current):
            return True
        seen.add(current)
        stack.extend(children(current))
    return False


def _unfit(node: Shuffle) -> str | None:
    """Why the rows cannot be in Parquet files on their way."""
    if node.table.is_open or node.table.repeated:
        return "its columns are not known or not unique"
    for column in node.table.columns:
        if has_unknown(column.type) or not can_hold("parquet", column.type):
            return f"Parquet files cannot hold `{column.name}` ({column.type})"
    return None


def _persisted(node: Shuffle, routing: Routing, tables: int) -> Persisted | None:
    match routing.strategy:
        case RoutingStrategy.BRANCHES:
            return None
        case RoutingStrategy.PARTITIONED:
            return Persisted(Cache.DISK, tables, routing.reason, by=node.column)
        case RoutingStrategy.PERSIST:
            return Persisted(chosen_cache(node) or Cache.DISK, tables, routing.reason)
