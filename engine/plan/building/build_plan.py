"""Builds the plan of a job: blocks become nodes, every edge gets its table, and errors are reported at their location.

A block with an error yields no nodes, and of its readers only the syntax is checked: its table may not be what the user
meant.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, did_you_mean
from catalog.tables.table import CatalogTable
from engine.job.model.job import Block, BlockKind, Job
from engine.job.model.sink_names import sink_names
from engine.job.model.wiring import Wire, Wiring, reads_nothing, wire
from engine.plan.building.equal_uids import refuse_equal_uids
from engine.plan.building.expected import expected
from engine.plan.building.inputs.feeds import Feed, united
from engine.plan.building.query_nodes import Analyze, query_nodes, report_syntax
from engine.plan.building.read_and_replaced import refuse_replaced_sources, report_narrower_targets
from engine.plan.building.route_nodes import route_nodes
from engine.plan.building.scan_nodes import scan_nodes, with_unseen_columns
from engine.plan.building.stream_checks import check_streams
from engine.plan.building.table_sets import member
from engine.plan.building.watermarked import late_rows, watermarked
from engine.plan.building.write_nodes import refuse_duplicates, refuse_shared_targets, write_nodes
from engine.plan.ids import with_ids
from engine.plan.intervals.interval_rows import interval_rows, refuse_unknown_inputs, windowed
from engine.plan.intervals.interval_writes import check_writes
from engine.plan.nodes import AnyNode, Node, Plan, Rejects, Scan, Watermark, Write, children, rewrite
from engine.plan.partial_loads import refuse_partial_loads
from engine.plan.repeated_rows import refuse_repeated_rows
from engine.transforms import transform
from engine.transforms.interfaces import is_route_transform
from sql.analyze import analyze as analyze_query


def build(job: Job, diagnostics: Diagnostics, analyze: Analyze | None = None) -> Plan:
    """The plan of the blocks that have no error, and whose inputs have none; errors go to `diagnostics`.

    Only a plan without errors can be run. `analyze` is called for each query; callers can pass one that records the
    queries.
    """
    own = Diagnostics()
    if analyze is None:
        analyze = partial(analyze_query, outputs={})
    plan = _build(job, own, analyze)
    if own.has_errors and (opened := with_unseen_columns(job, own)) is not None:
        again = Diagnostics()
        whole = _build(opened, again, analyze)
        if not again.has_errors:
            plan, own = whole, again
    diagnostics.extend(own)
    return plan


def _build(job: Job, diagnostics: Diagnostics, analyze: Analyze) -> Plan:
    own = Diagnostics()
    wiring = wire(job, own)
    refuse_equal_uids(job.blocks, own)
    called = sink_names(job, wiring)
    built: dict[Block, tuple[Node, ...] | None] = {}
    rejects: dict[Block, tuple[Rejects, ...]] = {}
    writes: dict[Block, tuple[Write, ...]] = {}
    for block in wiring.order:
        name = called.get(block, block.name)
        feeds = _feeds(block, wiring, built, rejects, own)
        match block.kind:
            case BlockKind.SOURCE:
                scans = watermarked(block, scan_nodes(block, name, job.source.path, own), job.env, own)
                scans = windowed(block, scans, job.env, own)
                built[block], rejects[block] = expected(block, name, scans, own, late_rows(block, scans, own))
            case BlockKind.TRANSFORM:
                plugin = transform(block.plugin)
                queries: tuple[Node, ...] | None = None
                strays: tuple[Rejects, ...] = ()
                if is_route_transform(plugin):
                    if feeds is not None:
                        queries, strays = route_nodes(block, name, plugin, feeds, own, analyze=analyze)
                elif feeds is not None:
                    queries = query_nodes(block, name, feeds, own, analyze, dialect=job.env.dialect)
                elif not job.env.dialect.is_seatunnel:
                    report_syntax(block, own)
                queries = watermarked(block, queries, job.env, own)
                built[block], rejects[block] = expected(block, name, queries, own, strays)
            case BlockKind.SINK:
                inputs = united(block, f"{name}_inputs", feeds, own) if feeds else None
                inputs = watermarked(block, inputs, job.env, own)
                sink, inputs = interval_rows(block, name, inputs, job.env, own)
                nodes, rejects[block] = expected(block, f"{name}_checked", inputs, own)
                is_set = any(feed.is_set for feed in feeds or ())
                writes[block] = write_nodes(sink, name, nodes or (), own, is_set=is_set)
    refuse_unknown_inputs(
        job.env, [output.name for block in job.of_kind(BlockKind.SOURCE) for output in block.outputs], own
    )
    refuse_duplicates((write for several in writes.values() for write in several), own)
    refuse_shared_targets([write for several in writes.values() for write in several], own)
    check_writes(tuple(write for several in writes.values() for write in several), job.env, own)
    if not own.has_errors:
        check_streams(job.env, [write for several in writes.values() for write in several], own)
    refuse_repeated_rows([write for several in writes.values() for write in several], own)
    is_streaming = job.env.mode == "STREAMING"
    refuse_partial_loads([write for several in writes.values() for write in several], own, is_streaming=is_streaming)
    refuse_replaced_sources([write for several in writes.values() for write in several], own)
    report_narrower_targets([write for several in writes.values() for write in several], own)
    diagnostics.extend(_with_known_tables(own, job))
    in_order = tuple(write for block in job.blocks for write in writes.get(block, ()))
    return with_ids(_with_names(Plan(job.env, in_order, _unread(built, in_order))))


def _with_known_tables(diagnostics: Iterable[Diagnostic], job: Job) -> Iterator[Diagnostic]:
    """A query is analyzed over what it reads; the names that it could have read are the job's."""
    names = [output.name for block in job.blocks for output in (*block.outputs, *block.rejects)]
    for diagnostic in diagnostics:
        if diagnostic.code == "PEN3002" and job.is_sql and not job.is_whole and _is_refused(diagnostic, job):
            continue
        is_unknown_table = diagnostic.code == "PEN3002" and diagnostic.help is None
        yield (
            replace(diagnostic, help=did_you_mean(diagnostic.message.split("`")[1], names))
            if is_unknown_table
            else diagnostic
        )


