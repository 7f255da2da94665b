"""Sinks that end what the rows lack, and sources that do not bring all rows."""

from collections.abc import Sequence

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.interface.incremental import incremental_of
from engine.plan.nodes import Scan, Write, below


def refuse_partial_loads(writes: Sequence[Write], diagnostics: Diagnostics, *, is_streaming: bool) -> None:
    """Report PEN5460 at `missing_keys = end` of a sink whose rows are not all there are.

    Each run would end the versions of the keys that it does not read.
    """
    for write in writes:
        if write.options.get("missing_keys") != "end":
            continue
        partial = next(
            (node for node in below(write) if isinstance(node, Scan) and incremental_of(node.options) is not None), None
        )
        reason = None
        if is_streaming:
            reason = "a micro-batch has only the rows that have arrived"
        elif partial is not None:
            reason = f"`{partial.written_name}` is incremental, and brings only new rows"
        elif write.input.table.has_row_kind:
            reason = "its rows are changes of rows, not all that there are"
        if reason is not None:
            message = f"`{write.name}` ends the versions of keys that the rows lack, but {reason}"
            help = "leave `missing_keys` out, or read the whole source"
            diagnostics.error("PEN5460", message, write.options.span("missing_keys"), help)
