"""Reads a job file into a `Job` with checked blocks, and reports all errors of the file together."""

import os
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import Final, cast

import connectors
from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText, SourceFile, Span
from catalog.limits import LimitError
from catalog.masks import MaskedVariables, Masks
from catalog.options import STORE_ASSIGNMENT, Option, Options, OptionType, SeaTunnel
from catalog.reach import OutsideError, Reach, refuse_outside, within
from connectors.interface.sink import AnySink
from engine.expectations.expect_option import EXPECTATIONS, rejects_of
from engine.job.bounded import bounded, project_roots
from engine.job.compat.counterparts import SECTIONS_OF_VERSION_1, counterpart
from engine.job.compat.ending_streams import with_ending_streams
from engine.job.compat.queried_inputs import with_queried_inputs
from engine.job.compat.shadowed_names import with_own_names
from engine.job.compat.unsupported_options import unsupported_options
from engine.job.hocon.include import Includes
from engine.job.hocon.parse import parse
from engine.job.hocon.sections import resolve_job, section_like
from engine.job.hocon.substitution import SECTIONS
from engine.job.hocon.syntax import HoconArray
from engine.job.model.intervals import START as INTERVAL_START
from engine.job.model.intervals import TimeInterval
from engine.job.model.job import Block, BlockKind, Cache, Chain, Env, Job, Reference, TableOptions
from engine.job.model.settings import ReadText, Settings, read_text
from engine.job.model.tree import Entry, ListNode, MapNode, Place, TextNode, kind_of
from engine.job.options.check_options import check_options
from engine.job.options.column_match import MATCH_COLUMNS, with_matches
from engine.job.options.env import read_env
from engine.job.options.hidden_texts import hide_texts
from engine.job.options.project_options import with_defaults, with_project_options
from engine.job.options.secret_options import Secrets, Shade
from engine.job.options.table_options import TABLE_LISTS, inheriting, pattern_of, taken, taken_path, without_list
from engine.job.options.variables import Variables, fill_in, fill_in_text
from engine.job.options.watermark_option import WATERMARK, late_outputs
from engine.job.source_queries import with_source_queries
from engine.transforms import names as transform_names
from engine.transforms import transform

COMMON: Final = (
    Option("plugin_name", OptionType.STRING, "The connector or transform."),
    Option("plugin_input", OptionType.LIST, "The outputs to read (default: that of the block before).",
           alternatives=("source_table_name",), element=OptionType.STRING),
    Option("plugin_output", OptionType.LIST, "The name of the block's output; of a sink, its name in plans.",
           alternatives=("result_table_name",), element=OptionType.STRING),
    Option("parallelism", OptionType.INTEGER, "Number of tasks (default: that of `env`).", minimum=1),
    Option("uid", OptionType.STRING, "An id under which the block keeps its state when the job changes."),
    Option("cache", OptionType.STRING,
           "Where its rows are persisted when several blocks read them. Default: aggregates, windows and rows "
           "that may differ between two reads are persisted on disk, others are computed for each reader.",
           choices=tuple(cache.value for cache in Cache)),
    EXPECTATIONS,
    WATERMARK,
)  # fmt: skip
"""The options of every block."""
OF_SINKS: Final = (MATCH_COLUMNS, STORE_ASSIGNMENT)
"""The options of every sink."""
OF_TRANSFORMS: Final = (
    Option("chain", OptionType.STRING,
           "Whether its query becomes one with others: `always` where that changes no row, `head`: only with the one "
           "that reads it, or `never`.", default=Chain.ALWAYS.value, choices=tuple(each.value for each in Chain)),
)  # fmt: skip
"""The options of every transform."""
_COMMON_NAMES: Final = frozenset(
    name for option in (*COMMON, *OF_SINKS, *OF_TRANSFORMS) for name in (option.name, *option.alternatives)
)
_OF_KIND: Final = {BlockKind.SINK: OF_SINKS, BlockKind.TRANSFORM: OF_TRANSFORMS}
_OWN: Final = frozenset(option.name for option in (*COMMON, *OF_SINKS, *OF_TRANSFORMS)) - {
    EXPECTATIONS.name, WATERMARK.name, STORE_ASSIGNMENT.name,
}  # fmt: skip
"""Those that are fields of a `Block`, and are left out of its options."""

_UID: Final = re.compile(r"\w[\w.-]{0,63}")

_HIDING = ("PEN1002", "PEN2005", "PEN2007", "PEN3001")
"""Syntax errors that may hide parts of the file: parts that seem missing are then not reported."""


