"""Migrates a job of Apache SeaTunnel: the same job in strict HOCON, commented where it had to change.

What the strict job still cannot do is found by compiling it without `--compat`, and reported at the block of the
original.
"""

import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Final

import connectors
from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, JobError, Severity, job_error
from catalog.diagnostics.source import PlacedText, SourceFile, Span
from catalog.limits import LimitError
from catalog.options import Option
from catalog.tables.table import CatalogTable
from engine.compile import compile_job
from engine.job.compat.unsupported_options import ENV as UNSUPPORTED_ENV
from engine.job.compat.unsupported_options import unsupported_options
from engine.job.hocon.comments import Comments
from engine.job.hocon.parse import parse
from engine.job.hocon.render import to_hocon
from engine.job.hocon.sections import resolve_job, section_like
from engine.job.hocon.syntax import HoconArray
from engine.job.load import COMMON, bounded_by, load, load_file, located, read_file
from engine.job.model.job import Block, BlockKind, Job
from engine.job.model.settings import Settings
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, flatten, plain
from engine.job.model.wiring import wire
from engine.job.options.check_options import changes_nothing, is_unset
from engine.job.options.env import OPTIONS as ENV_OPTIONS
from engine.job.options.variables import is_placeholder
from engine.job.script.with_options import sink_spec, source_spec, transform_spec
from engine.job.source_queries import with_source_queries
from engine.migrating.draft import TABLE_LISTS, Draft, as_node, is_at, without, without_kind
from engine.migrating.plugins import migrate_plugin
from engine.plan.building.build_plan import build
from engine.plan.nodes import Plan, Query, Scan, Write

_VARIABLE: Final = re.compile(r"(?<!\$)\$\{\s*([^\W\d][\w.\-]*)\s*\}")
_ALIASES: Final = {
    "source_table_name": "plugin_input",
    "result_table_name": "plugin_output",
    "sql": "query",
    "execution.parallelism": "parallelism",
    "execution.checkpoint.interval": "checkpoint.interval",
}
_UNDEFINED: Final = "PEN1003"
_IGNORED: Final = ("PEN2003", "PEN2011")
"""Unknown options, and options without a meaning: warnings under the flag, errors without it."""

_LEFT_OUT: Final = ("PEN2003", "PEN2014")
"""Settings of `env` that are unknown, or that a job cannot set."""

_SPECS: Final = {BlockKind.SOURCE: source_spec, BlockKind.TRANSFORM: transform_spec, BlockKind.SINK: sink_spec}


@dataclass(frozen=True, slots=True)
class Migrated:
    """The strict job, and the errors that are left in it, at the locations of the original."""

    text: str
    left: tuple[Diagnostic, ...]


@dataclass(eq=False, slots=True)
class _Annotated(Comments):
    """The comments of the file, and those of the migration, by the offset of the part that they are above."""

    own: dict[int, list[str]] = field(default_factory=dict)
    top: list[str] = field(default_factory=list)

    def header(self) -> list[str]:
        return [*Comments.header(self), *self.top]

    def above(self, offset: int) -> list[str]:
        return [*Comments.above(self, offset), *self.own.pop(offset, ())]


def migrate(path: str | PathLike[str], settings: Settings, *, to_spark_sql: bool = False) -> Migrated:
    """The strict job of a HOCON or JSON file; raises `JobError` if the file cannot be read as one.

    `to_spark_sql`: queries are rewritten into Spark's SQL; else the job sets `sql.dialect` where they need it.
    """
    diagnostics = Diagnostics()
    source = read_file(path, diagnostics)
    diagnostics.raise_errors()
    assert source is not None
    if source.path.lower().endswith(".sql"):
        raise job_error("PEN2015", "a SQL job has no form of SeaTunnel to migrate from", None,
                        "`penstock validate` checks it; `penstock convert` makes it HOCON")  # fmt: skip
    try:
        with bounded_by(Path(source.path), settings):
            return _migrated(source, diagnostics, settings, to_spark_sql)
    except LimitError as error:
        raise JobError(located(error, Path(source.path))) from None


