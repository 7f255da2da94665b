"""The columns of each source that the plan of a job uses."""

from collections.abc import Mapping

from engine.plan.nodes import AnyNode, Plan, Query, Scan, children


def used_columns(plan: Plan) -> Mapping[AnyNode, frozenset[str]]:
    """For each scan, in lower case: what the queries over it read; all columns where anything else reads it."""
    found: dict[AnyNode, set[str]] = {}
    for node in plan.nodes():
        if isinstance(node, Scan):
            found[node] = set()
        elif isinstance(node, Query):
            read = {name.lower(): columns for name, columns in node.analysis.columns_read.items()}
            for input in node.inputs:
                if isinstance(input.node, Scan):
                    columns = read.get(input.name.lower(), input.node.table.schema.names)
                    found[input.node].update(column.lower() for column in columns)
        else:
            for child in children(node):
                if isinstance(child, Scan):
                    found[child].update(name.lower() for name in child.table.schema.names)
    return {node: frozenset(columns) for node, columns in found.items()}
