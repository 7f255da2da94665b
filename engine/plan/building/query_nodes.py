"""Turns transforms into queries, and analyzes them over their input tables."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

from catalog.datatypes import STRING
from catalog.diagnostics import Diagnostic, Diagnostics, Severity
from catalog.quoting import quote
from catalog.row_kind import ROW_KIND
from catalog.source import PlacedText, Span
from catalog.table import UNTYPED, CatalogTable, Column, TablePath
from engine.job.model.job import Block
from engine.plan.building.feeds import Feed, united
from engine.plan.building.scan_nodes import member_uid
from engine.plan.building.set_nodes import set_nodes
from engine.plan.building.table_sets import member_names, options_for, refuse_unmatched, report_by_table
from engine.plan.nodes import Input, Native, Node, Query
from engine.transforms import transform
from engine.transforms.base import (
    NativeTransform,
    QueryTransform,
    RouteTransform,
    RoutingTransform,
    RowKindTransform,
    SetTransform,
    TableTransform,
)
from sql.analyze import Analysis, Dependency, analyze
from sql.grammar.query_text import tables_named
from sql.rewrite.row_kinds import RowKindError, with_row_kinds
from sql.rewrite.select_query import Select, text_of
from sql.rewrite.table_names import with_table_names

DUAL = "dual"
"""Names by which SeaTunnel's jobs may read the input of a query."""


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
    dialect: str = "spark",
) -> tuple[Node, ...] | None:
    """The query of a transform, or one per table of an input with several; None if an error was reported.

    `dialect`: the SQL that users' queries are written in.
    """
    if not block.options.is_valid:
        return None
    plugin = transform(block.plugin)
    if isinstance(plugin, QueryTransform) and len(feeds) != 1:
        query = _query(block, name, plugin, feeds, diagnostics=diagnostics, analyze=analyze, dialect=dialect)
        return (query,) if query else None
    if isinstance(plugin, SetTransform):
        return set_nodes(block, name, plugin, feeds, diagnostics)
    if plugin is None or isinstance(plugin, RouteTransform):  # the latter has nodes of its own: `route_nodes`
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
        found = [(node.table.path, Diagnostics()) for node in inputs]
        each = zip(names, inputs, found, strict=True)
        nodes = [one(own, alias, node, name, diagnostics=problems) for own, node, (_, problems) in each]
        report_by_table(found, diagnostics)
    made = tuple(node for node in nodes if node)
    if not made or len(made) < len(nodes):
        return None
    if not isinstance(plugin, RoutingTransform):
        return made
    routed = _routed(block, name, plugin, inputs, diagnostics=diagnostics, analyze=analyze)
    return (*(replace(node, table_set=name) for node in made), *routed) if routed else made


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
    dialect: str,
) -> Node | None:
    """The query over one table, or the table itself if the transform does not apply to it."""
    options = options_for(block, node.table.path)
    if options is None:
        return node
    block = replace(block, options=options, uid=member_uid(block, name, table_set))
    query: Query | None
    if isinstance(plugin, NativeTransform):
        return _native(block, name, plugin, node, table_set, diagnostics=diagnostics)
    if isinstance(plugin, TableTransform):
        source = node.name if table_set else alias or node.name
        query = _selection(block, name, plugin, source, node, diagnostics=diagnostics, analyze=analyze)
    else:
        feeds = (Feed(alias, (node,)),)
        query = _query(block, name, plugin, feeds, diagnostics=diagnostics, analyze=analyze, dialect=dialect)
    if query is None or table_set is None:
        return query
    return replace(query, analysis=replace(query.analysis, table=_as_member(query, node)), table_set=table_set)


def _as_member(query: Query, node: Node) -> CatalogTable:
    """The output of a query over one table of a set is still that table: it keeps the path, and keys whose columns it
    yields unchanged."""
    output = query.analysis.table
    if output.path == node.table.path:
        return output
    kept = {
        origin.column.lower()
        for origin in query.analysis.lineage
        if origin.dependency is Dependency.IDENTITY and origin.output and origin.output.lower() == origin.column.lower()
    }
    key, keys = node.table.schema.primary_key, node.table.schema.constraint_keys
    has_key = key is not None and all(column.lower() in kept for column in key.columns)
    schema = replace(
        output.schema,
        primary_key=key if has_key else None,
        constraint_keys=tuple(key for key in keys if all(column.lower() in kept for column, _ in key.columns)),
    )
    has_partitions = all(column.lower() in kept for column in node.table.partition_keys)
    return replace(
        output,
        path=node.table.path,
        schema=schema,
        partition_keys=node.table.partition_keys if has_partitions else (),
        comment=node.table.comment,
    )


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
    analysis = analyze(select.to_text(), {select.source: _with_row_kind(plugin, table)}, output=name)
    if not _report(analysis, None if _has_own_text(select) else block.plugin_span or block.span, diagnostics):
        return None
    output = _like_input(analysis.table, node.table, select)
    if isinstance(plugin, RowKindTransform):
        output = _without_row_kind(output, has_row_kind=output.has_row_kind and plugin.keeps_row_kind(block.options))
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
    dialect: str,
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
    text = _reading_members(text, nodes)
    if dialect == "seatunnel":
        from sql.dialect.seatunnel import to_spark  # here, since most jobs need none of it

        text = to_spark(text, {input_name: node.table.renamed(input_name) for input_name, node in nodes.items()})
    elif len(feeds) == 1:
        nodes = _called_as_written(feeds[0], nodes, text)
    analysis = analyze(
        text, {input_name: node.table.renamed(input_name) for input_name, node in nodes.items()}, output=name
    )
    if not _report(analysis, None, diagnostics):
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


