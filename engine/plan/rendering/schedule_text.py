"""The order in which a plan's pipelines get their slots, as text and JSON."""

from collections.abc import Iterator, Mapping
from typing import Final

from catalog.options import Value
from engine.plan.connections import connections_of, limits_of
from engine.plan.nodes import Plan
from engine.plan.pipelines import named_pipelines, slots, weight

MOST: Final = 20


def schedule_text(plan: Plan) -> str:
    """The pipelines in the order in which they queue for slots; nothing where there is only one."""
    named = named_pipelines(plan)
    if len(named) < 2:
        return ""
    waits = f", waiting at most {plan.env.slot_timeout:g} s" if plan.env.slot_timeout is not None else ""
    lines = [f"{len(named)} pipelines, {slots(plan)} slots, first come, first served{waits}:"]
    limits = limits_of(plan)
    for name, pipeline in list(named.items())[:MOST]:
        lines.append(f"  {name} ({', '.join(_taken(pipeline, limits))})")
    if len(named) > MOST:
        lines.append(f"  … {len(named) - MOST} more")
    return "\n".join(lines) + "\n"


def _taken(pipeline: Plan, limits: Mapping[str, int]) -> Iterator[str]:
    """What a pipeline takes while it runs, in addition to one slot."""
    yield f"{len(pipeline.writes)} sink{'s' * (len(pipeline.writes) > 1)}"
    if (taken := weight(pipeline)) > 1:
        yield f"{taken} slots"
    for place, connections in connections_of(pipeline).taken.items():
        yield f"{connections} of {limits[place]} connections to {place}"


def schedule_json(plan: Plan) -> dict[str, Value]:
    """The same for other programs."""
    pipelines: list[Value] = [
        {"name": name, "slots": weight(pipeline), "writes": [write.name for write in pipeline.writes]}
        for name, pipeline in named_pipelines(plan).items()
    ]
    return {"slots": slots(plan), "slot_timeout_seconds": plan.env.slot_timeout, "pipelines": pipelines}
