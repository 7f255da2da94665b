"""Between a sink and its input, the rows of the interval that the job is compiled for."""

from collections.abc import Sequence
from dataclasses import replace

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.quoting import quote
from catalog.tables.table import Column
from catalog.types.datatypes import DATE, TIMESTAMP, TIMESTAMP_NTZ
from engine.job.model.intervals import UTC, Grain, InputWindow, IntervalSpec, TimeInterval
from engine.job.model.job import Block, Env
from engine.plan.intervals.interval_writes import has_target, with_condition
from engine.plan.nodes import Input, Node, Query
from sql.analyze import analyze
from sql.rewrite.select_query import Select


def interval_rows(
    block: Block, name: str, nodes: tuple[Node, ...] | None, env: Env, diagnostics: Diagnostics
) -> tuple[Block, tuple[Node, ...] | None]:
    """The sink, with `replace_where` for `env.window` where its mode is that, and its inputs, each with the rows of
    that interval alone; None if one has no column that tells them. A sink without a target gets all rows."""
    sink = connectors.sink(block.plugin)
    if not nodes or env.interval is None or env.window is None or sink is None or not has_target(sink):
        return block, nodes
    made = tuple(_of_interval(block, name, node, (env.interval, env.window), diagnostics) for node in nodes)
    found = tuple(node for node in made if node is not None)
    if len(found) < len(nodes):
        return block, None
    column = nodes[0].table.column(env.interval.column)
    assert column is not None
    return with_condition(block, _conditions(column, env.interval, env.window), diagnostics), found


def windowed(
    block: Block, nodes: tuple[Node, ...] | None, env: Env, diagnostics: Diagnostics
) -> tuple[Node, ...] | None:
    """The sources of a block, those that have a window (`interval.inputs`) with its rows alone."""
    if not nodes or env.interval is None or env.window is None:
        return nodes
    windows = {window.name.lower(): window for window in env.interval.inputs}
    found: list[Node] = []
    for node in nodes:
        window = windows.get(node.name.lower())
        made = node if window is None else _windowed(block, node, window, (env.interval, env.window), diagnostics)
        if made is None:
            return None
        found.append(made)
    return tuple(found)


def refuse_unknown_inputs(env: Env, names: Sequence[str], diagnostics: Diagnostics) -> None:
    """Report windows (PEN1669) of what is no source of the job."""
    known = {name.lower() for name in names}
    for window in env.interval.inputs if env.interval is not None else ():
        if window.name.lower() not in known:
            place = env.options.span("interval.inputs") if env.options else None
            message = f"`interval.inputs` names `{window.name}`, which is no source of the job"
            diagnostics.error("PEN1669", message, place, did_you_mean(window.name, names))


def _windowed(
    block: Block, node: Node, window: InputWindow, interval: tuple[IntervalSpec, TimeInterval], diagnostics: Diagnostics
) -> Node | None:
    spec, whole = interval
    column = node.table.column(window.column)
    if column is None or not _is_time(column, spec):
        found = "which it does not have" if column is None else f"which is {column.type}, no time"
        message = f"the window of `{node.name}` is by the column `{window.column}`, {found}"
        help = did_you_mean(window.column, node.table.schema.names)
        diagnostics.error("PEN1669", message, block.plugin_span or block.span, help)
        return None
    own = f"{node.name}_all"
    select = Select(own, predicates=predicates_of(column, spec, spec.widened(whole, window.before, window.after)))
    analysis = analyze(select.to_text(), {own: node.table.renamed(own)}, output=node.name)
    scan = replace(node, name=own, written=node.written_name)
    return Query(
        node.name, "Window", select, (Input(own, scan),), replace(analysis, table=node.table),
        parallelism=node.parallelism, span=block.plugin_span or block.span, table_set=node.table_set,
    )  # fmt: skip