def _migrated(source: SourceFile, diagnostics: Diagnostics, settings: Settings, to_spark_sql: bool) -> Migrated:
    syntax = parse(source, diagnostics)
    job = load(source, diagnostics, replace(settings, compat=Compat.SEATUNNEL_2))
    if isinstance(syntax, HoconArray) or job is None:
        diagnostics.raise_errors()
        raise job_error("PEN1002", "a job is a block of `env`, `source`, `transform` and `sink`, not a list")
    own = Diagnostics()
    built = build(job, own)
    diagnostics.extend(own)
    plan = None if own.has_errors else built
    tree = with_source_queries(resolve_job(syntax, Diagnostics(), compat=Compat.SEATUNNEL_2), Compat.SEATUNNEL_2)
    return _Migration(source, job, plan, tuple(diagnostics), settings).run(tree, to_spark_sql)


def _members(draft: Draft, names: Collection[str], tables: Mapping[Span | None, CatalogTable]) -> tuple[Draft, ...]:
    """The tables of a source block, each as the draft of a block of its own."""
    block = draft.block
    listed = next((node for name in TABLE_LISTS if isinstance(node := draft.options.get(name), ListNode)), None)
    if block.kind is not BlockKind.SOURCE or listed is None or len(listed.items) != len(block.tables):
        return ()
    return tuple(
        Draft(
            item,
            replace(block, options=table.options, tables=()),
            tables.get(table.options.span()),
            {name: entry.value for name, entry in flatten(item, names)},
        )
        for item, table in zip(listed.items, block.tables, strict=True)
        if isinstance(item, MapNode)
    )


