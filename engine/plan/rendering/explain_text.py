"""A plan as text: one tree per write, the write on top and what it reads below; a shared node is printed once.

Sensitive options are never part of the text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import dedent
from typing import Final

from catalog.diagnostics.shown_names import shown_name
from catalog.diagnostics.source import PlacedText
from catalog.exhaustive import assert_never
from catalog.options import Value
from catalog.quoting import quote
from catalog.tables.savemode import TargetState, WritePreview, plan_actions
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING
from connectors.interface.incremental import Incremental, Since, conditions, incremental_of
from connectors.interface.source_abilities import SupportsAcknowledgement, SupportsHeldPosition, own_order_of
from connectors.shared.spark_jars import COMET_VERSION
from engine.job.model.job import Accelerator, Cache
from engine.plan.building.stream_trigger import AVAILABLE_NOW, ONCE, trigger_of
from engine.plan.nodes import (
    AnyNode,
    Expect,
    GroupRead,
    Native,
    PersistableNode,
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
from engine.plan.rendering.shown_casts import with_short_casts
from engine.plan.rendering.stored_changes import stored_changes
from engine.plan.shown_options import given
from engine.plan.staged_rules import staged_rules
from engine.plan.streams import is_of_partitions, is_stream, streams_of
from sql.quoted_forms import TEXT
from sql.rewrite.select_query import Projection, Select, is_plain, text_of

WritePreviews = Mapping[str, WritePreview]
"""What each write (by its id) finds at its target now, and what its commit will do there."""

Starts = Mapping[str, Since]
"""Where each incremental scan (by its name) begins."""

MOST_COLUMNS: Final = 12
MOST_CHARACTERS: Final = 60
WIDTH: Final = 100
LONGEST_LINE: Final = 110
"""Settings of a block that do not fit are printed below it."""
NAME_OR_TEXT: Final = re.compile(rf"`([A-Za-z_]\w*)`|{TEXT}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the world, in addition to the plan."""

    previews: WritePreviews
    starts: Starts


def explain(
    plan: Plan, *, columns: bool = False, previews: WritePreviews | None = None, starts: Starts | None = None
) -> str:
    """The plan as text. `columns`: with the columns and types that each node yields."""
    printed: set[AnyNode] = set()
    known = _Known(previews or {}, starts or {})
    blocks = [_tree(write, printed, columns, known) for write in plan.writes]
    if plan.unread:
        unread = [line for node in plan.unread for line in _tree(node, printed, columns, known)]
        blocks.append(["read by no sink:", *unread])
    if limit := str(plan.env.read_limit):
        blocks.insert(0, [f"each source is read at no more than {limit} a second"])
    if plan.env.mode == "STREAMING":
        blocks.insert(0, list(_streams(plan)))
    if plan.env.accelerator is Accelerator.COMET:
        blocks.insert(0, [f"accelerator: Apache DataFusion Comet {COMET_VERSION}; Spark executes what it cannot"])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _streams(plan: Plan) -> Iterator[str]:
    """What arrives in micro-batches and when, and what is read for each of them."""
    trigger = trigger_of(plan.env)
    when = f"every {trigger}" if trigger not in (AVAILABLE_NOW, ONCE) else f"{trigger}, then the job ends"
    streams = streams_of(plan)
    for stream in streams:
        if stream.scan is None:
            names = ", ".join(scan.written_name for scan in stream.scans)
            state = f", with state from batch to batch: {_names(stream.stateful)}" if stream.stateful else ""
            yield f"stream of {stream.name}, over {names}: {when}{state}"
    of_source = [stream for stream in streams if stream.scan is not None]
    if plain := _names(stream.head for stream in of_source if not stream.is_bounded):
        yield f"stream of {plain}: {when}"
    if bounded := _names(stream.head for stream in of_source if stream.is_bounded):
        yield f"stream of {bounded}: {AVAILABLE_NOW}, as `stop.mode` says"
    yield "each micro-batch is staged, and committed in all sinks that read its stream"
    early = {node for stream in streams if stream.scan is None for node in below(stream.head)}
    tables = [node for node in plan.nodes() if isinstance(node, Scan) and not is_stream(node)]
    if often := _names(table for table in tables if table not in early):
        yield f"read as a whole for each micro-batch: {often}"
    if once := _names(table for table in tables if table in early):
        yield f"read by Spark's stream, files as they are when it starts: {once}"


def _names(nodes: Iterable[AnyNode]) -> str:
    return ", ".join(node.name for node in nodes)


def _tree(root: AnyNode, printed: set[AnyNode], columns: bool, known: _Known) -> list[str]:
    lines: list[str] = []
    stack = [("", "", root)]  # the prefix of a node's title, and of the lines below it
    while stack:
        head, margin, node = stack.pop()
        if node in printed:
            lines.append(f"{head}{_title(node)} (above)")
            continue
        printed.add(node)
        inputs = children(node)
        details = [*_details(node, known), *(_column_lines(node.table) if columns else ())]
        below = f"{margin}{'│' if inputs else ' '}  "
        lines += _filled(head + _title(node), _settings(node), below)
        lines += (f"{below}{line}".rstrip() for line in details)
        for index, child in reversed(tuple(enumerate(inputs))):
            first, rest = ("├─ ", "│  ") if index < len(inputs) - 1 else ("└─ ", "   ")
            stack.append((margin + first + _as_named(node, index), margin + rest, child))
    return lines


