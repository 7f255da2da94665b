"""Turns sinks into writes, and checks their modes against the connector's capabilities, their options
against the rows."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from itertools import product
from typing import Final, TypeVar

import connectors
from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity
from catalog.diagnostics.source import PlacedText, Span
from catalog.exhaustive import assert_never
from catalog.options import Options, schema_evolutions, store_assignment
from catalog.tables.evolution import SchemaEvolution, fits
from catalog.tables.narrowing import left_out_warning, remedy_of, report_narrowings
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode, contradiction
from catalog.tables.table import CatalogTable
from connectors.interface.sink import AnySink
from connectors.interface.sink_abilities import SupportsKnownTable
from connectors.shared.tolerated import report_tolerated
from engine.job.model.job import Block
from engine.plan.building.filled_options import filled
from engine.plan.building.inputs.feeds import difference, united_table
from engine.plan.building.scan_nodes import member_uid
from engine.plan.building.table_sets import member_names
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.nodes import Expect, Native, Node, Query, Rejects, Scan, Shuffle, Union, Watermark, Write
from engine.plan.shown_options import shown
from sql.analyze import analyze
from sql.rewrite.select_query import Select
from sql.scopes.output_items import output_span

Mode = TypeVar("Mode", bound=Enum)


def write_nodes(
    block: Block, name: str, nodes: tuple[Node, ...], diagnostics: Diagnostics, *, is_set: bool = False
) -> tuple[Write, ...]:
    """One write per table; nothing if an error was reported."""
    sink = connectors.sink(block.plugin)
    if sink is None or not block.options.is_valid:
        return ()
    if not is_set:
        writes = [_write(block, name, sink, node, diagnostics) for node in nodes]
        return tuple(write for write in writes if write)
    names = member_names(name, [node.table.path for node in nodes])
    found = [_write(block, own, sink, node, diagnostics) for own, node in zip(names, nodes, strict=True)]
    made = tuple(replace(write, uid=member_uid(block, write.name, name), table_set=name) for write in found if write)
    if block.options.seatunnel is not None:
        made = _united(block, made, sink, diagnostics)
    refuse_one_target(made, sink, diagnostics)
    return made


def _united(block: Block, writes: tuple[Write, ...], sink: AnySink, diagnostics: Diagnostics) -> tuple[Write, ...]:
    """The writes, those of tables with equal columns into one target as one, as in SeaTunnel."""
    if not _has_target(sink):
        return writes
    groups: dict[str, list[Write]] = {}
    for write in writes:
        groups.setdefault(_target_of(write), []).append(write)
    found = []
    for first, *others in groups.values():
        inputs = tuple(write.input for write in (first, *others))
        tables = [node.table for node in inputs]
        if not others or any(_differ(tables[0], table) for table in tables):
            found += [first, *others]
            continue
        table = united_table(inputs)
        key = tables[0].schema.primary_key
        if all(other.schema.primary_key == key for other in tables):
            table = replace(table, schema=replace(table.schema, primary_key=key))
        union = Union(first.name, inputs, table, parallelism=block.parallelism, span=block.span)
        written = _write(block, first.name, sink, union, diagnostics)
        found += [] if written is None else [replace(written, uid=first.uid, table_set=first.table_set)]
    return tuple(found)


def _differ(first: CatalogTable, other: CatalogTable) -> bool:
    is_open = first.is_open or other.is_open
    return is_open or first.has_row_kind != other.has_row_kind or difference(first, other) is not None


def _has_target(sink: AnySink) -> bool:
    """Whether rows are added to something, unlike those of Console and Assert."""
    return any(option.name == "data_save_mode" for option in sink.sink_options)


def _target_of(write: Write) -> str:
    target = dataset_of(write) or repr(sorted(shown(write.options).items(), key=lambda item: item[0]))
    return str(target).lower()


def refuse_one_target(writes: Sequence[Write], sink: AnySink, diagnostics: Diagnostics) -> None:
    """Report two tables of a set that one sink block would write to one target."""
    if not _has_target(sink):
        return
    first: dict[str, Write] = {}
    for write in writes:
        other = first.setdefault(_target_of(write), write)
        if other is not write:
            named = next((name for name in ("path", "table") if isinstance(write.options.get(name), str)), None)
            where = f" `{write.options[named]}`" if named else " one target"
            message = f"the tables `{other.table.path}` and `{write.table.path}` would both be written to{where}"
            help = "put ${table_name} in it, and ${database_name} where two databases have tables of one name"
            diagnostics.error("PEN2011", message, write.options.span(named), f"{help}; `TableMerge` makes them one")


def refuse_duplicates(writes: Iterable[Write], diagnostics: Diagnostics) -> None:
    """Turn warnings about duplicate column names into errors if the query's rows are written."""
    queries = [query for write in writes for query in _queries(write.input)]
    places = {
        place
        for query in queries
        for diagnostic in query.analysis.diagnostics
        if diagnostic.code == "PEN3015"
        for place in (diagnostic.span, query.span)  # the latter where the text is not the user's
    }
    diagnostics.items = [
        replace(diagnostic, severity=Severity.ERROR)
        if diagnostic.code == "PEN3015" and diagnostic.span in places
        else diagnostic
        for diagnostic in diagnostics
    ]


