"""Blocks with one `uid`: each would continue from the state of the other."""

from collections.abc import Iterable

from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.model.job import Block


def refuse_equal_uids(blocks: Iterable[Block], diagnostics: Diagnostics) -> None:
    """Report PEN2201 at each `uid` that an earlier block has."""
    first: dict[str, Block] = {}
    for block in blocks:
        if block.uid is None:
            continue
        other = first.setdefault(block.uid, block)
        if other is not block:
            message = f"`{other.name}` and `{block.name}` have the same `uid`: `{block.uid}`"
            help = "state is recorded by `uid`: give each block one of its own"
            diagnostics.error("PEN2201", message, block.options.span("uid"), help)
