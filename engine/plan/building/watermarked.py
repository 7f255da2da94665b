"""Turns the option `watermark` of a block into a node between the block and its readers."""

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.interface.source_abilities import SupportsPartitionTimes
from engine.job.model.job import Block, BlockKind, Env
from engine.job.options.watermark_option import check_watermark, watermark_of
from engine.plan.nodes import Node, Rejects, Scan, Watermark, below
from engine.plan.streams import is_stream


def watermarked(
    block: Block, nodes: tuple[Node, ...] | None, env: Env, diagnostics: Diagnostics
) -> tuple[Node, ...] | None:
    """The nodes of a block, with their watermark in a streaming job; a batch job has all rows and needs none."""
    if not block.options.is_valid or block.options.get("watermark") is None:
        return nodes
    mark = diagnostics.mark()
    if block.kind is BlockKind.SINK:
        message = "a sink has no `watermark`"
        diagnostics.error("PEN2011", message, block.options.span("watermark"), "give it to the source or a transform")
        return None
    for node in nodes or ():
        check_watermark(block.options, node.table, diagnostics)
        if earlier := next((under for under in below(node) if isinstance(under, Watermark)), None):
            message = f"`{earlier.input.name}` has a watermark already: Spark follows one from there on"
            diagnostics.error("PEN2011", message, block.options.span("watermark"), "leave one of them out")
        if of_partitions := _obstacle(block, node):
            diagnostics.error("PEN2011", of_partitions, block.options.span("watermark"), "leave it out")
    declared = watermark_of(block.options)
    if mark.has_errors:
        return None
    if nodes is None or declared is None or env.mode != "STREAMING":
        return nodes
    return tuple(
        Watermark(node.name, node, declared.column, declared.delay, declared.idle, parallelism=block.parallelism,
                  span=block.options.span("watermark"), table_set=node.table_set)
        for node in nodes
    )  # fmt: skip


def late_rows(block: Block, nodes: tuple[Node, ...] | None, diagnostics: Diagnostics) -> tuple[Rejects, ...]:
    """The rows of a source that come too late, where they are an output; a batch job has none."""
    declared = watermark_of(block.options) if block.options.is_valid else None
    if not nodes or declared is None or not declared.has_late_rows:
        return ()
    span = block.options.span("watermark")
    if len(nodes) > 1:
        message = f"`{block.name}` has several tables, whose late rows cannot be in one"
        diagnostics.error("PEN2011", message, span, "late = drop")
        return ()
    name = f"{block.outputs[0].name}_late" if block.outputs else f"{nodes[0].name}_late"
    return (Rejects(name, nodes[0], (), nodes[0].name, parallelism=block.parallelism, span=span),)


def _obstacle(block: Block, node: Node) -> str | None:
    """Why the options about partitions cannot be used; None where they can, or are not."""
    declared = watermark_of(block.options)
    if declared is None or (declared.idle is None and not declared.has_late_rows):
        return None
    if isinstance(node, Scan) and is_stream(node) and isinstance(node.connector, SupportsPartitionTimes):
        return None
    option = "idle.timeout" if declared.idle is not None else "late"
    return f"`{option}` is for the `watermark` of a Kafka source: `{node.name}` has no partitions with their own times"
