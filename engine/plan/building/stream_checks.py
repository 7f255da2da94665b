"""Whether a streaming job can be computed batch by batch: what cannot is reported where it is, before anything runs."""

from collections.abc import Sequence
from typing import Final

from catalog.diagnostics import Diagnostics
from catalog.exhaustive import assert_never
from catalog.savemode import WriteMode
from catalog.source import PlacedText
from connectors.support.incremental import incremental_of
from engine.job.model.job import Env
from engine.plan.building.stream_trigger import check_trigger
from engine.plan.nodes import (
    AnyNode,
    Expect,
    Native,
    Node,
    Plan,
    Query,
    Rejects,
    Scan,
    Shuffle,
    Union,
    Write,
    below,
    children,
)
from engine.plan.pipelines import pipelines
from sql.rewrite.stream_rows import StreamQueryError, check_stream_rows

_REPLACING: Final = (WriteMode.OVERWRITE_PARTITIONS, WriteMode.REPLACE_WHERE)


def is_stream(scan: Scan) -> bool:
    """Whether a streaming job reads the source as a stream; any other is read anew for every micro-batch."""
    return scan.connector.source_capabilities.streaming


def stream_of(plan: Plan) -> Scan | None:
    """The source that a pipeline of a streaming job reads as a stream."""
    return next((node for node in plan.nodes() if isinstance(node, Scan) and is_stream(node)), None)


def check_streams(env: Env, writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Report what a streaming job cannot do (PEN2030, PEN2032)."""
    if env.mode != "STREAMING":
        return
    check_trigger(env, diagnostics)
    for pipeline in pipelines(Plan(env, tuple(writes))):
        _check_pipeline(pipeline, diagnostics)


def _check_pipeline(plan: Plan, diagnostics: Diagnostics) -> None:
    scans = [node for node in plan.nodes() if isinstance(node, Scan)]
    streams = [scan for scan in scans if is_stream(scan)]
    for scan in streams:
        if why := scan.connector.stream_obstacle(scan.options):
            diagnostics.error("PEN2030", f"`{scan.name}` cannot be read as a stream: {why}", scan.span)
    for scan in scans:
        if incremental_of(scan.options) is not None:
            message = "`incremental` is for batch jobs: a stream reads what is new by its checkpoint"
            diagnostics.error("PEN2032", message, scan.options.span("incremental"), "leave it out")
    if not streams:
        span = plan.env.options.span("job.mode") if plan.env.options else None
        named = scans[0].connector.name if scans else plan.writes[0].name
        message = f"`{named}` cannot be read as a stream, and the job is `job.mode = STREAMING`"
        diagnostics.error("PEN2030", message, span, 'set `job.mode = "BATCH"`')
        return
    if len(streams) > 1:
        names = f"`{streams[0].name}` and `{streams[1].name}`"
        message = f"{names} are two streams that come together: each has micro-batches of its own"
        diagnostics.error("PEN2032", message, streams[1].span, "give each stream sinks of its own")
        return
    flowing = {node for node in plan.nodes() if streams[0] in below(node)}
    for node in plan.nodes():
        if isinstance(node, Write):
            _check_write(node, flowing, diagnostics)
        elif node in flowing:
            _check_node(node, flowing, diagnostics)


def _check_write(write: Write, flowing: set[AnyNode], diagnostics: Diagnostics) -> None:
    if write not in flowing:
        message = f"`{write.name}` reads no stream: every micro-batch would write the same rows again"
        diagnostics.error("PEN2032", message, write.span, "write it by a batch job of its own")
    elif write.write_mode in _REPLACING:
        mode = write.write_mode.value
        message = f"`write_mode = {mode}` would have each micro-batch replace the rows of those before"
        diagnostics.error("PEN2032", message, write.options.span("write_mode"), "`append` or `upsert` keeps them")


def _check_node(node: Node, flowing: set[AnyNode], diagnostics: Diagnostics) -> None:
    match node:
        case Query(body=PlacedText() as text):
            names = [input.name for input in node.inputs if input.node in flowing]
            try:
                check_stream_rows(text.value, names)
            except StreamQueryError as error:
                help = "write the rows to a table, and let a batch job compute it from there"
                diagnostics.error("PEN2032", f"`{node.name}` cannot run on a stream: {error}", text.span(), help)
        case Union() if any(child not in flowing for child in children(node)):
            message = f"`{node.name}` unites a stream with a table, whose rows would come again in every micro-batch"
            diagnostics.error("PEN2032", message, node.span)
        case Scan() | Query() | Native() | Union() | Expect() | Rejects() | Shuffle():
            pass
        case _:
            assert_never(node)
