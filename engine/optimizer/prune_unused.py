"""Drop nodes that no sink reads."""

from dataclasses import replace

from engine.plan.nodes import AnyNode, Plan, Query, rewrite


def prune_unused(plan: Plan) -> Plan:
    """Drop nodes that no write reads, and inputs of queries that their text does not read."""
    pruned = replace(plan, unread=()) if plan.unread else plan
    return rewrite(pruned, _without_unread_inputs)


def _without_unread_inputs(node: AnyNode) -> AnyNode:
    if not isinstance(node, Query):
        return node
    reads = {name.lower() for name in node.analysis.reads}
    inputs = tuple(input for input in node.inputs if input.name.lower() in reads)
    return node if len(inputs) == len(node.inputs) else replace(node, inputs=inputs)
