"""Turns transforms into queries, and analyzes them over their input tables."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity
from catalog.diagnostics.source import PlacedText, Span
from catalog.tables.table import CatalogTable, TablePath
from engine.job.model.job import Block
from engine.plan.building.inputs.declared_columns import matched_by_name
from engine.plan.building.inputs.feeds import Feed, united
from engine.plan.building.inputs.inserted_order import inserted_names, warn_of_order
from engine.plan.building.inputs.output_tables import (
    as_member,
    like_input,
    with_row_kind_column,
    with_untyped,
    without_row_kind_column,
)
from engine.plan.building.inputs.query_inputs import called_as_written, reading_members
from engine.plan.building.scan_nodes import member_uid
from engine.plan.building.set_nodes import set_nodes
from engine.plan.building.table_sets import member_names, options_for, refuse_unmatched, report_by_table
from engine.plan.nodes import Input, Native, Node, Query
from engine.transforms import transform
from engine.transforms.base import (
    NativeTransform,
    QueryTransform,
    RoutingTransform,
    TableTransform,
)
from engine.transforms.interfaces import (
    is_native_transform,
    is_query_transform,
    is_route_transform,
    is_routing_transform,
    is_row_kind_transform,
    is_set_transform,
    is_table_transform,
)
from sql.analyze import Analysis, analyze
from sql.rewrite.row_kinds import RowKindError, with_row_kinds
from sql.rewrite.select_query import Select

ROW_KIND_HELP = (
    "put `FilterRowKind { include_kinds = [INSERT] }` before it to go on with inserts alone, or `RowKindExtractor` to "
    "make the kind a column"
)


class Analyze(Protocol):
    """`sql.analyze.analyze`, or a function that calls it."""

    def __call__(self, query: PlacedText, inputs: Mapping[str, CatalogTable], *, output: str) -> Analysis: ...


def query_nodes(
    block: Block,
    name: str,
    feeds: tuple[Feed, ...],
    diagnostics: Diagnostics,
    analyze: Analyze = analyze,
    *,
    dialect: Compat = Compat.OFF,
) -> tuple[Node, ...] | None:
    """The query of a transform, or one per table of an input with several; None if an error was reported.

    `dialect`: the SQL that users' queries are written in.
    """
    if not block.options.is_valid:
        return None
    plugin = transform(block.plugin)
    if is_query_transform(plugin) and len(feeds) != 1:
        query = _query(block, name, plugin, feeds, diagnostics=diagnostics, analyze=analyze, dialect=dialect)
        return (query,) if query else None
    if is_set_transform(plugin):
        return set_nodes(block, name, plugin, feeds, diagnostics)
    if plugin is None or is_route_transform(plugin):  # the latter has nodes of its own: `route_nodes`
        return None
    if not feeds:
        place = block.plugin_span or block.span
        diagnostics.error("PEN2013", f"`{plugin.name}` has no input", place, "name one in `plugin_input`")
        return None
    inputs = united(block, f"{name}_inputs", feeds, diagnostics) or ()
    is_set = any(feed.is_set for feed in feeds)
    names = member_names(name, [node.table.path for node in inputs])
    refuse_unmatched(block, name, inputs, diagnostics)
    alias = feeds[0].name if len(feeds) == 1 else None
    one = partial(_one, block, plugin=plugin, analyze=analyze, dialect=dialect)
    if not is_set:
        nodes = [one(name, alias, node, None, diagnostics=diagnostics) for node in inputs]
    else:
        by_table = [(node.table.path, Diagnostics()) for node in inputs]
        members = zip(names, inputs, by_table, strict=True)
        nodes = [
            one(own, alias, node, name, diagnostics=own_diagnostics) for own, node, (_, own_diagnostics) in members
        ]
        report_by_table(by_table, diagnostics)
    made = tuple(node for node in nodes if node)
    if not made or len(made) < len(nodes):
        return None
    if not is_routing_transform(plugin):
        return made
    routed = _routed(block, name, plugin, inputs, diagnostics=diagnostics, analyze=analyze)
    return (*(replace(node, table_set=name) for node in made), *routed) if routed else made


def report_syntax(block: Block, diagnostics: Diagnostics) -> None:
    """Report the syntax errors of a query whose inputs are not known, because a block before it has an error."""
    text = block.options.texts.get("query") if isinstance(transform(block.plugin), QueryTransform) else None
    if block.options.is_valid and text is not None:
        found = analyze(text, {}, output=block.name).diagnostics
        diagnostics.extend(diagnostic for diagnostic in found if diagnostic.code == "PEN3001")


def _one(
    block: Block,
    name: str,
    alias: str | None,
    node: Node,
    table_set: str | None,
    *,
    plugin: TableTransform | QueryTransform | NativeTransform,
    diagnostics: Diagnostics,
    analyze: Analyze,
    dialect: Compat,
) -> Node | None:
    """The query over one table, or the table itself if the transform does not apply to it."""
    options = options_for(block, node.table.path)
    if options is None:
        return node
    block = replace(block, options=options, uid=member_uid(block, name, table_set))
    query: Query | None
    if is_native_transform(plugin):
        return _native(block, name, plugin, node, table_set, diagnostics=diagnostics)
    if is_table_transform(plugin):
        source = node.name if table_set else alias or node.name
        query = _selection(block, name, plugin, source, node, diagnostics=diagnostics, analyze=analyze)
    else:
        feeds = (Feed(alias, (node,)),)
        query = _query(block, name, plugin, feeds, diagnostics=diagnostics, analyze=analyze, dialect=dialect)
    if query is None or table_set is None:
        return query
    return replace(query, analysis=replace(query.analysis, table=as_member(query, node)), table_set=table_set)


def _selection(
    block: Block,
    name: str,
    plugin: TableTransform,
    source: str,
    node: Node,
    *,
    diagnostics: Diagnostics,
    analyze: Analyze,
) -> Query | None:
    table = node.table if getattr(plugin, "reads_path", False) else node.table.renamed(source)
    mark = diagnostics.mark()
    select = plugin.select(table, block.options, diagnostics)
    if select is None:
        if table.is_open and mark.is_last:
            _report_open(block, plugin.name, source, diagnostics)
        return None
    analysis = analyze(select.to_text(), {select.source: with_row_kind_column(plugin, table)}, output=name)
    if not _report(analysis, None if _has_own_text(select) else block.plugin_span or block.span, diagnostics):
        return None
    output = like_input(analysis.table, node.table, select)
    if is_row_kind_transform(plugin):
        output = without_row_kind_column(
            output, has_row_kind=output.has_row_kind and plugin.keeps_row_kind(block.options)
        )
    analysis = replace(analysis, table=output)
    return _node(block, name, select, (Input(select.source, node),), analysis)


def _routed(
    block: Block,
    name: str,
    plugin: RoutingTransform,
    inputs: tuple[Node, ...],
    *,
    diagnostics: Diagnostics,
    analyze: Analyze,
) -> tuple[Query, ...]:
    """The rows of each input that go into a table of their own."""
    nodes: list[Query] = []
    for node in inputs:
        found = plugin.routed(node.table, block.options, diagnostics)
        if found is None:
            continue
        path, select = found
        analysis = analyze(select.to_text(), {select.source: node.table}, output=name)
        if _report(analysis, block.plugin_span or block.span, diagnostics):
            table = replace(analysis.table, path=TablePath.parse(path))
            inputs_of = (Input(select.source, node),)
            query = _node(block, f"{name}.{table.path.table}", select, inputs_of, replace(analysis, table=table))
            nodes.append(replace(query, table_set=name))
    return tuple(nodes)


def _query(
    block: Block,
    name: str,
    plugin: QueryTransform,
    feeds: tuple[Feed, ...],
    *,
    diagnostics: Diagnostics,
    analyze: Analyze,
    dialect: Compat,
) -> Query | None:
    if several := next((feed for feed in feeds if len(feed.nodes) > 1), None):
        diagnostics.error(
            "PEN2013", f"`{several.name}` has several tables and no query over several inputs", block.span
        )
        return None
    nodes = {feed.name or feed.nodes[0].name: feed.nodes[0] for feed in feeds}
    text = plugin.query({input_name: node.table for input_name, node in nodes.items()}, block.options, diagnostics)
    if text is None:
        return None
    text = reading_members(text, nodes)
    if dialect.is_seatunnel:
        from sql.seatunnel.seatunnel import to_spark  # here, since most jobs need none of it

        tables = {input_name: node.table.renamed(input_name) for input_name, node in nodes.items()}
        text = to_spark(text, tables, dialect)
    elif len(feeds) == 1:
        nodes = called_as_written(feeds[0], nodes, text)
    tables = {input_name: node.table.renamed(input_name) for input_name, node in nodes.items()}
    analysis = analyze(text, tables, output=name)
    if not _report(analysis, None, diagnostics):
        return None
    if (inserted := inserted_names(text)) is not None:
        own, names = inserted
        warn_of_order(own, analyze(own, tables, output=name).table.schema.names, names, diagnostics)
    if "columns" in block.options.places:
        text = matched_by_name(text, analysis.table, block.options, diagnostics)
        if text is None:
            return None
        analysis = analyze(text, tables, output=name)
        if not _report(replace(analysis, diagnostics=_errors(analysis.diagnostics)), None, diagnostics):
            return None
    if carrying := [input_name for input_name, node in nodes.items() if node.table.has_row_kind]:
        try:
            with_row_kinds(text, carrying)
        except RowKindError as error:
            diagnostics.error("PEN2016", f"the query {error}", text.span(), ROW_KIND_HELP)
            return None
        analysis = replace(analysis, table=replace(analysis.table, has_row_kind=True))
    inputs = tuple(Input(input_name, node) for input_name, node in nodes.items())
    return _node(block, name, text, inputs, analysis)


def _native(
    block: Block, name: str, plugin: NativeTransform, node: Node, table_set: str | None, *, diagnostics: Diagnostics
) -> Native | None:
    mark = diagnostics.mark()
    table = plugin.output(node.table, block.options, diagnostics)
    if table is None:
        if node.table.is_open and mark.is_last:
            _report_open(block, plugin.name, node.name, diagnostics)
        return None
    span = block.plugin_span or block.span
    return Native(
        name, plugin, block.options, node, table,
        parallelism=block.parallelism, uid=block.uid, span=span, cache=block.cache, table_set=table_set,
    )  # fmt: skip


def _report_open(block: Block, plugin: str, source: str, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "PEN4002",
        f"`{plugin}` needs the columns of `{source}`, which are not known",
        block.plugin_span or block.span,
        "give its source a `schema`, or run `penstock schema sync`",
    )


def _node(block: Block, name: str, body: PlacedText | Select, inputs: tuple[Input, ...], analysis: Analysis) -> Query:
    analysis = with_untyped(analysis, inputs)
    return Query(
        name,
        block.plugin,
        body,
        inputs,
        analysis,
        block.chain,
        parallelism=block.parallelism,
        uid=block.uid,
        span=block.plugin_span or block.span,
        cache=block.cache,
    )


def _has_own_text(select: Select) -> bool:
    fragments = [*(projection.expression for projection in select.projections), *select.predicates]
    return any(isinstance(fragment, PlacedText) for fragment in fragments)


def _report(analysis: Analysis, place: Span | None, diagnostics: Diagnostics) -> bool:
    """Report the errors of a query, at `place` if its text is generated; returns whether it has none."""
    diagnostics.extend(replace(diagnostic, span=place) if place else diagnostic for diagnostic in analysis.diagnostics)
    return not _errors(analysis.diagnostics)


def _errors(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR)
