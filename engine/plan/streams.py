"""The streams of a job: which rows arrive in micro-batches, and what is made of each of them.

A stream has a head: the node whose rows are those of its micro-batches. Without state it is the source, and all that
reads it runs anew for each micro-batch. Where groups, joins of streams or `Deduplicate` need rows of other
micro-batches, it is the lowest node above all of these: Spark computes it, and keeps their state in the checkpoint.

    Kafka ── select ── group by window ── select ── Delta     the head is the group: what is left of it, Spark computes
      └──── select ── Delta                                   another stream, whose head is the source
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from catalog.diagnostics.source import PlacedText
from catalog.exhaustive import assert_never
from connectors.interface.source_abilities import SupportsNewColumns, SupportsPartitionTimes, SupportsStreaming
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
    Watermark,
    Write,
    below,
    children,
)
from engine.plan.pipelines import pipelines
from engine.transforms.base import StatefulTransform
from sql.rewrite.select_query import Select
from sql.streams.stream_rows import SAMPLED, StreamQueryError, StreamRows, stream_rows

Flows = Mapping[Node, StreamRows]
"""The nodes that yield rows of a stream, with their event times, and whether they keep state themselves."""


@dataclass(frozen=True, eq=False, slots=True)
class StreamPlan:
    """One stream: the writes that read it and no other, and its head; `stateful`: the nodes that keep state; `late`:
    the rows that come too late for these, of sources below the head."""

    plan: Plan
    head: Node
    stateful: tuple[Node, ...]
    late: tuple[Rejects, ...] = ()

    @property
    def name(self) -> str:
        return self.head.name

    @property
    def scans(self) -> tuple[Scan, ...]:
        """The sources that are read as streams, in the order of the plan."""
        under = set(below(self.head))
        return tuple(node for node in self.plan.nodes() if isinstance(node, Scan) and is_stream(node) and node in under)

    @property
    def watermarks(self) -> tuple[Watermark, ...]:
        """Those below the head, in the order of the plan."""
        under = set(below(self.head))
        return tuple(node for node in self.plan.nodes() if isinstance(node, Watermark) and node in under)

    @property
    def is_timed(self) -> bool:
        """Whether Penstock follows the event times of its partitions, instead of Spark those of all its rows."""
        return bool(self.stateful) and any(map(is_of_partitions, self.watermarks))

    @property
    def is_bounded(self) -> bool:
        """Whether its sources ask for an end, whatever the job's trigger."""
        return all(streaming_source(scan).is_bounded(scan.options) for scan in self.scans)

    @property
    def scan(self) -> Scan | None:
        """The source, where it is the head."""
        return self.head if isinstance(self.head, Scan) else None


def is_stream(scan: Scan) -> bool:
    """Whether a streaming job reads the source as a stream; any other is read anew for every micro-batch."""
    return isinstance(scan.connector, SupportsStreaming) and scan.options.get("stream") is not False


def streaming_source(scan: Scan) -> SupportsStreaming:
    """The source of a scan that `is_stream`."""
    assert isinstance(scan.connector, SupportsStreaming), f"`{scan.name}` is read as a stream"
    return scan.connector


def is_of_partitions(watermark: Watermark) -> bool:
    """Whether the rows are those of a source whose partitions have event times of their own."""
    scan = watermark.input
    return isinstance(scan, Scan) and is_stream(scan) and isinstance(scan.connector, SupportsPartitionTimes)


def follows_schema(scan: Scan) -> bool:
    """Whether the stream adds columns that appear in what arrives."""
    return isinstance(scan.connector, SupportsNewColumns) and scan.connector.follows_schema(scan.options)


def streams_of(plan: Plan) -> tuple[StreamPlan, ...]:
    """The streams of a plan that has been checked, in the order of their first writes."""
    found: list[StreamPlan] = []
    for pipeline in pipelines(plan):
        flows = flows_of(pipeline)
        by_head: dict[Node, list[Write]] = {}
        for write in pipeline.writes:
            if not late_rows_of(write):
                by_head.setdefault(head_of(replace(pipeline, writes=(write,)), flows), []).append(write)
        for head, writes in by_head.items():
            stateful = tuple(node for node in flows if flows[node].keeps_state and node in below(head))
            late, of_late = _late_of(pipeline, head) if stateful else ((), ())
            chosen = {*writes, *of_late}
            kept = tuple(write for write in pipeline.writes if write in chosen)
            found.append(StreamPlan(replace(pipeline, writes=kept), head, stateful, late))
    return tuple(found)