def _is_refused(diagnostic: Diagnostic, job: Job) -> bool:
    """Whether a statement of the script makes the table, which was not read: that one is reported."""
    name = re.escape(diagnostic.message.split("`")[1])
    made = rf"\bCREATE\s[^;(]*?\b(TABLE|VIEW)\s+(IF\s+NOT\s+EXISTS\s+)?`?{name}\b"
    return re.search(made, job.source.text, re.IGNORECASE) is not None


def _feeds(
    block: Block,
    wiring: Wiring,
    built: Mapping[Block, tuple[Node, ...] | None],
    rejects: Mapping[Block, tuple[Node, ...]],
    diagnostics: Diagnostics,
) -> tuple[Feed, ...] | None:
    """The inputs of a block; None if one has an error, or a required input is missing."""
    feeds: list[Feed] = []
    for edge in wiring.inputs[block]:
        nodes = built.get(edge.producer) if edge.output >= 0 else rejects[edge.producer][-1 - edge.output :][:1]
        if not nodes:
            return None
        is_set = any(node.table_set for node in nodes) and edge.output >= 0
        shared = len(nodes) == len(edge.producer.outputs) > 1 and edge.output >= 0
        if edge.table is not None:
            node = _of_set(block, edge, nodes, is_set, diagnostics)
            if node is None:
                return None
            feeds.append(Feed(edge.name, (node,)))
        else:
            feeds.append(Feed(edge.name, (nodes[edge.output],) if shared else nodes, is_set and not shared))
    return tuple(feeds) if feeds or reads_nothing(block) else None


def _of_set(block: Block, edge: Wire, nodes: tuple[Node, ...], is_set: bool, diagnostics: Diagnostics) -> Node | None:
    """The table of a set that a block reads by name; an unknown name is reported."""
    if is_set and (found := member(nodes, edge.table or "")) is not None:
        return found
    name = (edge.name or "").removesuffix(f".{edge.table}")
    place = (
        next((named_input.span for named_input in block.inputs if named_input.name == edge.name), None) or block.span
    )
    if is_set:
        message = f"the set `{name}` has no table `{edge.table}`"
        help = did_you_mean(edge.table or "", [node.table.path.table for node in nodes])
    else:
        message, help = f"`{name}` is one table, not a set of tables", f"read `{name}`"
    diagnostics.error("PEN2007", message, place, help)
    return None


def source_tables(job: Job) -> Mapping[str, CatalogTable]:
    """The tables of a job's sources by name, even if the rest of the job has errors."""
    diagnostics = Diagnostics()
    blocks = job.of_kind(BlockKind.SOURCE)
    scans = [scan for block in blocks for scan in scan_nodes(block, block.name, job.source.path, diagnostics) or ()]
    return {scan.name: scan.table for scan in scans}


def _unread(built: Mapping[Block, tuple[Node, ...] | None], writes: tuple[Write, ...]) -> tuple[Node, ...]:
    """The nodes that nothing reads, in the order of the job file."""
    nodes = [node for several in built.values() for node in several or ()]
    read: set[Node] = set()
    stack = [child for node in (*nodes, *writes) for child in children(node)]
    while stack:
        node = stack.pop()
        if node not in read:
            read.add(node)
            stack.extend(children(node))
    return tuple(node for node in nodes if node not in read)


def _with_names(plan: Plan) -> Plan:
    """The plan with unique node names: the second `filter` is `filter_2`.

    Names of writes are separate: quarantined rows may have the name of the table that they go into. So are the written
    names of sources, which do not change when expectations are added.
    """
    nodes, writes, sources = set[str](), set[str](), set[str]()

    def rename(node: AnyNode) -> AnyNode:
        taken = writes if isinstance(node, Write) else nodes
        wanted = f"{node.input.name}_watermark" if isinstance(node, Watermark) else node.name
        name = next(candidate for candidate in _numbered(wanted) if candidate not in taken)
        taken.add(name)
        written = node.written
        if isinstance(node, Scan):
            own = next(candidate for candidate in _numbered(node.written_name) if candidate not in sources)
            sources.add(own)
            written = None if own == name else own
        return node if (name, written) == (node.name, node.written) else replace(node, name=name, written=written)

    return rewrite(plan, rename)


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))
