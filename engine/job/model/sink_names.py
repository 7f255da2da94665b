"""The names of a job's sinks in plans, counts and messages."""

import re
from collections.abc import Mapping

from catalog.secret_names import redacted_text
from engine.job.model.job import Block, BlockKind, Job
from engine.job.model.wiring import Wiring

TARGET_OPTIONS = ("path", "table")


def sink_names(job: Job, wiring: Wiring) -> Mapping[Block, str]:
    """The names of all sinks, unique ignoring case.

    A sink has the name that the job gives it (`plugin_output`; in a script, its table), else that of the rows
    quarantined into it, else the last part of its target's path or table, else its connector's name. A derived name
    never equals an output's, so that a SQL script can use it for the table.
    """
    sinks = job.of_kind(BlockKind.SINK)
    names = {block: block.sink_name for block in sinks if block.sink_name}
    names |= {block: name for block in sinks if block not in names and (name := _quarantined(block, wiring))}
    outputs = {output.name.lower() for block in job.blocks for output in (*block.outputs, *block.rejects)}
    taken = outputs | {name.lower() for name in names.values()}
    for block in sinks:
        if block not in names:
            target = _target(block)
            names[block] = free_name(f"{target}_out" if target.lower() in outputs else target, taken)
    return names


def free_name(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken; it is added to `taken`, which holds names in lower case."""
    numbered = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 3)))
    found = next(candidate for candidate in numbered if candidate.lower() not in taken)
    taken.add(found.lower())
    return found


def _quarantined(block: Block, wiring: Wiring) -> str | None:
    return next((input.name for input in wiring.inputs[block] if input.output < 0), None)


def _target(block: Block) -> str:
    path = next((value for option in TARGET_OPTIONS if isinstance(value := block.options.get(option), str)), "")
    part = redacted_text(path).rstrip("/").rsplit("/", 1)[-1]  # a secret would be unknown by its letters alone
    name = re.sub(r"\W+", "_", part).strip("_")
    is_name = name and not name[0].isdigit() and "${" not in part  # not one name for several tables
    return name if is_name else block.plugin.lower()
