"""Which queries of a plan did not become one, and why, as text and JSON."""

from typing import Final

from catalog.diagnostics.shown_names import shown_name
from catalog.options import Value
from engine.optimizer.chain_transforms import not_chained
from engine.plan.nodes import Plan

MOST: Final = 20


def chaining_text(plan: Plan) -> str:
    """The edges between queries of an optimized plan, with the reasons; nothing where there is none."""
    lines = [
        f"  {shown_name(inner.written_name)} -> {shown_name(outer.written_name)}: {reason}"
        for inner, outer, reason in not_chained(plan)
    ]
    more = [f"  … {len(lines) - MOST} more"] if len(lines) > MOST else []
    return "\n".join(["not chained:", *lines[:MOST], *more]) + "\n" if lines else ""


def chaining_json(plan: Plan) -> Value:
    """The same for other programs: ids of the nodes."""
    return [{"from": inner.id, "to": outer.id, "reason": reason} for inner, outer, reason in not_chained(plan)]