def _title(node: AnyNode) -> str:
    match node:
        case Scan():
            return f"{shown_name(node.written_name)}: {node.connector.name}"
        case Query():
            return f"{shown_name(node.written_name)}: {node.kind}"
        case Native():
            return f"{shown_name(node.written_name)}: {node.plugin.name}"
        case Union():
            return f"{shown_name(node.name)}: Union"
        case Expect():
            return f"{shown_name(node.name)}: Expect"
        case Rejects():
            return f"{shown_name(node.name)}: Rejects"
        case Watermark():
            return f"{shown_name(node.name)}: Watermark"
        case Shuffle():
            return f"{shown_name(node.name)}: Shuffle"
        case Write():
            return f"write {shown_name(node.name)}: {node.connector.name}"
        case _:
            assert_never(node)


def _as_named(node: AnyNode, index: int) -> str:
    """The name by which a query reads its input, where that is not the input's own."""
    if not isinstance(node, Query) or isinstance(node.body, Select):
        return ""
    edge = node.inputs[index]
    return "" if edge.name.lower() == edge.node.written_name.lower() else f"{shown_name(edge.name)} = "


def _filled(title: str, settings: Iterable[str], below: str) -> list[str]:
    """The title and as many settings as its line takes, then lines that begin as those below it do."""
    lines = [title]
    for setting in settings:
        if len(lines[-1]) + 1 + len(setting) <= LONGEST_LINE:
            lines[-1] += f" {setting}"
        else:
            lines.append(below + setting)
    return lines


def _settings(node: AnyNode) -> tuple[str, ...]:
    match node:
        case Scan():
            options = given(node.connector.source_options, node.options)
        case Write():
            options = given(node.connector.sink_options, node.options)
        case Native():
            options = given(node.plugin.options, node.options)
        case Query() | Union() | Expect() | Rejects() | Watermark() | Shuffle():
            return ()
        case _:
            assert_never(node)
    return tuple(f"{name}={_short(_value(value))}" for name, value in options.items())


