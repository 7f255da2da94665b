"""The order in which a plan's pipelines get their slots, as text and JSON."""

from typing import Final

from connectors.support.option import Value
from engine.plan.nodes import Plan
from engine.plan.pipelines import named_pipelines, slots, weight

MOST: Final = 20


def schedule_text(plan: Plan) -> str:
    """The pipelines in the order in which they queue for slots; nothing where there is only one."""
    named = named_pipelines(plan)
    if len(named) < 2:
        return ""
    lines = [f"{len(named)} pipelines, {slots(plan)} slots, first come, first served:"]
    for name, pipeline in list(named.items())[:MOST]:
        taken = weight(pipeline)
        lines.append(f"  {name} ({len(pipeline.writes)} sink{'s' * (len(pipeline.writes) > 1)}"
                     f"{f', {taken} slots' if taken > 1 else ''})")  # fmt: skip
    if len(named) > MOST:
        lines.append(f"  … {len(named) - MOST} more")
    return "\n".join(lines) + "\n"


def schedule_json(plan: Plan) -> dict[str, Value]:
    """The same for other programs."""
    pipelines: list[Value] = [
        {"name": name, "slots": weight(pipeline), "writes": [write.name for write in pipeline.writes]}
        for name, pipeline in named_pipelines(plan).items()
    ]
    return {"slots": slots(plan), "pipelines": pipelines}
