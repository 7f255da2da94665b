"""Outputs that replace earlier ones of the same name, which Apache SeaTunnel allows."""

from collections.abc import Sequence
from dataclasses import replace

from engine.job.model.job import Block, Reference


def with_own_names(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with a name of its own for each output: a second `fake` is `fake_2`, which the blocks below it read.

    The same blocks where no name is given twice. Two outputs of one block stay as they are.
    """
    names = [output.name.lower() for block in blocks for output in block.outputs]
    if len(set(names)) == len(names):
        return tuple(blocks)
    current: dict[str, str] = {}
    taken: set[str] = set()
    renamed: list[Block] = []
    for block in blocks:
        inputs = tuple(_reference(input, current) for input in block.inputs)
        own = {output.name.lower(): _free(output.name, {*names, *taken}) for output in block.outputs
               if output.name.lower() in taken}  # fmt: skip
        outputs = tuple(_reference(output, own) for output in block.outputs)
        current |= own
        taken |= {output.name.lower() for output in outputs}
        renamed.append(replace(block, inputs=inputs, outputs=outputs))
    return tuple(renamed)


def _reference(reference: Reference, names: dict[str, str]) -> Reference:
    return replace(reference, name=names.get(reference.name.lower(), reference.name))


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}".lower() in taken:
        number += 1
    return f"{name}_{number}"
