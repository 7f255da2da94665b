"""How many connections pipelines open to a system that limits them (`max_connections` of a source).

A pipeline that reads two tables of a database with `max_connections = 4` reads each by two connections at most, and
runs when four are free.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from connectors.interface.source_abilities import ConnectionLimit, SupportsConnectionLimit
from engine.plan.nodes import Plan, Scan


@dataclass(frozen=True, eq=False, slots=True)
class Connections:
    """The connections of a pipeline: how many it takes of each limited system, and the most that a scan may open where
    it has more partitions, or it is not known how many."""

    taken: Mapping[str, int]
    caps: Mapping[Scan, int]


def connections_of(pipeline: Plan) -> Connections:
    """A scan opens one at least: a pipeline of more scans than its system has connections takes them all."""
    limited = _limited(pipeline)
    limits = _least(limited.values())
    scans = {place: sum(limit.place == place for limit in limited.values()) for place in limits}
    shares = {
        scan: min(limit.wanted or limits[limit.place], max(1, limits[limit.place] // scans[limit.place]))
        for scan, limit in limited.items()
    }
    taken = {
        place: min(most, sum(share for scan, share in shares.items() if limited[scan].place == place))
        for place, most in limits.items()
    }
    return Connections(taken, {scan: share for scan, share in shares.items() if limited[scan].wanted != share})


def limits_of(plan: Plan) -> Mapping[str, int]:
    """The least `max_connections` for each system that the plan reads."""
    return _least(_limited(plan).values())


def _limited(plan: Plan) -> dict[Scan, ConnectionLimit]:
    scans = (node for node in plan.nodes() if isinstance(node, Scan))
    return {scan: limit for scan in scans if (limit := _limit(scan)) is not None}


def _limit(scan: Scan) -> ConnectionLimit | None:
    source = scan.connector
    return source.connection_limit(scan.options) if isinstance(source, SupportsConnectionLimit) else None


def _least(limits: Iterable[ConnectionLimit]) -> dict[str, int]:
    least: dict[str, int] = {}
    for limit in limits:
        least[limit.place] = min(limit.most, least.get(limit.place, limit.most))
    return least
