"""Expectations of a block become nodes between what it yields and what reads it."""

from dataclasses import replace

from catalog.diagnostics import Diagnostics
from engine.expectations.read_expectations import read_rules
from engine.job.model.job import Block
from engine.plan.nodes import Expect, Node, Rejects


def expected(
    block: Block, name: str, nodes: tuple[Node, ...] | None, diagnostics: Diagnostics
) -> tuple[tuple[Node, ...] | None, tuple[Rejects, ...]]:
    """The nodes, each behind its rules, and the rows that they quarantine, in the order of the block's rejects."""
    if not nodes or not block.options.get("expectations") or not block.options.is_valid:
        return nodes, ()
    if len(nodes) > 1 and block.rejects:
        message = f"`{name}` has several tables, whose rows cannot be quarantined in one"
        diagnostics.error("PEN2011", message, block.rejects[0].span, "FAIL, WARN or DROP")
        return None, ()
    checked: list[Node] = []
    rejects: list[Rejects] = []
    for node in nodes:
        before = diagnostics.has_errors
        rules = read_rules(block.options, name, node.table, diagnostics)
        if diagnostics.has_errors and not before:
            return None, ()
        span = block.options.span("expectations")
        below = replace(node, name=f"{node.name}_unchecked") if node.name == name else node
        checked.append(Expect(name, below, rules, parallelism=block.parallelism, span=span, cache=block.cache))
        for into in block.rejects:
            own = tuple(rule for rule in rules if (rule.quarantine or "").lower() == into.name.lower())
            rejects.append(Rejects(into.name, below, own, name, parallelism=block.parallelism, span=span))
    return tuple(checked), tuple(rejects)
