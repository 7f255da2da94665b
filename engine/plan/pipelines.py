"""A plan's pipelines: its connected components, which share nothing and can run side by side.

A read of what a write of the plan has staged is connected to that write.
"""

from dataclasses import replace

from engine.plan.nodes import AnyNode, Plan, Scan, Write, children


def pipelines(plan: Plan) -> tuple[Plan, ...]:
    """One plan per set of writes that share a node, in the order of their first writes; what no write reads is left."""
    leader: dict[AnyNode, AnyNode] = {}  # node -> one of its component that is nearer to the one that names it

    def find(node: AnyNode) -> AnyNode:
        while leader.setdefault(node, node) is not node:
            leader[node] = node = leader[leader[node]]
        return node

    seen: set[AnyNode] = set()
    by_name = {write.name: write for write in plan.writes}
    for write in plan.writes:
        stack: list[AnyNode] = [write]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(children(node))
                for child in children(node):
                    leader[find(child)] = find(node)
                if isinstance(node, Scan) and node.of_group is not None and node.of_group.is_staged:
                    leader[find(by_name[node.of_group.write])] = find(node)
    groups: dict[AnyNode, list[Write]] = {}
    for write in plan.writes:
        groups.setdefault(find(write), []).append(write)
    return tuple(replace(plan, writes=tuple(writes), unread=()) for writes in groups.values())


def named_pipelines(plan: Plan) -> dict[str, Plan]:
    """The pipelines by their names: a number and what they read, or what they write if they read nothing."""
    named: dict[str, Plan] = {}
    for number, pipeline in enumerate(pipelines(plan), start=1):
        ends = [node.name for node in pipeline.nodes() if isinstance(node, Scan)]
        ends = ends or [write.name for write in pipeline.writes]
        more = f" and {len(ends) - 2} more" if len(ends) > 2 else ""
        named[f"{number}: {', '.join(ends[:2])}{more}"] = pipeline
    return named


def slots(plan: Plan) -> int:
    """How many slots there are for the pipelines of a plan."""
    return plan.env.slots or plan.env.parallelism


def weight(pipeline: Plan) -> int:
    """How many slots a pipeline takes: the largest parallelism of its sources, at most all."""
    wanted = max((node.parallelism or 1 for node in pipeline.nodes() if isinstance(node, Scan)), default=1)
    return min(wanted, slots(pipeline))
