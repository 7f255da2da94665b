"""Whether a streaming job can be computed batch by batch: what cannot is reported where it is, before anything runs."""

import re
from collections.abc import Sequence
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText, Span
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.savemode import WriteMode
from connectors.interface.incremental import incremental_of
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
from engine.plan.streams import (
    Flows,
    StreamPlan,
    flow_of,
    follows_schema,
    is_stream,
    late_rows_of,
    streaming_source,
    streams_of,
)
from engine.transforms.base import StatefulTransform
from sql.streams.stream_rows import StreamQueryError, StreamRows

_QUOTED: Final = re.compile(r"`(\w+)`")
_REPLACING: Final = (WriteMode.OVERWRITE_PARTITIONS, WriteMode.REPLACE_WHERE)


def check_streams(env: Env, writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Report what a streaming job cannot do (PEN2030, PEN2032)."""
    if env.mode != "STREAMING":
        return
    check_trigger(env, diagnostics)
    mark = diagnostics.mark()
    for pipeline in pipelines(Plan(env, tuple(writes))):
        _check_pipeline(pipeline, diagnostics)
    if not mark.has_errors:
        _check_late_rows(Plan(env, tuple(writes)), diagnostics)
    if not mark.has_errors:
        for stream in streams_of(Plan(env, tuple(writes))):
            _check_state(stream, diagnostics)
            _check_schema_changes(stream, diagnostics)


def _check_pipeline(plan: Plan, diagnostics: Diagnostics) -> None:
    scans = [node for node in plan.nodes() if isinstance(node, Scan)]
    streams = [scan for scan in scans if is_stream(scan)]
    for scan in streams:
        if why := streaming_source(scan).stream_obstacle(scan.options):
            help = "`stream = false` reads it as a table, anew for each micro-batch" if len(streams) > 1 else None
            span = _named_option(scan, why)
            diagnostics.error("PEN2030", f"`{scan.name}` cannot be read as a stream: {why}", span, help)
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
    flows: dict[Node, StreamRows] = {}
    for node in plan.nodes():
        if isinstance(node, Write):
            _check_write(node, flows, diagnostics)
        elif (rows := _checked(node, flows, diagnostics)) is not None:
            flows[node] = rows


def _check_late_rows(plan: Plan, diagnostics: Diagnostics) -> None:
    """Report late rows of a source that no transform with state reads, or several streams with their own watermarks;
    and sinks of them that read more."""
    streams = streams_of(plan)
    for write in plan.writes:
        for late in late_rows_of(write):
            above = [stream for stream in streams if stream.stateful and late.input in below(stream.head)]
            others = [
                node
                for node in below(write)
                if (isinstance(node, Scan) and is_stream(node) and node not in below(late))
                or any(node in stream.stateful for stream in streams)
            ]
            if others or _reaches_beside(write, late):
                message = f"`{write.name}` reads late rows of `{late.node}`, and other rows of streams"
                diagnostics.error("PEN2032", message, write.span, "give each a sink of its own")
            elif not above:
                message = f"`{late.name}` has the rows that come too late for windows, joins and `Deduplicate`"
                help = f"no such transform reads `{late.node}`: write its rows themselves"
                diagnostics.error("PEN2032", message, write.span, help)
            elif len(above) > 1:
                names = " and ".join(f"`{stream.name}`" for stream in above)
                message = f"`{late.node}` is read by {names}, each with a watermark and late rows of its own"
                diagnostics.error("PEN2032", message, late.span, "`late = drop`, or a source for each")


def _reaches_beside(write: Write, late: Rejects) -> bool:
    """Whether the write reads the source of late rows by another way than through these."""
    stack: list[AnyNode] = [write]
    while stack:
        node = stack.pop()
        if node is late.input:
            return True
        stack.extend(child for child in children(node) if child is not late)
    return False


def _named_option(scan: Scan, why: str) -> Span | None:
    """Where the option that a reason names first, such as `path`, has its value; else the whole block."""
    named = _QUOTED.search(why)
    return (scan.options.span(named.group(1)) if named else None) or scan.span


def _check_write(write: Write, flows: Flows, diagnostics: Diagnostics) -> None:
    if write.input not in flows:
        message = f"`{write.name}` reads no stream: every micro-batch would write the same rows again"
        diagnostics.error("PEN2032", message, write.span, "write it by a batch job of its own")
    elif write.write_mode in _REPLACING:
        mode = write.write_mode.value
        message = f"`write_mode = {mode}` would have each micro-batch replace the rows of those before"
        diagnostics.error("PEN2032", message, write.options.span("write_mode"), "`append` or `upsert` keeps them")


def _checked(node: Node, flows: Flows, diagnostics: Diagnostics) -> StreamRows | None:
    """What the node yields of the streams; as if row by row where it cannot, which is reported."""
    try:
        rows = flow_of(node, flows)
    except StreamQueryError as error:
        span = node.body.span() if isinstance(node, Query) and isinstance(node.body, PlacedText) else node.span
        help = "write the rows to a table, and let a batch job compute it from there"
        if table := _read_as_stream(node, flows):
            help = f"where `{table}` is a table to join, it is read as a whole: `stream = false`"
        diagnostics.error("PEN2032", f"`{node.name}` cannot run on a stream: {error}", span, help)
        return StreamRows()
    if rows is None:
        return None
    if isinstance(node, Union) and any(child not in flows for child in children(node)):
        message = f"`{node.name}` unites a stream with a table, whose rows would come again in every micro-batch"
        diagnostics.error("PEN2032", message, node.span)
    is_keeper = isinstance(node, Native) and isinstance(node.plugin, StatefulTransform)
    if is_keeper and not rows.event_times:
        message = f"`{node.name}` would have to remember all keys for ever: its rows have no `watermark`"
        help = 'give the source or a transform before it `watermark { column = …, delay = "10 minutes" }`'
        diagnostics.error("PEN2032", message, node.span, help)
    return rows


def _read_as_stream(node: Node, flows: Flows) -> str | None:
    """A source joined by another stream that could also be read as a table."""
    if sum(child in flows for child in children(node)) < 2:
        return None
    scans = (scan for scan in below(node) if isinstance(scan, Scan) and is_stream(scan))
    return next((scan.name for scan in scans if scan.options.get("stream") is True), None)


def _check_schema_changes(stream: StreamPlan, diagnostics: Diagnostics) -> None:
    """Report what cannot take columns that appear while the stream is running, where its source follows them."""
    scan = next((scan for scan in stream.scans if follows_schema(scan)), None)
    if scan is None:
        return
    routes = [node for node in stream.plan.nodes() if isinstance(node, Shuffle)]
    if stream.scan is None or routes:
        why = "declares the columns of each table" if routes else "is a query over several micro-batches"
        message = f"`{scan.name}` follows the schema of its records, and `{(*routes, stream.head)[0].name}` {why}"
        diagnostics.error("PEN2032", message, scan.span, "declare the columns, and leave `schema-changes.enabled` out")
        return
    for write in stream.plan.writes:
        evolution = write.options.get("schema_evolution")
        if evolution is None:
            message = f"`{write.name}` cannot take columns that appear in `{scan.name}`: its target cannot be changed"
            help = "write to Delta, Iceberg, Paimon or a database, or leave `schema-changes.enabled` out"
            diagnostics.error("PEN2032", message, write.span, help)
        elif evolution == SchemaEvolution.FAIL.value:
            message = f"`{write.name}` refuses columns that appear in `{scan.name}`, which follows its records' schema"
            span = write.options.span("schema_evolution")
            diagnostics.error("PEN2032", message, span, "schema_evolution = add_columns")


def _check_state(stream: StreamPlan, diagnostics: Diagnostics) -> None:
    """Report what Spark cannot do below the head of a stream, where rows are not yet those of a micro-batch."""
    if stream.scan is not None:
        return
    for node in below(stream.head):
        if isinstance(node, Scan) and is_stream(node):
            if why := streaming_source(node).streamed_rows_obstacle(node.options, node.table):
                keeper = (
                    f"`{stream.stateful[0].name}` keeps state" if stream.stateful else f"`{stream.name}` unites streams"
                )
                message = f"{keeper} over `{node.name}`, whose rows Spark cannot read as a stream: {why}"
                diagnostics.error("PEN2032", message, node.span)
        elif isinstance(node, Expect) and node is not stream.head:
            message = f"the rules of `{node.name}` are checked in each micro-batch, and state is kept over its rows"
            help = f"give them to `{stream.name}`, or to the sink"
            diagnostics.error("PEN2032", message, node.span, help)