def _of_interval(
    block: Block, name: str, node: Node, interval: tuple[IntervalSpec, TimeInterval], diagnostics: Diagnostics
) -> Node | None:
    spec, window = interval
    column = node.table.column(spec.column)
    if column is None or not _is_time(column, spec):
        _report(block, node, spec, column, diagnostics)
        return None
    own = f"{name}_interval" if node.table_set is None else f"{node.name}_interval"
    table = node.table.renamed(own)
    select = Select(own, predicates=predicates_of(column, spec, window))
    analysis = analyze(select.to_text(), {own: table}, output=own)
    output = replace(node.table, path=analysis.table.path) if node.table_set is None else node.table
    return Query(
        own, "Interval", select, (Input(own, node),), replace(analysis, table=output),
        parallelism=node.parallelism, span=block.plugin_span or block.span, table_set=node.table_set,
    )  # fmt: skip


def predicates_of(column: Column, spec: IntervalSpec, window: TimeInterval) -> tuple[str, ...]:
    """The conditions of the rows of an interval. That of one day is an equality, so that a write without rows names the
    partition that it replaces."""
    quoted = quote(column.name)
    start, end = literal(column, spec, window, at_end=False), literal(column, spec, window, at_end=True)
    if column.type == DATE and spec.grain is Grain.DAY and spec.after(window.start) == window.end:
        return (f"{quoted} = {start}",)
    return (f"{quoted} >= {start}", f"{quoted} < {end}")


def literal(column: Column, spec: IntervalSpec, window: TimeInterval, *, at_end: bool) -> str:
    """A boundary as a value of the column: dates and timestamps without a zone are those of the interval's zone."""
    instant = window.end if at_end else window.start
    if column.type == DATE:
        return f"date '{spec.day(instant).isoformat()}'"
    if column.type == TIMESTAMP_NTZ:
        return f"timestamp_ntz '{instant.astimezone(spec.timezone):%Y-%m-%d %H:%M:%S}'"
    return f"timestamp '{instant:%Y-%m-%d %H:%M:%S}'"


def _conditions(column: Column, spec: IntervalSpec, window: TimeInterval) -> tuple[str, ...]:
    """The ways in which a job may say the condition of an interval, the first of which is what Penstock writes."""
    start, end = (literal(column, spec, window, at_end=at_end) for at_end in (False, True))
    texts = (spec.text(window.start), spec.text(window.end))
    ranges = [(start, end), *((f"{type}'{texts[0]}'", f"{type}'{texts[1]}'") for type in ("", f"{column.type}"))]
    found = [" and ".join(predicates_of(column, spec, window))]
    found += [f"{column.name} >= {first} and {column.name} < {last}" for first, last in ranges]
    if len(predicates_of(column, spec, window)) == 1:
        found += [f"{column.name} = {first}" for first, _ in ranges]
    return tuple(found)


def _is_time(column: Column, spec: IntervalSpec) -> bool:
    """Whether its values tell one interval; where clocks are set back, a time without a zone is in two hours."""
    if spec.grain is not Grain.HOUR:
        return column.type in (DATE, TIMESTAMP, TIMESTAMP_NTZ)
    return column.type == TIMESTAMP or (column.type == TIMESTAMP_NTZ and spec.zone == UTC)


def _report(block: Block, node: Node, spec: IntervalSpec, column: Column | None, diagnostics: Diagnostics) -> None:
    place = block.plugin_span or block.span
    if column is None:
        message = f"the rows of `{node.name}` have no column `{spec.column}`, by which they belong to an interval"
        names = node.table.schema.names
        help = did_you_mean(spec.column, names) or "select it in the query; `interval.column` names it"
    else:
        in_zone = "" if spec.zone == UTC or spec.grain is not Grain.HOUR else f" in {spec.zone}"
        message = f"`{column.name}` is {column.type}, which does not tell the {spec.grain.value}{in_zone} of a row"
        needed = "a timestamp" if spec.grain is Grain.HOUR else "a date or a timestamp"
        help = f"make it {needed} by a `cast` in the query"
    diagnostics.error("PEN1651", message, place, help)
