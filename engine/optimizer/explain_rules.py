"""What each rule did to a plan, as text."""

from collections.abc import Collection
from difflib import ndiff

from engine.optimizer import optimize
from engine.plan.nodes import Plan
from engine.plan.rendering.explain_text import explain


def explain_rules(plan: Plan, *, disabled: Collection[str] = ()) -> str:
    """For each rule that changed something, the lines of the plan that went (`-`) and came (`+`)."""
    parts: list[str] = []

    def note(name: str, before: Plan, after: Plan) -> None:
        if before is not after:
            lines = ndiff(explain(before).splitlines(), explain(after).splitlines())
            changed = [line.rstrip() for line in lines if line[:1] in "+-"]
            parts.append("\n".join([f"rule {name}", *(f"  {line}" for line in changed)]))

    optimize(plan, disabled=disabled, observer=note)
    return "\n\n".join(parts or ["no rule changed the plan"]) + "\n"