def load_file(path: str | PathLike[str], diagnostics: Diagnostics, settings: Settings | None = None) -> Job | None:
    """The job of a file, as `load` reads its text; None if it cannot be read at all."""
    settings = settings or Settings()
    source = read_file(path, diagnostics, settings.read, allows_outside=settings.allows_outside)
    return load(source, diagnostics, settings) if source else None


def load(source: SourceFile, diagnostics: Diagnostics, settings: Settings | None = None) -> Job | None:
    """The job of a text in HOCON, JSON or SQL, as its name ends; None if it cannot be read at all.

    Errors go to `diagnostics`. A block with errors is in the job all the same (`options.is_valid` is False): the
    others can be checked too. Secrets of the job are added to the masks of the settings.
    """
    settings = settings or Settings()
    path = Path(source.path)
    try:
        with bounded_by(path, settings):
            return _load(source, diagnostics, settings)
    except LimitError as error:
        diagnostics.extend(located(error, path))
        return None


def bounded_by(path: Path, settings: Settings) -> AbstractContextManager[None]:
    """The limits of a job, as the settings of a command have them."""
    return bounded(
        path,
        allows_outside=settings.allows_outside,
        is_run=settings.reads_secrets or not settings.limits_process,  # of the command line
        limits_process=settings.limits_process,
    )


def located(error: LimitError, path: Path) -> Iterator[Diagnostic]:
    """The errors with the file as their location, where they have none."""
    for item in error.diagnostics:
        yield item if item.span else replace(item, span=Span(str(path), 1, 1, 1, 1))


def _load(source: SourceFile, diagnostics: Diagnostics, settings: Settings) -> Job | None:
    environment = MaskedVariables(os.environ, settings.masks)
    variables = Variables({**settings.project.variables, **settings.variables}, environment, settings.compat)
    own = Diagnostics()
    root = job_tree(source, variables, own, settings.read)
    window = None if root is None else _window(source, root, settings)
    if window is not None:  # read again, with the variables of the interval
        own, given = Diagnostics(), {**variables.given, **window.variables}
        root = job_tree(source, replace(variables, given=given), own, settings.read)
    diagnostics.extend(own)
    if root is None:
        return None
    hide_texts(root, settings.masks)
    is_whole = all(item.code not in _HIDING for item in own)
    job = _Loader(source, root, diagnostics, settings, is_whole=is_whole).job()
    return job if window is None else replace(job, env=replace(job.env, window=window.interval))


@dataclass(frozen=True, slots=True)
class _Window:
    """The interval that a job is compiled for, and the values of its variables."""

    interval: TimeInterval
    variables: Mapping[str, str]


def _window(source: SourceFile, root: MapNode, settings: Settings) -> _Window | None:
    """The interval that a job is compiled for: that of the settings, else the one whose start is given as a variable,
    else its first; None of a job without intervals."""
    entry = root.entry("env")
    node = with_defaults(entry.value if entry and isinstance(entry.value, MapNode) else None, settings.project.env)
    if node is None or not any(entry.key.partition(".")[0] == "interval" for entry in node.entries):
        return None
    spec = read_env(node, source.path, Diagnostics(), Masks(), settings.compat).interval
    if spec is None:
        return None
    interval = settings.interval
    if interval is None:
        with suppress(ValueError):
            start = spec.parsed(settings.variables.get(INTERVAL_START, ""))
            interval = TimeInterval(spec.floor(start), spec.after(spec.floor(start)))
    interval = interval or spec.first()
    return _Window(interval, spec.variables(interval))


def read_file(
    path: str | PathLike[str], diagnostics: Diagnostics, read: ReadText = read_text, *, allows_outside: bool = False
) -> SourceFile | None:
    """The text of a job file; None if it cannot be read, which is then in `diagnostics`. A link leads out of the
    project only where that is allowed."""
    name = os.fspath(path)
    try:
        if not allows_outside:
            with within(Reach(project_roots(Path(name)))):
                refuse_outside(name, is_data=False)
        return SourceFile(name, read(name))
    except OutsideError:
        help = "a link leads out of the project; `--allow-outside` reads it all the same"
        diagnostics.error("PEN1602", f"`{name}` is outside of the project, and is not read", None, help)
    except UnicodeDecodeError as error:
        text = error.object.decode("utf-8-sig", errors="replace")
        start = text.index("\ufffd")
        message = f"`{name}` is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        diagnostics.error("PEN1001", message, SourceFile(name, text).span(start, start + 1), "save the file as UTF-8")
    except IsADirectoryError:
        help = "name one job file; `penstock validate` and `penstock graph` also take folders"
        diagnostics.error("PEN1001", f"`{name}` is a folder", None, help)
    except OSError as error:
        diagnostics.error("PEN1001", f"`{name}` cannot be read: {error.strerror}")
    return None


