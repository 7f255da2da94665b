"""A plan's pipelines: its connected components, which share nothing and can run side by side."""

from dataclasses import replace

from engine.plan.nodes import AnyNode, Plan, Write, below


def pipelines(plan: Plan) -> tuple[Plan, ...]:
    """One plan per set of writes that share a node, in the order of their first writes; what no write reads is left."""
    groups: list[tuple[set[AnyNode], list[Write]]] = []
    for write in plan.writes:
        nodes, writes = set(below(write)), [write]
        for group in [other for other in groups if other[0] & nodes]:
            groups.remove(group)
            nodes |= group[0]
            writes = group[1] + writes
        groups.append((nodes, writes))
    order = {write: index for index, write in enumerate(plan.writes)}
    ordered = sorted(groups, key=lambda group: min(order[write] for write in group[1]))
    return tuple(replace(plan, writes=tuple(sorted(writes, key=order.__getitem__)), unread=()) for _, writes in ordered)
