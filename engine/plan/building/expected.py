"""Turns the expectations of a block into nodes between the block and its readers."""

from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostics
from engine.expectations.expect_option import rejects_of_rules
from engine.expectations.read_expectations import read_rules
from engine.job.model.job import Block, BlockKind
from engine.plan.building.table_sets import member_names
from engine.plan.nodes import Expect, Node, Rejects, Scan, Watermark


def expected(
    block: Block,
    name: str,
    nodes: tuple[Node, ...] | None,
    diagnostics: Diagnostics,
    strays: tuple[Rejects, ...] = (),
) -> tuple[tuple[Node, ...] | None, tuple[Rejects, ...]]:
    """The nodes, each behind its rules, and the rows that they quarantine, in the order of the block's rejects.

    `strays` are those that the block itself quarantines, as `TableRoute` does.
    """
    everywhere = (block.options, *(table.options for table in block.tables))
    if not nodes or not block.options.is_valid or not any(options.get("expectations") for options in everywhere):
        return nodes, strays
    quarantines = rejects_of_rules(block.options)
    if len(nodes) > 1 and quarantines:
        message = f"`{name}` has several tables, whose rows cannot be quarantined in one"
        diagnostics.error("PEN2011", message, quarantines[0].span, "FAIL, WARN or DROP")
        return None, ()
    own_rejects = {stray.name.lower(): stray for stray in strays}
    if shared := next((into for into in quarantines if into.name.lower() in own_rejects), None):
        message = f"`{shared.name}` would get rows of unknown tables and rows that break an expectation"
        diagnostics.error("PEN2011", message, shared.span, "name another output")
        return None, ()
    checked: list[Node] = []
    rejects: list[Rejects] = []
    is_set = nodes[0].table_set is not None
    names = member_names(name, [node.table.path for node in nodes]) if is_set else (name,) * len(nodes)
    for own_name, node in zip(names, nodes, strict=True):
        options = block.options
        scan = node.input if isinstance(node, Watermark) else node
        if block.kind is BlockKind.SOURCE and isinstance(scan, Scan):
            options = scan.options  # those of its entry in `tables_configs`
        if not options.get("expectations"):
            checked.append(node)
            continue
        mark = diagnostics.mark()
        rules = read_rules(options, own_name, node.table, diagnostics)
        if mark.has_errors:
            return None, ()
        span = options.span("expectations")
        below = node
        if node.name == own_name:
            below = replace(node, name=f"{node.name}_unchecked", written=node.written_name)
        checked.append(Expect(own_name, below, rules, parallelism=block.parallelism, span=span, cache=block.cache,
                              table_set=node.table_set))  # fmt: skip
        for into in quarantines:
            own = tuple(rule for rule in rules if (rule.quarantine or "").lower() == into.name.lower())
            rejects.append(Rejects(into.name, below, own, own_name, parallelism=block.parallelism, span=span))
    order = [into.name.lower() for into in block.rejects]
    return tuple(checked), tuple(sorted((*rejects, *strays), key=lambda reject: order.index(reject.name.lower())))