def job_tree(
    source: SourceFile, variables: Variables, diagnostics: Diagnostics, read: ReadText = read_text
) -> MapNode | None:
    """The tree of a job file, variables filled in: `env`, and each section as a list of blocks."""
    if source.path.lower().endswith(".sql"):
        from engine.job.script.read_script import script_tree

        text = PlacedText.verbatim(source, 0, len(source.text))
        script = script_tree(fill_in_text(text, variables, diagnostics, in_sink=True), diagnostics)
        return with_source_queries(script, variables.compat) if script is not None else None
    known = ChainMap(dict(variables.given), cast(MutableMapping[str, str], variables.environment))  # only read
    syntax = parse(source, diagnostics, Includes(source.path, variables=known, read=read))
    if isinstance(syntax, HoconArray):
        diagnostics.error("PEN1002", "a job is a block of `env`, `source`, `transform` and `sink`, not a list",
                    syntax.place.span)  # fmt: skip
        return None
    root = resolve_job(syntax, diagnostics, variables.given, variables.environment, compat=variables.compat)
    entries = (
        replace(entry, value=fill_in(entry.value, variables, diagnostics, in_sink=section_like(entry.key) == "sink"))
        for entry in root.entries
    )
    return with_source_queries(replace(root, entries=tuple(entries)), variables.compat)