def _value(value: Value) -> str:
    match value:
        case Mapping():
            return "{" + ", ".join(f"{name}={_value(inner)}" for name, inner in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(_value(item) for item in value) + "]"
        case bool():
            return str(value).lower()
        case _:
            text = str(value)
            return repr(text) if isinstance(value, str) and (not text or any(c in text for c in " ,=\n\t")) else text


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def _left_out(node: Rejects) -> str:
    broken = ", ".join(rule.name for rule in node.rules)
    return f"rows of `{node.node}` that {f'break {broken}' if broken else 'come later than its watermark'}"


def _waited_for(node: Watermark) -> Iterator[str]:
    of = " of their partition" if is_of_partitions(node) else ""
    yield f"rows may come {node.delay} after a later `{node.column}`{of}"
    if node.idle is not None:
        yield f"partitions without records for {node.idle} are not waited for"


def _details(node: AnyNode, known: _Known) -> Iterator[str]:
    match node:
        case Scan():
            if node.table.has_row_kind:
                yield "rows carry a row kind: +I, -U, +U, -D"
            if node.columns is not None:
                yield f"columns: {', '.join(node.columns)} ({len(node.columns)} of {len(node.table.columns)})"
            if node.filters:
                yield f"filters: {' AND '.join(node.filters)}"
            yield from _of_group(node.of_group)
            if (asked := incremental_of(node.options)) is not None:
                yield _incremental(node, asked, known.starts.get(node.name))
            elif not isinstance(node.connector, SupportsHeldPosition | SupportsAcknowledgement):
                yield "a continued run (--continue) reads it again: no position shows whether its rows have changed"
            yield from node.connector.needs(node.options)
        case Query():
            yield from query_text(node).split("\n")
        case Native():
            yield "not SQL: run by the transform itself"
        case Union():
            yield "UNION ALL"
        case Expect():
            yield from (str(rule) for rule in node.rules)
        case Rejects():
            yield _left_out(node)
        case Watermark():
            yield from _waited_for(node)
        case Shuffle():
            yield f"by {node.column}: {_listed(node.values)}"
            if node.routing is not None:
                yield f"{node.routing.strategy.value}: {node.routing.reason}"
        case Write():
            if any(option.name == "data_save_mode" for option in node.connector.sink_options):
                yield f"{node.schema_save_mode.value}, {node.data_save_mode.value}, {node.write_mode.value}"
            if node.keeps_last:
                yield "of several rows of a key, the one that is read last counts"
            if (preview := known.previews.get(node.id)) is not None:
                yield from _preview(node, preview)
            if not node.connector.sink_capabilities.is_staged:
                yield "not transactional: rows are printed at the commit and cannot be taken back"
            if rules := staged_rules(node):
                yield f"before the commit, its staged rows are read for {', '.join(rule.name for rule in rules)}"
            yield from caveats(node, known.previews)
            yield from node.connector.needs(node.options)
        case _:
            assert_never(node)
    if isinstance(node, Scan | Query) and node.parallelism is not None:
        yield f"parallelism: {node.parallelism}"
    if isinstance(node, PersistableNode) and (persisted := node.persisted) and persisted.by is None:
        where = "in memory" if persisted.cache is Cache.MEMORY else "on disk"
        yield f"computed once for {persisted.readers} readers and persisted {where}: {persisted.reason}"


def _listed(values: tuple[str, ...]) -> str:
    shown = ", ".join(values[:MOST_COLUMNS])
    return shown if len(values) <= MOST_COLUMNS else f"{shown}, … {len(values) - MOST_COLUMNS} more"


def _of_group(read: GroupRead | None) -> Iterator[str]:
    if read is not None:
        when = "as its commit will leave it" if read.is_staged else "without what it adds"
        yield f"the target of `{read.write}`, {when}"


def _incremental(scan: Scan, asked: Incremental, since: Since | None) -> str:
    """Which rows an incremental scan reads now."""
    after = None if since is None else since.after
    state = "no watermark yet" if after is None else f"watermark {after.value}"
    own = own_order_of(scan.connector, scan.options)
    if asked.column is None and own is not None:
        start = f" from {asked.initial} on" if asked.initial is not None and after is None else ""
        return f"incremental by {own.name}{start}: {state}"
    column = scan.table.column(str(asked.column)) or Column(str(asked.column), STRING)
    return f"incremental: {_unquoted(' AND '.join(conditions(asked, column, since or Since())))} ({state})"


_SAME: Final = "the rows are as the target has them"


def _preview(write: Write, preview: WritePreview) -> Iterator[str]:
    """The target as it stands, and what the commit will do to it."""
    state = preview.state
    rows = "it holds rows" if state.has_rows else "it is empty"
    yield f"target: {f'it exists, {rows}' if state.exists else 'it does not exist'}"
    if state.table is not None and not write.table.is_open:
        yield f"schema: {'; '.join(stored_changes(write, state.table, preview.actions)) or _SAME}"
    yield f"now: {'; '.join(action.value for action in preview.actions)}"
    for step, statements in (("stage", preview.staging_statements), ("commit", preview.statements)):
        for statement in statements:
            first, *rest = statement.split("\n")
            yield f"{step}: {first}"
            yield from (f"  {line}" for line in rest)


def caveats(write: Write, previews: WritePreviews) -> tuple[str, ...]:
    """Where the write's commit can be seen half done; for a target that is there, where it was not looked at."""
    there = TargetState(exists=True)
    supposed = plan_actions(write.schema_save_mode, write.data_save_mode, write.write_mode, there)
    preview = previews.get(write.id)
    return write.connector.caveats(write.options, preview.actions if preview is not None else supposed)


def query_text(node: Query) -> str:
    """A user's query as written, without its indentation; a generated Select abbreviated."""
    match node.body:
        case Select() as select:
            return _select_text(select)
        case PlacedText() as text:
            first, newline, rest = with_short_casts(text.value).strip("\n").rstrip().partition("\n")
            return dedent(first + newline + rest) if first[:1].isspace() else first.strip() + newline + dedent(rest)


def _select_text(select: Select) -> str:
    shown = [_projection_text(projection) for projection in select.projections[:MOST_COLUMNS]]
    if hidden := len(select.projections) - len(shown):
        shown.append(f"… {hidden} more")
    lines = ["SELECT"]
    for item in [f"{column}," for column in shown[:-1]] + (shown[-1:] or ["*"]):
        if len(lines[-1]) + 1 + len(item) <= WIDTH or lines[-1] == "SELECT":
            lines[-1] += f" {item}"
        else:
            lines.append(f"  {item}")
    where = " AND ".join(_unquoted(text_of(predicate)) for predicate in select.predicates)
    if where and len(lines) == 1 and len(lines[0]) + len(where) + 7 <= WIDTH:
        return f"{lines[0]} WHERE {where}"
    return "\n".join([*lines, *([f"WHERE {where}"] if where else [])])


def _projection_text(projection: Projection) -> str:
    name = projection.name if is_plain(projection.name) else quote(projection.name)
    expression = with_short_casts(text_of(projection.expression))
    return name if expression == quote(projection.name) else f"{_unquoted(expression)} AS {name}"


def _unquoted(expression: str) -> str:
    """The expression with plain names bare, which reads better; texts keep what they hold."""
    return NAME_OR_TEXT.sub(lambda match: match[1] or match[0], expression)


def _column_lines(table: CatalogTable) -> Iterable[str]:
    if table.is_open:
        yield "columns are not known"
    yield from (f"- {column}" for column in table.columns)
