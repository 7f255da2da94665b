"""Inputs of `Sql` transforms that only their queries name, as in the first versions of Apache SeaTunnel.

    Sql { query = "select * from orders join users on orders.user = users.id" }

reads `orders` and `users`, not the block above it.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.job.model.job import Block, BlockKind, Reference
from sql.parsing.query_text import tables_named


def with_queried_inputs(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with inputs for each such transform whose query names outputs of blocks above it."""
    above: set[str] = set()
    completed: list[Block] = []
    for block in blocks:
        names = tuple(name for name in _queried(block) if name.lower() in above)
        inputs = tuple(Reference(name, block.options.span("query")) for name in names)
        completed.append(replace(block, inputs=inputs) if inputs else block)
        above |= {output.name.lower() for output in block.outputs}
    return tuple(completed)


def _queried(block: Block) -> tuple[str, ...]:
    """The tables of a query whose block has no `plugin_input`."""
    if block.kind is not BlockKind.TRANSFORM or block.plugin.lower() != "sql" or not block.names_are_known:
        return ()
    query = block.options.get("query")
    if block.inputs or "plugin_input" in block.options.places or not isinstance(query, str):
        return ()
    return tuple(dict.fromkeys(tables_named(query)))