@dataclass(frozen=True, slots=True)
class _Migration:
    """One job as it was read, with what was found in it."""

    source: SourceFile
    job: Job
    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    settings: Settings

    def run(self, tree: MapNode, to_spark_sql: bool) -> Migrated:
        drafts = self.drafts(tree)
        queries = self.rewritten_queries()
        for draft in drafts:
            query = queries.get(draft.block.plugin_span)
            if to_spark_sql and query is not None:
                draft.put("query", query, "the query in Spark's SQL")
        needs_dialect = bool(queries) and not (to_spark_sql and all(queries.values()))
        env, notes = self.env(tree, needs_dialect)
        self.with_keys(drafts)
        added = self.without_kinds(drafts)
        new = self.with_blocks(tree, env, drafts, added)
        left = self.left(self.rendered(new, drafts, notes), drafts)
        return Migrated(self.rendered(new, drafts, notes), left)

    def drafts(self, tree: MapNode) -> list[Draft]:
        """The blocks of the job, each migrated by itself."""
        sections = [entry for entry in tree.entries if section_like(entry.key)]
        nodes: dict[BlockKind, list[MapNode]] = {kind: [] for kind in BlockKind}
        for entry in sections:
            if isinstance(entry.value, ListNode):
                nodes[BlockKind(section_like(entry.key))] += (
                    item for item in entry.value.items if isinstance(item, MapNode)
                )
        all_nodes = [node for kind in BlockKind for node in nodes[kind]]
        inputs = wire(self.job, Diagnostics()).inputs
        tables = {node.span: node.table for node in (self.plan.nodes() if self.plan else ())
                  if isinstance(node, Scan | Write)}  # fmt: skip
        drafts = []
        for node, block in zip(all_nodes, self.job.blocks, strict=True):
            spec = {name: option for option in (*_SPECS[block.kind](block.plugin), *COMMON)
                    for name in (option.name, *option.alternatives)}  # fmt: skip
            names = {*spec, *unsupported_options(block.kind.value, block.plugin)}
            options = {name: entry.value for name, entry in flatten(node, names) if name != "plugin_name"}
            draft = Draft(node, block, tables.get(block.options.span()) or _table_of(block), options)
            self.without_ignored(draft, names, spec)
            for old, new in _ALIASES.items():
                draft.rename(old, new)
            self.with_names(draft, [wired.name for wired in inputs.get(block, ()) if wired.name])
            draft.members = _members(draft, names, tables)
            migrate_plugin(draft)
            drafts.append(draft)
        return drafts

    def without_ignored(self, draft: Draft, names: Iterable[str], spec: Mapping[str, Option]) -> None:
        """Leave out what SeaTunnel ignores and a strict job refuses: unknown keys, options without a meaning."""
        ignored = [
            diagnostic
            for diagnostic in self.diagnostics
            if diagnostic.severity is Severity.WARNING and diagnostic.code in _IGNORED
        ]
        spans = {diagnostic.span for diagnostic in ignored if diagnostic.span}
        dropped: list[str] = []
        unsupported = unsupported_options(draft.block.kind.value, draft.block.plugin)
        for name, entry in tuple(flatten(draft.node, tuple(names))):
            if name == "plugin_name":
                continue
            is_empty = name in spec and is_unset(spec[name], entry.value)
            is_nothing = name in unsupported and changes_nothing(unsupported[name], entry.value)
            if is_at(entry, spans) or is_empty or is_nothing:
                draft.drop(name)
                dropped.append(name)
            else:
                draft.options[name] = without(entry.value, spans, dropped)
        if dropped:
            draft.notes.append(f"left out, without effect in SeaTunnel: {', '.join(f'`{name}`' for name in dropped)}")

    def with_names(self, draft: Draft, wired: list[str]) -> None:
        """Name the inputs that the block really reads, and its outputs where another block had the name first."""
        written = _names(draft.options.get("plugin_input"))
        known = {name.lower(): name for name in wired}
        if written and not known and draft.block.inputs:
            draft.drop("plugin_input", f"`plugin_input` left out: no block has the output `{written[0]}`")
        elif written and [name.lower() for name in written] != [name.lower() for name in wired]:
            draft.put("plugin_input", list(wired), "the inputs that SeaTunnel reads here")
        elif not written and draft.block.inputs:
            draft.put("plugin_input", list(wired), "the inputs that the query names")
        outputs = [reference.name for reference in draft.block.outputs]
        if "plugin_output" in draft.options and _names(draft.options["plugin_output"]) != tuple(outputs):
            draft.put("plugin_output", list(outputs), "renamed: another block has the output of that name")

    def rewritten_queries(self) -> Mapping[Span | None, str | None]:
        """The queries that mean something else in Spark's SQL, rewritten into it, by the place of their plugin; None
        where each table of a set has another."""
        texts = {
            block.plugin_span: block.options.text("query").value
            for block in self.job.of_kind(BlockKind.TRANSFORM)
            if isinstance(block.options.get("query"), str)
        }
        if self.plan is None:  # something else of the job is invalid
            return dict.fromkeys(texts)
        found: dict[Span | None, set[str]] = {}
        for node in self.plan.nodes():
            if isinstance(node, Query) and isinstance(node.body, PlacedText) and node.span in texts:
                found.setdefault(node.span, set()).add(node.body.value)
        return {span: next(iter(new)) if len(new) == 1 else None for span, new in found.items() if new != {texts[span]}}

    def env(self, tree: MapNode, needs_dialect: bool) -> tuple[MapNode, list[str]]:
        """The settings of the job, and the comments above it."""
        node = tree.get("env")
        place = tree.place
        names = {*UNSUPPORTED_ENV, *(name for option in ENV_OPTIONS for name in (option.name, *option.alternatives))}
        spans = {diagnostic.span for diagnostic in self.diagnostics if diagnostic.code in _LEFT_OUT and diagnostic.span}
        notes, dropped = list[str](), list[str]()
        entries = []
        for name, entry in flatten(node, tuple(names)) if isinstance(node, MapNode) else ():
            if is_at(entry, spans):
                dropped.append(name)
            elif name == "job.mode" and self.job.env.mode == "BATCH" and plain(entry.value) != "BATCH":
                entries.append(replace(entry, key=name, value=as_node("BATCH", place)))
                notes.append("`job.mode`: no source yields rows that arrive later")
            else:
                entries.append(replace(entry, key=_ALIASES.get(name, name)))
        if dropped:
            notes.append(f"left out of `env`, without effect: {', '.join(f'`{name}`' for name in dropped)}")
        if needs_dialect and not any(entry.key == "sql.dialect" for entry in entries):
            entries.append(Entry("sql.dialect", place, as_node(Compat.SEATUNNEL_2.value, place)))
            notes.append("`sql.dialect`: the queries call functions with SeaTunnel's meaning (`--sql spark` rewrites)")
        return MapNode(tuple(entries), place), notes

    def with_keys(self, drafts: list[Draft]) -> None:
        """Name the write mode of sinks to which SeaTunnel writes by the key of the rows."""
        modes = {node.span: node.write_mode for node in (self.plan.nodes() if self.plan else ())
                 if isinstance(node, Write) and node.keeps_last}  # fmt: skip
        for draft in drafts:
            mode = modes.get(draft.block.options.span())
            if mode is not None:
                note = "SeaTunnel keeps the last of several rows of a key: here, `sequence_field` names their order"
                draft.put("write_mode", mode.value, note)

    def without_kinds(self, drafts: list[Draft]) -> list[MapNode]:
        """Transforms after which rows have no kind, for sinks to which SeaTunnel writes every row whatever its kind."""
        writes = {node.span for node in (self.plan.nodes() if self.plan else ())
                  if isinstance(node, Write) and node.drops_row_kind}  # fmt: skip
        inputs = wire(self.job, Diagnostics()).inputs
        by_block = {draft.block: draft for draft in drafts}
        added: list[MapNode] = []
        for draft in drafts:
            wires = inputs.get(draft.block, ())
            if draft.block.options.span() not in writes or len(wires) != 1:
                continue
            name = wires[0].name or f"rows_{len(added)}"
            by_block[wires[0].producer].options.setdefault("plugin_output", as_node(name, draft.node.place))
            kinds, plain_rows = f"{name}_kinds_{len(added)}", f"{name}_plain_{len(added)}"
            added += without_kind(Place(self.source, 0, 0), name, kinds, plain_rows)
            draft.put("plugin_input", plain_rows, "SeaTunnel writes every row, whatever its kind")
        return added

    def with_blocks(self, tree: MapNode, env: MapNode, drafts: list[Draft], added: list[MapNode]) -> MapNode:
        entries = [Entry("env", tree.place, env)]
        for kind in BlockKind:
            blocks = tuple(draft.result for draft in drafts if draft.block.kind is kind)
            blocks += tuple(added) if kind is BlockKind.TRANSFORM else ()
            entries.append(Entry(kind.value, tree.place, ListNode(blocks, tree.place)))
        return MapNode(tuple(entries), tree.place)

    def rendered(self, tree: MapNode, drafts: list[Draft], notes: list[str]) -> str:
        comments = _Annotated(self.source)
        for draft in drafts:
            comments.own[draft.node.place.start] = [
                *(f"migrated: {note}" for note in draft.notes),
                *(f"NOT MIGRATED: {note}" for note in draft.refused),
            ]
        top = [f"Migrated from {Path(self.source.path).name} of Apache SeaTunnel.", *notes]
        if missing := sorted({name for name in _VARIABLE.findall(to_hocon(tree, Comments(self.source)))
                              if not is_placeholder(name)}):  # fmt: skip
            top.append("needs its variables: " + " ".join(f"-i {name}=…" for name in missing))
        comments.top = top
        return to_hocon(tree, comments)

    def left(self, text: str, drafts: list[Draft]) -> tuple[Diagnostic, ...]:
        """The errors of the strict job, each at the block of the original that it is in; also added to the drafts."""
        with tempfile.TemporaryDirectory(prefix="penstock-migrate-") as folder:
            path = Path(folder) / "job.conf"
            path.write_text(text, encoding="utf-8")
            diagnostics = Diagnostics()
            compile_job(path, replace(self.settings, compat=Compat.OFF), diagnostics)
            strict = load_file(path, Diagnostics(), replace(self.settings, compat=Compat.OFF))
        errors = [
            diagnostic
            for diagnostic in diagnostics
            if diagnostic.severity is Severity.ERROR and diagnostic.code != _UNDEFINED
        ]
        result = []
        for error in errors:
            draft = next((draft for draft, block in zip(drafts, strict.blocks if strict else (), strict=False)
                          if _is_within(error.span, block)), None)  # fmt: skip
            span = (draft.block.plugin_span or draft.block.span) if draft else None
            at = self.exact(error) or span
            result.append(replace(error, span=at, also=()))
            if draft is not None:
                where = f"{at.line}:{at.column}" if at else ""
                draft.refused.append(f"{error.code} at {where}: {error.message}" + f"; {error.help}" * bool(error.help))
        return tuple(result)

    def exact(self, error: Diagnostic) -> Span | None:
        """The location of the same error in the original, if it is reported there."""
        spans = {(diagnostic.code, diagnostic.message): diagnostic.span for diagnostic in reversed(self.diagnostics)}
        return spans.get((error.code, error.message))


def _table_of(block: Block) -> CatalogTable | None:
    """The table of a source, found without the plan: another block of the job may be invalid."""
    source = connectors.source(block.plugin) if block.kind is BlockKind.SOURCE else None
    if source is None or block.tables or not block.options.is_valid:
        return None
    return next(iter(source.tables(block.options, Diagnostics())), None)


def _names(node: Node | None) -> tuple[str, ...]:
    value = plain(node) if node is not None else []
    return tuple(str(item) for item in value) if isinstance(value, list) else (str(value),)


def _is_within(span: Span | None, block: Block) -> bool:
    return span is not None and block.span is not None and block.span.line <= span.line <= block.span.end_line