def _reading_members(text: PlacedText, nodes: Mapping[str, Node]) -> PlacedText:
    """The query with the tables of sets that it reads (`crm.orders`, or `orders` where no other input is called so)
    under the names of their views."""
    members = {name: node for name, node in nodes.items() if "." in name}
    if not members:
        return text
    own = Counter(node.table.path.table.lower() for node in members.values())
    taken = {name.lower() for name in nodes}
    short = {
        table: name
        for name, node in members.items()
        if own[table := node.table.path.table.lower()] == 1 and table not in taken
    }
    return with_table_names(text, {**short, **{name.lower(): name for name in members}})


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


def _called_as_written(feed: Feed, nodes: Mapping[str, Node], text: PlacedText) -> dict[str, Node]:
    """A single input under the name that the query uses: any name if it has none, else its own or `dual`."""
    (only,) = nodes.values()
    if feed.name is not None and DUAL not in text.value.lower() and not only.table_set:
        return dict(nodes)
    named = tables_named(text.value)
    own = (DUAL, only.table.path.table.lower() if only.table_set else DUAL)
    if len(named) == 1 and (feed.name is None or named[0].lower() in own) and "." not in named[0]:
        return {named[0]: only}
    return dict(nodes)


def _node(block: Block, name: str, body: PlacedText | Select, inputs: tuple[Input, ...], analysis: Analysis) -> Query:
    analysis = _with_untyped(analysis, inputs)
    return Query(
        name,
        block.plugin,
        body,
        inputs,
        analysis,
        parallelism=block.parallelism,
        uid=block.uid,
        span=block.plugin_span or block.span,
        cache=block.cache,
    )


def _with_untyped(analysis: Analysis, inputs: tuple[Input, ...]) -> Analysis:
    """The analysis with the output columns marked that are untyped columns of the inputs, unchanged."""
    untyped = {
        (input.name, column.name.lower())
        for input in inputs
        for column in input.node.table.columns
        if column.is_untyped
    }
    if not untyped:
        return analysis
    passed = {
        line.output
        for line in analysis.lineage
        if line.dependency is Dependency.IDENTITY and (line.input, line.column.lower()) in untyped
    }
    columns = tuple(
        replace(column, options=UNTYPED) if column.name in passed and column.type == STRING else column
        for column in analysis.table.columns
    )
    table = replace(analysis.table, schema=replace(analysis.table.schema, columns=columns))
    return replace(analysis, table=table)


def _with_row_kind(plugin: TableTransform, table: CatalogTable) -> CatalogTable:
    """The table for the transform's query, with the hidden column only for transforms that read row kinds."""
    if not (table.has_row_kind and isinstance(plugin, RowKindTransform)):
        return table
    columns = (*table.columns, Column(ROW_KIND, STRING, nullable=False))
    return replace(table, schema=replace(table.schema, columns=columns))


def _without_row_kind(table: CatalogTable, *, has_row_kind: bool) -> CatalogTable:
    columns = tuple(column for column in table.columns if column.name != ROW_KIND)
    return replace(table, schema=replace(table.schema, columns=columns), has_row_kind=has_row_kind)


def _has_own_text(select: Select) -> bool:
    fragments = [*(projection.expression for projection in select.projections), *select.predicates]
    return any(isinstance(fragment, PlacedText) for fragment in fragments)


def _report(analysis: Analysis, place: Span | None, diagnostics: Diagnostics) -> bool:
    """Report the errors of a query, at `place` if its text is generated; returns whether it has none."""
    diagnostics.extend(replace(diagnostic, span=place) if place else diagnostic for diagnostic in analysis.diagnostics)
    return not _errors(analysis.diagnostics)


def _errors(diagnostics: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR]


def _like_input(output: CatalogTable, table: CatalogTable, select: Select) -> CatalogTable:
    """The output of a transform is still its input's table: it keeps the path, and keys whose columns went through."""
    kept = {
        projection.name.lower()
        for projection in select.projections
        if text_of(projection.expression) == quote(projection.name)
    }
    kept = kept if select.projections else {column.name.lower() for column in table.columns}
    key = table.schema.primary_key
    keeps_key = key is not None and all(name.lower() in kept for name in key.columns)
    constraints = tuple(
        key for key in table.schema.constraint_keys if all(name.lower() in kept for name, _ in key.columns)
    )
    keeps_partitions = all(name.lower() in kept for name in table.partition_keys)
    return replace(
        table,
        schema=replace(output.schema, primary_key=key if keeps_key else None, constraint_keys=constraints),
        partition_keys=table.partition_keys if keeps_partitions else (),
        is_open=output.is_open,
        repeated=output.repeated,
    )