class _Loader:
    """Checks the blocks of one job file."""

    def __init__(
        self,
        source: SourceFile,
        root: MapNode,
        diagnostics: Diagnostics,
        settings: Settings,
        *,
        is_whole: bool,
    ) -> None:
        self.source = source
        self.root = root
        self.diagnostics = diagnostics
        self.is_whole = is_whole
        self.settings = settings
        self.compat = settings.compat
        self.sink_names: set[str] = set()
        self.parallelism = 1

    def job(self) -> Job:
        node = with_defaults(self.env_node(), self.settings.project.env)
        env = read_env(node, Path(self.source.path).stem, self.diagnostics, self.settings.masks,
                       self.compat)  # fmt: skip
        if self.settings.accelerator is not None and env.mode != "STREAMING":
            env = replace(env, accelerator=self.settings.accelerator)
        if env.options is not None and "parallelism" in env.options.places:
            self.parallelism = env.parallelism
        secrets = self.secrets(env)
        by_kind: dict[BlockKind, list[Block]] = {kind: [] for kind in BlockKind}
        is_whole = self.is_whole
        for entry in self.root.entries:
            section = section_like(entry.key)
            if entry.key not in (section, "env"):
                is_whole = section is not None and is_whole
                self.unknown_section(entry, section)
            if section is not None and isinstance(entry.value, ListNode):
                kind = BlockKind(section)
                by_kind[kind] += (
                    self.block(kind, node, secrets) for node in entry.value.items if isinstance(node, MapNode)
                )
        blocks = tuple(block for blocks in by_kind.values() for block in blocks)
        if self.compat.is_seatunnel:
            env = with_ending_streams(env, blocks, self.diagnostics)
            blocks = with_own_names(with_queried_inputs(blocks))
        return Job(self.source, env, blocks, is_whole)

    def unknown_section(self, entry: Entry, section: str | None) -> None:
        """Report a key of the top level; SeaTunnel passes over those that are no misspelled section."""
        renamed = SECTIONS_OF_VERSION_1.get(entry.key)
        is_passed_over = self.compat.is_seatunnel and section is None and renamed not in SECTIONS
        report = self.diagnostics.warning if is_passed_over else self.diagnostics.error
        help = (
            f"`{entry.key}` of SeaTunnel 1 is now `{renamed}`"
            if renamed
            else did_you_mean(entry.key, ("env", *SECTIONS))
        )
        report("PEN2001", f"unknown section `{entry.key}`", entry.key_place.span, help)

    def env_node(self) -> MapNode | None:
        entry = self.root.entry("env")
        if entry is None or isinstance(entry.value, MapNode):
            return entry.value if entry and isinstance(entry.value, MapNode) else None
        self.diagnostics.error("PEN2001", f"`env` is {kind_of(entry.value)}, not a block", entry.value.place.span)
        return None

    def secrets(self, env: Env) -> Secrets:
        folder = str(Path(self.source.path).parent)
        if env.options is None:
            return Secrets(self.settings.reads_secrets, folder=folder, masks=self.settings.masks)
        shade = Shade(env.options.string("shade.identifier"))
        names = env.options.strings("shade.options")
        return Secrets(self.settings.reads_secrets, shade, folder, names, masks=self.settings.masks)

    def block(self, kind: BlockKind, node: MapNode, secrets: Secrets) -> Block:
        name, place = self.plugin(kind, node)
        written = node.written
        spec = _spec(kind, name) if name else None
        if not self.is_whole:  # a brace is missing, and a section was read as part of the block before it
            node = replace(node, entries=tuple(entry for entry in node.entries if entry.key not in ("env", *SECTIONS)))
        if name and spec is None and (self.is_whole or name not in ("env", *SECTIONS)):
            self.unknown_plugin(kind, name, place)
        if spec is not None and kind is not BlockKind.TRANSFORM:
            known = (*COMMON, *OF_SINKS, *OF_TRANSFORMS, *spec)
            node = with_project_options(node, (kind, name), self.settings.project, known, self.diagnostics)
        if spec is None:  # its own options cannot be checked, but its inputs and outputs can
            node = replace(node, entries=tuple(entry for entry in node.entries if entry.key in _COMMON_NAMES))
        check = partial(
            check_options, diagnostics=self.diagnostics, owner=name or "the block", at=place.span, secrets=secrets,
            compat=self.compat, unsupported=unsupported_options(kind.value, name) if name else None,
        )  # fmt: skip
        node, regex = taken(node, "table_match_regex") if kind is BlockKind.TRANSFORM else (node, None)
        node, tables, own_spec = self.tables(kind, node, spec or (), check)
        options = check(node, (*COMMON, *_OF_KIND.get(kind, ()), *own_spec))
        is_valid = options.is_valid and spec is not None and all(table.options.is_valid for table in tables)
        inputs, outputs = references(options, "plugin_input"), references(options, "plugin_output")
        sink_name = None
        if kind is BlockKind.SINK:
            sink_name, outputs = self.sink_name(outputs), ()
            inputs = with_matches(inputs, options, self.diagnostics)
        hides_names = any(
            isinstance(text, TextNode) and not text.is_resolved
            for name in ("plugin_input", "source_table_name", "plugin_output", "result_table_name")
            for text in _texts_of(node.entry(name))
        )
        parallelism, uid = options["parallelism"], options.optional_string("uid")
        if self.compat.is_seatunnel:
            own_parallelism = parallelism if isinstance(parallelism, int) else self.parallelism
            read_as = SeaTunnel(own_parallelism, compat=self.compat)
            options = replace(options, seatunnel=read_as)
            tables = tuple(replace(table, options=replace(table.options, seatunnel=read_as)) for table in tables)
        complete = _completion(kind, name)
        options = complete(options)
        tables = tuple(replace(table, options=complete(table.options)) for table in tables)
        if uid is not None and not _UID.fullmatch(uid):  # files are called by it
            help = "letters, digits and `_`, `.`, `-`, at most 64, a letter, digit or `_` first"
            self.diagnostics.error("PEN2004", f"`{uid}` cannot be a `uid`", options.span("uid"), help)
        return Block(
            kind, name, replace(options, values={k: v for k, v in options.values.items() if k not in _OWN},
                                is_valid=is_valid),
            inputs, outputs, node.place.span, place.span,
            parallelism if isinstance(parallelism, int) else None, uid, not hides_names,
            (*rejects_of(options), *late_outputs(options, outputs)),
            _cache(options), sink_name, tables, pattern_of(regex, self.diagnostics),
            not tables or bool(own_spec), written, _chain(options),
        )  # fmt: skip

    def tables(
        self, kind: BlockKind, node: MapNode, spec: tuple[Option, ...], check: Callable[..., Options]
    ) -> tuple[MapNode, tuple[TableOptions, ...], tuple[Option, ...]]:
        """The block without its list of tables, the options of each of them, and the spec of what is left."""
        name = {BlockKind.SOURCE: "tables_configs", BlockKind.TRANSFORM: "table_transform"}.get(kind, "")
        if kind is BlockKind.SOURCE:
            name = next((other for other in TABLE_LISTS if node.entry(other) is not None), name)
        if not name or any(option.name == name for option in spec):  # some connectors have their own form of it
            return node, (), spec
        node, listed = without_list(node, name, self.diagnostics)
        if listed is None:
            return node, (), spec
        if kind is BlockKind.TRANSFORM:
            entries = [(*taken_path(entry), entry) for entry in listed]
            tables = [TableOptions(check(rest, spec), self.table_path(path, entry)) for rest, path, entry in entries]
            has_own = any(entry.key not in _COMMON_NAMES for entry in node.entries)
            return node, tuple(tables), spec if has_own else ()
        inherited = _COMMON_NAMES - {EXPECTATIONS.name}
        mark = self.diagnostics.mark()
        tables = [TableOptions(check(inheriting(node, table, inherited), (EXPECTATIONS, *spec))) for table in listed]
        self.diagnostics.items[mark.position :] = _once(mark)
        rest = replace(node, entries=tuple(entry for entry in node.entries if entry.key in _COMMON_NAMES))
        return rest, tuple(tables), ()

    def table_path(self, path: Entry | None, entry: MapNode) -> str:
        """The table that an entry of `table_transform` is for."""
        if path is not None and isinstance(path.value, TextNode):
            return path.value.value
        help = 'table_path = "database.table"'
        self.diagnostics.error("PEN2005", "an entry of `table_transform` needs `table_path`", entry.place.span, help)
        return ""

    def sink_name(self, written: tuple[Reference, ...]) -> str | None:
        """The sink's own name, where the job gives one."""
        for reference in written[1:]:
            self.diagnostics.error(
                "PEN2011", f"a sink has one name, and `{reference.name}` is a second", reference.span
            )
        for only in written[:1]:
            if only.name.lower() in self.sink_names:
                self.diagnostics.error(
                    "PEN2006", f"two sinks are named `{only.name}`", only.span, "give each a name of its own"
                )
            self.sink_names.add(only.name.lower())
        return written[0].name if written else None

    def plugin(self, kind: BlockKind, node: MapNode) -> tuple[str, Place]:
        """The block's plugin and the location of its name."""
        named = node.entry("plugin_name")
        if named is not None and isinstance(named.value, TextNode):
            return named.value.value, named.value.place
        message = f"a block of `{kind.value}` without `plugin_name`"
        if named is not None:
            message = f"`plugin_name` is {kind_of(named.value)}, not a string"
        place = named.value.place if named else Place(node.place.source, node.place.start, node.place.start + 1)
        self.diagnostics.error("PEN2005", message, place.span, 'write `plugin_name = "…"`')
        return "", place

    def unknown_plugin(self, kind: BlockKind, name: str, place: Place) -> None:
        elsewhere = [other for other in BlockKind if other is not kind and _spec(other, name) is not None]
        if advice := counterpart(name, kind.value):
            help = advice
        elif elsewhere:
            help = f"`{name}` can be a {' or a '.join(other.value for other in elsewhere)}"
        else:
            known = {
                BlockKind.SOURCE: connectors.source_names,
                BlockKind.TRANSFORM: transform_names,
                BlockKind.SINK: connectors.sink_names,
            }
            help = did_you_mean(name, known[kind]()) or "`penstock connectors` lists what is installed"
        self.diagnostics.error("PEN2002", f"there is no {kind.value} `{name}`", place.span, help)