def late_rows_of(write: Write) -> tuple[Rejects, ...]:
    """The rows below a write that come too late for what keeps state over their source."""
    return tuple(node for node in below(write) if isinstance(node, Rejects) and is_of_late_rows(node))


def is_of_late_rows(node: Rejects) -> bool:
    return not node.rules


def _late_of(pipeline: Plan, head: Node) -> tuple[tuple[Rejects, ...], tuple[Write, ...]]:
    """The late rows of the sources below a head, and the writes that read them."""
    under = set(below(head))
    late = {write: late_rows_of(write) for write in pipeline.writes}
    of_head = {write: nodes for write, nodes in late.items() if any(node.input in under for node in nodes)}
    return tuple(dict.fromkeys(node for nodes in of_head.values() for node in nodes)), tuple(of_head)


def flows_of(plan: Plan) -> Flows:
    """The nodes of a plan that yield rows of a stream. Raises `StreamQueryError` for a query that cannot."""
    flows: dict[Node, StreamRows] = {}
    for node in plan.nodes():
        if not isinstance(node, Write) and (rows := flow_of(node, flows)) is not None:
            flows[node] = rows
    return flows


def flow_of(node: Node, flows: Flows) -> StreamRows | None:
    """What the node yields of the streams below it; None where it reads none."""
    if isinstance(node, Scan):
        return StreamRows() if is_stream(node) else None
    inputs = [flows[child] for child in children(node) if child in flows]
    if not inputs or (found := _made_of(node, inputs, flows)) is None:
        return None
    samples = found.samples or any(rows.samples for rows in inputs)
    if samples and found.keeps_state:
        raise StreamQueryError(SAMPLED)
    return replace(found, samples=samples)


def _made_of(node: Node, inputs: list[StreamRows], flows: Flows) -> StreamRows | None:
    match node:
        case Scan():  # which has no inputs
            return None
        case Query():
            text = node.body.to_text() if isinstance(node.body, Select) else node.body
            return _of_query(node, text, flows)
        case Native(plugin=StatefulTransform()):
            return StreamRows(inputs[0].event_times, keeps_state=True)
        case Native():
            return StreamRows()
        case Watermark():
            return StreamRows(frozenset({node.column.lower()}))
        case Union():
            return StreamRows(frozenset.intersection(*(rows.event_times for rows in inputs)))
        case Rejects() if is_of_late_rows(node):
            return StreamRows()
        case Expect() | Rejects() | Shuffle():
            return StreamRows(inputs[0].event_times)
        case _:
            assert_never(node)


def head_of(plan: Plan, flows: Flows) -> Node:
    """The lowest node above all sources of the stream and all state that the only write of a plan needs."""
    (write,) = plan.writes
    nodes = [node for node in plan.nodes() if not isinstance(node, Write) and node in flows]
    needed = {node for node in nodes if isinstance(node, Scan) or flows[node].keeps_state}
    for node in nodes:  # inputs come before their readers
        if needed <= set(below(node)) and not _reaches(write, needed, flows, without=node):
            return node
    raise AssertionError(f"`{write.name}` reads no stream, which check_streams refuses")


def _of_query(node: Query, text: PlacedText, flows: Flows) -> StreamRows | None:
    streams = {input.name: flows[input.node].event_times for input in node.inputs if input.node in flows}
    return stream_rows(text.value, streams)


def _reaches(write: Write, needed: Collection[Node], flows: Flows, *, without: Node) -> bool:
    """Whether a way from the write leads to one of the nodes without leading through another one."""
    stack: list[AnyNode] = [write]
    while stack:
        node = stack.pop()
        for child in children(node):
            if child is without or child not in flows:
                continue
            if child in needed:
                return True
            stack.append(child)
    return False