def refuse_shared_targets(writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Report sinks with one target of which one would replace the rows of the other."""
    at: dict[Dataset, list[Write]] = {}
    for write in writes:
        target = dataset_of(write)
        if target is not None:
            at.setdefault(target, []).append(write)
    for target, sharing in at.items():
        for index, second in enumerate(sharing):
            if not all(_can_share(first, second) for first in sharing[:index]):
                message = f"two sinks write to `{_shown(second)}`, and not both by adding rows"
                help = "give each a path of its own; or write both with one sink, by two names in its `plugin_input`"
                diagnostics.error("PEN2011", message, second.options.span("path"), help)
        around = [
            enclosing
            for above in target.and_above()
            if above != target
            for enclosing in at.get(above, ())
            if replaces(enclosing)
        ]
        for outer, inner in product(around[:1], sharing):
            message = f"`{_shown(outer)}` is replaced as a whole, and `{_shown(inner)}` is in it"
            diagnostics.error("PEN2011", message, inner.options.span("path"), "give each sink a directory of its own")


def _shown(write: Write) -> str:
    """The target as the job names it: a path, or a database's table."""
    return str(write.options.get("path") or write.connector.target(write.options))


def _can_share(first: Write, second: Write) -> bool:
    formats = {
        str(write.options.get("file_format_type") or write.options.get("format")).lower() for write in (first, second)
    }
    return first.connector is second.connector and len(formats) == 1 and not replaces(first) and not replaces(second)


def replaces(write: Write) -> bool:
    """Whether the write replaces everything at its target."""
    drops = write.data_save_mode is DataSaveMode.DROP_DATA
    return drops or write.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA


def _queries(node: Node) -> tuple[Query, ...]:
    """The queries whose columns are those of the node."""
    match node:
        case Query():
            return (node,)
        case Union():
            return tuple(query for input in node.inputs for query in _queries(input))
        case Expect() | Rejects() | Watermark() | Shuffle():
            return _queries(node.input)
        case Scan() | Native():
            return ()
        case _:
            assert_never(node)


def _write(block: Block, name: str, sink: AnySink, node: Node, diagnostics: Diagnostics) -> Write | None:
    mark = diagnostics.mark()
    options = filled(block.options, sink.offered_options(), node.table, diagnostics)
    if options is None:
        return None
    can = sink.sink_capabilities
    schema_mode = _mode(
        "schema_save_mode", SchemaSaveMode, can.schema_save_modes, sink, options, diagnostics=diagnostics
    )
    data_mode = _mode("data_save_mode", DataSaveMode, can.data_save_modes, sink, options, diagnostics=diagnostics)
    write_mode = sink.default_write_mode(options, node.table)
    if "write_mode" in options.places:
        write_mode = _mode("write_mode", WriteMode, can.write_modes, sink, options, diagnostics=diagnostics)
    elif options.get("write_mode") not in (None, write_mode.value):
        options = replace(options, values={**options.values, "write_mode": write_mode.value})
    if why := contradiction(data_mode, write_mode):
        places = tuple(span for name in ("write_mode", "data_save_mode") if (span := options.span(name)) is not None)
        help = "data_save_mode = APPEND_DATA leaves the other rows"
        diagnostics.items.append(Diagnostic("PEN2011", why, next(iter(places), None), help, also=places[1:]))
    if _applies_kinds(sink, options, node, write_mode):
        write_mode = WriteMode.CHANGELOG
    if node.table.has_row_kind and write_mode not in sink.row_kind_modes(options):
        place = block.plugin_span or block.span
        message, span, help = _row_kinds_refused(node.name, sink, write_mode, place)
        report_tolerated(options, diagnostics, "PEN4011", message, span, help=help)
    of_sink = diagnostics.mark()
    sink.validate(options, node.table, diagnostics)
    _check_conditions(options, node.table, diagnostics)
    if not of_sink.has_errors and schema_mode is not SchemaSaveMode.RECREATE_SCHEMA and not node.table.is_open:
        _report_narrowings(sink, options, node, diagnostics)
    if mark.has_errors:
        return None
    return Write(
        name,
        sink,
        options,
        node,
        schema_mode,
        data_mode,
        write_mode,
        parallelism=block.parallelism,
        uid=block.uid,
        span=options.span(),
    )


def _check_conditions(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report errors in conditions over the rows, which Spark would find when they are staged."""
    if table.is_open:
        return
    for name in _CONDITIONS:
        if options.get(name) and name in options.places and isinstance(options[name], str):
            query = Select("rows", predicates=(options.text(name),)).to_text()
            found = analyze(query, {"rows": table}).diagnostics
            diagnostics.extend(item for item in found if item.severity is Severity.ERROR)


_CONDITIONS: Final = ("replace_where", "delete_condition")
"""Options of sinks that are Spark SQL over their rows."""


def _report_narrowings(sink: AnySink, options: Options, node: Node, diagnostics: Diagnostics) -> None:
    """Report columns that a target that exists would change; of others, the run's own check does."""
    target = sink.known_table(options) if isinstance(sink, SupportsKnownTable) else None
    if target is None:
        return
    evolution = _evolution(options)
    place = partial(column_place, node, options)
    if not options.get("sink_columns"):
        _report_misfits(sink, options, node, target, diagnostics)
    report_narrowings(store_assignment(options), node.table, target, diagnostics, evolution=evolution, place=place)


def _report_misfits(
    sink: AnySink, options: Options, node: Node, target: CatalogTable, diagnostics: Diagnostics
) -> None:
    """Warn of columns that the run will refuse, unless the target is changed before (PEN4455), and of those that the
    rows lack: they are NULL in new rows, and in the rows that an upsert updates (PEN4454)."""
    for problem in fits(node.table.schema, target.schema, _evolution(options)):
        help = remedy_of(problem, node.table, target, schema_evolutions(sink.sink_options))
        message = f"rows of `{node.name}` do not fit the target as it is, and the run fails: {problem}"
        diagnostics.warning("PEN4455", message, options.span(), help)
    adds_columns = str(options.get("write_mode")).lower() == WriteMode.SCD2.value
    if sink.sink_capabilities.fills_columns or adds_columns:
        return
    if (warning := left_out_warning(node.name, node.table, target, options.span())) is not None:
        diagnostics.extend([warning])


def _evolution(options: Options) -> SchemaEvolution:
    given = options.optional_string("schema_evolution") if "schema_evolution" in options.values else None
    return next((one for one in SchemaEvolution if one.value == (given or "").lower()), SchemaEvolution.FAIL)


def column_place(node: Node, options: Options, name: str) -> Span | None:
    """Where a column of the rows is written; the sink, if that is not known."""
    if isinstance(node, Query) and isinstance(node.body, PlacedText):
        at = node.table.schema.names.index(name)
        return output_span(node.body, at, at, len(node.table.columns)) or options.span()
    return options.span()


def _applies_kinds(sink: AnySink, options: Options, node: Node, mode: WriteMode) -> bool:
    """Whether deletes are deleted from the target, as SeaTunnel's sinks do where they know the key of the rows."""
    is_keyed = mode is WriteMode.UPSERT or bool(options.get("primary_keys"))
    can = sink.row_kind_modes(options)
    return options.seatunnel is not None and node.table.has_row_kind and is_keyed and WriteMode.CHANGELOG in can


def _row_kinds_refused(rows: str, sink: AnySink, mode: WriteMode, place: Span | None) -> tuple[str, Span | None, str]:
    """The error of rows with kinds in a sink that treats every row as an insert."""
    able = " or ".join(f'`write_mode = "{mode.value}"`' for mode in sink.sink_capabilities.row_kind_modes)
    other = "`FilterRowKind` keeps rows of some kinds, `RowKindExtractor` makes the kind a column"
    adds = f"`{sink.name}` in write_mode `{mode.value}` would add them all as rows"
    return f"`{rows}` holds inserts, updates and deletes: {adds}", place, f"use {able}; {other}" if able else other


def _mode(
    option: str,
    kind: type[Mode],
    allowed: tuple[Mode, ...],
    sink: AnySink,
    options: Options,
    *,
    diagnostics: Diagnostics,
) -> Mode:
    """The mode of an option; if it is not set, the default, or the first one that the sink supports."""
    default = next(iter(allowed), next(iter(kind)))
    text = options.optional_string(option)
    if text is None:
        return default
    mode = next((known for known in kind if str(known.value).lower() == text.lower()), None)
    if mode is None:
        return default  # an invalid mode was reported with the options
    if mode in allowed:
        return mode
    if option in options.places:
        listed = ", ".join(f"`{choice.value}`" for choice in allowed)
        diagnostics.error(
            "PEN4004",
            f"`{sink.name}` does not support {option} `{mode.value}`",
            options.span(option),
            f"it supports {listed}" if listed else f"leave {option} out",
        )
    return default