def _once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics without duplicates: several tables may inherit one invalid option."""
    return list(
        {(diagnostic.code, diagnostic.span, diagnostic.message): diagnostic for diagnostic in diagnostics}.values()
    )


def _cache(options: Options) -> Cache | None:
    text = options.optional_string("cache")
    return next((cache for cache in Cache if text and cache.value == text.lower()), None)


def _chain(options: Options) -> Chain:
    text = str(options.get("chain") or "").lower()
    return next((chain for chain in Chain if chain.value == text), Chain.ALWAYS)


def references(options: Options, name: str) -> tuple[Reference, ...]:
    """The names under `plugin_input` or `plugin_output`, with their locations."""
    values = options.strings(name)
    texts = [options.texts.get(f"{name}.{index}") for index in range(len(values))]
    return tuple(
        Reference(value, text.span() if text else options.span(name)) for value, text in zip(values, texts, strict=True)
    )


def _spec(kind: BlockKind, name: str) -> tuple[Option, ...] | None:
    match kind:
        case BlockKind.SOURCE:
            source = connectors.source(name)
            return source.source_options if source else None
        case BlockKind.TRANSFORM:
            found = transform(name)
            return found.options if found else None
        case BlockKind.SINK:
            sink = connectors.sink(name)
            return _offered(sink) if sink else None


def _completion(kind: BlockKind, name: str) -> Callable[[Options], Options]:
    """What completes the options of such a block by those that they imply."""
    plugin = {BlockKind.SOURCE: connectors.source, BlockKind.SINK: connectors.sink}.get(kind, lambda _: None)(name)
    return plugin.completed if plugin else lambda options: options


@cache
def _offered(sink: AnySink) -> tuple[Option, ...]:
    """The sink's options, which are the same for every block."""
    return sink.offered_options()


def _texts_of(entry: Entry | None) -> Iterator[object]:
    if entry is not None:
        yield from entry.value.items if isinstance(entry.value, ListNode) else (entry.value,)
