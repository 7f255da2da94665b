"""Rows that carry the name of their table: a check that it is known, a `Shuffle`, and a query for each table."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.quoting import quote, quote_text
from catalog.tables.violation import OnViolation
from engine.expectations.rules import RowCheck, Rule
from engine.job.model.job import Block
from engine.plan.building.inputs.feeds import Feed, united
from engine.plan.building.scan_nodes import member_uid
from engine.plan.building.table_sets import member_names, refuse_equal_paths
from engine.plan.nodes import Expect, Input, Node, Query, Rejects, Shuffle
from engine.transforms.base import Route, RouteTransform
from sql.analyze import analyze

if TYPE_CHECKING:
    from engine.plan.building.query_nodes import Analyze


def route_nodes(
    block: Block,
    name: str,
    plugin: RouteTransform,
    feeds: tuple[Feed, ...],
    diagnostics: Diagnostics,
    *,
    analyze: "Analyze" = analyze,
) -> tuple[tuple[Node, ...] | None, tuple[Rejects, ...]]:
    """The tables of a stream, and its rows of no table where they are quarantined; None where an error was reported."""
    place = block.plugin_span or block.span
    if not feeds:
        diagnostics.error("PEN2013", f"`{plugin.name}` has no input", place, "name one in `plugin_input`")
        return None, ()
    inputs = united(block, f"{name}_inputs", feeds, diagnostics) if block.options.is_valid else None
    if inputs is None:
        return None, ()
    if len(inputs) > 1:
        message = f"`{plugin.name}` makes a set of one table, and its input is a set already"
        diagnostics.error("PEN2013", message, place, "read one table of it by its name")
        return None, ()
    (node,) = inputs
    mark = diagnostics.mark()
    action, into = plugin.on_unknown_table(block.options, diagnostics)
    source = feeds[0].name or node.name
    routes = plugin.routes(node.table.renamed(source), block.options, diagnostics)
    if routes is None or not mark.is_last:
        return None, ()
    if not refuse_equal_paths(block, name, [route.table for route in routes], diagnostics):
        return None, ()
    column, values = block.options.string("table_column"), tuple(route.value for route in routes)
    rule = _is_known(column, values, action, into, block)
    checked = f"{name}_checked"
    rejects = (Rejects(into, node, (rule,), checked, span=place),) if into else ()
    known = Expect(checked, node, (rule,), span=place)
    shuffle = Shuffle(name, known, column, values, parallelism=block.parallelism, span=place, cache=block.cache)
    names = member_names(name, [route.table.path for route in routes])
    make = partial(_table, block, name, shuffle, analyze=analyze, diagnostics=diagnostics)
    tables = tuple(make(own, route) for own, route in zip(names, routes, strict=True))
    return (None, ()) if mark.has_errors else (tables, rejects)


def _is_known(column: str, values: tuple[str, ...], action: OnViolation, into: str | None, block: Block) -> Rule:
    """The expectation that each row is of a listed table; one without a table is of none."""
    listed = ", ".join(map(quote_text, values))
    check = RowCheck(f"coalesce({quote(column)} IN ({listed}), false)")
    return Rule("known_table", check, action, into, span=block.options.span("table_column"))


def _table(
    block: Block,
    table_set: str,
    shuffle: Shuffle,
    name: str,
    route: Route,
    *,
    analyze: "Analyze",
    diagnostics: Diagnostics,
) -> Query:
    select = route.select
    analysis = analyze(select.to_text(), {select.source: shuffle.table.renamed(select.source)}, output=name)
    place = block.plugin_span or block.span
    diagnostics.extend(replace(diagnostic, span=place) for diagnostic in analysis.diagnostics)
    declared, output = route.table, analysis.table
    schema = replace(
        output.schema,
        primary_key=declared.schema.primary_key,
        constraint_keys=declared.schema.constraint_keys,
    )
    table = replace(
        output, path=declared.path, schema=schema, comment=declared.comment, has_row_kind=shuffle.table.has_row_kind
    )
    uid = member_uid(block, name, table_set)
    return Query(
        name, block.plugin, select, (Input(select.source, shuffle),), replace(analysis, table=table),
        parallelism=block.parallelism, uid=uid, span=place, table_set=table_set,
    )  # fmt: skip
