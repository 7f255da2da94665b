"""Transforms become queries, analyzed over the tables that flow into them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

from catalog.datatypes import STRING
from catalog.diagnostics import Diagnostic, Diagnostics, Severity
from catalog.quoting import quote
from catalog.row_kind import ROW_KIND
from catalog.source import PlacedText, Span
from catalog.table import UNTYPED, CatalogTable, Column
from engine.job.model.job import Block
from engine.plan.building.feeds import Feed, united
from engine.plan.nodes import Input, Node, Query
from engine.transforms import transform
from engine.transforms.base import QueryTransform, RowKindTransform, TableTransform
from sql.analyze import Analysis, Dependency, analyze
from sql.dialect.seatunnel import to_spark
from sql.grammar.query_text import tables_named
from sql.rewrite.row_kinds import RowKindError, with_row_kinds
from sql.rewrite.select_query import Select, text_of

DUAL = "dual"
"""What SeaTunnel's jobs may call the input of a query."""


ROW_KIND_HELP = (
    "put `FilterRowKind { include_kinds = [INSERT] }` before it to go on with inserts alone, or `RowKindExtractor` to "
    "make the kind a column"
)


class Analyze(Protocol):
    """`sql.analyze.analyze`, or what asks it."""

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
    """The query of a transform, or one per table of an input with several; None where an error was reported.

    `dialect`: the SQL that users' queries are written in.
    """
    if not block.options.is_valid:
        return None
    match transform(block.plugin):
        case TableTransform() as plugin:
            inputs = united(block, f"{name}_inputs", feeds, diagnostics) or ()
            alias = feeds[0].name if len(feeds) == 1 else None
            select = partial(_selection, block, name, plugin, diagnostics=diagnostics, analyze=analyze)
            queries = [select(alias or node.name, node) for node in inputs]
        case QueryTransform() as plugin:
            query = partial(_query, block, name, plugin, diagnostics=diagnostics, analyze=analyze, dialect=dialect)
            if len(feeds) == 1:
                queries = [query((Feed(feeds[0].name, (node,)),)) for node in feeds[0].nodes]
            else:
                queries = [query(feeds)]
        case None:
            return None
    nodes = tuple(query for query in queries if query)
    return nodes if nodes and len(nodes) == len(queries) else None


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
    table = node.table.renamed(source)
    before = len(diagnostics)
    select = plugin.select(table, block.options, diagnostics)
    if select is None:
        if table.is_open and len(diagnostics) == before:
            diagnostics.error(
                "PEN4002",
                f"`{plugin.name}` needs the columns of `{source}`, which are not known",
                block.plugin_span or block.span,
                "give its source a `schema`, or run `penstock schema sync`",
            )
        return None
    analysis = analyze(select.to_text(), {select.source: _with_row_kind(plugin, table)}, output=name)
    if not _report(analysis, None if _has_own_text(select) else block.plugin_span or block.span, diagnostics):
        return None
    output = _like_input(analysis.table, node.table, select)
    if isinstance(plugin, RowKindTransform):
        output = _without_row_kind(output, has_row_kind=output.has_row_kind and plugin.keeps_row_kind(block.options))
    analysis = replace(analysis, table=output)
    return _node(block, name, select, (Input(select.source, node),), analysis)


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
    text = plugin.query({each: node.table for each, node in nodes.items()}, block.options, diagnostics)
    if text is None:
        return None
    if dialect == "seatunnel":
        text = to_spark(text, {each: node.table.renamed(each) for each, node in nodes.items()})
    elif len(feeds) == 1:
        nodes = _called_as_written(feeds[0], nodes, text)
    analysis = analyze(text, {each: node.table.renamed(each) for each, node in nodes.items()}, output=name)
    if not _report(analysis, None, diagnostics):
        return None
    if carrying := [each for each, node in nodes.items() if node.table.has_row_kind]:
        try:
            with_row_kinds(text, carrying)
        except RowKindError as error:
            diagnostics.error("PEN2016", f"the query {error}", text.span(), ROW_KIND_HELP)
            return None
        analysis = replace(analysis, table=replace(analysis.table, has_row_kind=True))
    inputs = tuple(Input(each, node) for each, node in nodes.items())
    return _node(block, name, text, inputs, analysis)


def _called_as_written(feed: Feed, nodes: Mapping[str, Node], text: PlacedText) -> dict[str, Node]:
    """A single input under the name that the query uses: any where it has none of its own, else its own or `dual`."""
    (only,) = nodes.values()
    if feed.name is not None and DUAL not in text.value.lower():
        return dict(nodes)
    named = tables_named(text.value)
    if len(named) == 1 and (feed.name is None or named[0].lower() == DUAL) and "." not in named[0]:
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
    """The table as the transform's query may read it: the hidden column only where it is made for row kinds."""
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
    """Whether the query is sound; what was found goes to `place` where the query's text is not the user's."""
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
        each for each in table.schema.constraint_keys if all(name.lower() in kept for name, _ in each.columns)
    )
    keeps_partitions = all(name.lower() in kept for name in table.partition_keys)
    return replace(
        table,
        schema=replace(output.schema, primary_key=key if keeps_key else None, constraint_keys=constraints),
        partition_keys=table.partition_keys if keeps_partitions else (),
        is_open=output.is_open,
        repeated=output.repeated,
    )
