"""Reads `penstock.conf` for one environment: what others declare is not resolved, so their secrets are not needed."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, JobError, did_you_mean
from catalog.diagnostics.source import PlacedText, SourceFile, Span
from catalog.masks import MaskedVariables, Masks
from catalog.options import Option, Options, OptionType
from catalog.reach import is_outside
from engine.job.bounded import bounded
from engine.job.find import PROJECT_FILE
from engine.job.hocon.concatenation import merged
from engine.job.hocon.include import Includes
from engine.job.hocon.parse import parse
from engine.job.hocon.substitution import Resolver, resolve
from engine.job.hocon.syntax import HoconArray, HoconField, HoconObject
from engine.job.load import read_file
from engine.job.model.job import BlockKind
from engine.job.model.project_defaults import ProjectDefaults
from engine.job.model.settings import ReadText, read_text
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode, kind_of, plain
from engine.job.options.check_options import check_options
from engine.job.options.hidden_texts import hide_texts
from engine.job.options.variables import Variables, fill_in
from engine.job.root import STATE_DIRECTORY
from engine.project.project import FolderSettings, GroupSettings, Project
from engine.project.selection.parse_selection import Selection, parse_definition

_OF_ENVIRONMENT: Final = (
    Option("variables", OptionType.MAP, "Variables of the jobs: `${name}`."),
    Option("connections", OptionType.MAP, "Options under a name: a block with `connection = NAME` has them."),
    Option("defaults", OptionType.MAP, "Options of `env`, and of blocks by connector: `source { Jdbc { … } }`."),
    Option("spark", OptionType.MAP, "Settings of Spark, without their first part: `sql.shuffle.partitions = 8`."),
    Option("state_dir", OptionType.STRING, "Where runs are recorded (default: `.penstock/ENVIRONMENT`)."),
)
OF_PROJECT: Final = (
    Option("name", OptionType.STRING, "The project's name (default: that of its folder)."),
    Option("jobs", OptionType.LIST, "The folders of jobs.", element=OptionType.STRING),
    Option("environments", OptionType.MAP, "Environments, one of them with `default = true`."),
    Option("folders", OptionType.MAP, "`tags` and `owner` of the jobs below a folder."),
    Option("selectors", OptionType.MAP, "Selections under a name."),
    Option("groups", OptionType.MAP, "Groups of jobs that are committed as one."),
    *_OF_ENVIRONMENT,
)
OF_ENVIRONMENT: Final = (
    Option("default", OptionType.BOOLEAN, "Whether commands without `--env` use it.", default=False),
    *_OF_ENVIRONMENT,
)
_OF_GROUP: Final = (
    Option("select", OptionType.STRING, "Its jobs, as `--select` chooses them.", required=True),
    Option("publish", OptionType.STRING, "How its jobs commit: all, or none.", choices=("together",), required=True),
)
_OF_FOLDER: Final = (
    Option("tags", OptionType.LIST, "Tags of its jobs.", element=OptionType.STRING),
    Option("owner", OptionType.STRING, "Who is responsible for its jobs."),
)


def read_project(
    root: Path,
    environment: str | None = None,
    given: Mapping[str, str] | None = None,
    read: ReadText = read_text,
    masks: Masks | None = None,
    *,
    allows_outside: bool = False,
    limits_process: bool = False,
) -> Project:
    """The project whose `penstock.conf` is in `root`. `given`: variables of the command line, which win over its own.
    `read`: gives the text of the file. `masks`: of the session, to which secrets of the environment are added.
    Includes stay in the project, unless it `allows_outside`. `limits_process`: time and memory are limited.

    Raises a `JobError` with all errors of the file.
    """
    with bounded(root / PROJECT_FILE, allows_outside=allows_outside, is_run=False, limits_process=limits_process):
        return _read_project(root, environment, given or {}, read, masks or Masks())


def _read_project(
    root: Path, environment: str | None, given: Mapping[str, str], read: ReadText, masks: Masks
) -> Project:
    diagnostics = Diagnostics()
    source = read_file(root / PROJECT_FILE, diagnostics, read)
    if source is None:
        raise JobError(diagnostics)
    known = MaskedVariables(os.environ, masks)
    syntax = parse(source, diagnostics, Includes(source.path, variables=known))
    if isinstance(syntax, HoconArray):
        diagnostics.error("PEN1002", f"`{PROJECT_FILE}` is a block of settings, not a list", syntax.place.span)
        raise JobError(diagnostics)
    names = tuple(dict.fromkeys(field.key for field in _environments(syntax)))
    chosen = _chosen(syntax, names, environment, diagnostics)
    reader = _Reader(root, source, names, chosen, given=given, known=known, diagnostics=diagnostics)
    project = reader.project(_pruned(syntax, chosen))
    diagnostics.raise_errors()
    return project


def _environments(syntax: HoconObject) -> Iterator[HoconField]:
    for field in syntax.fields:
        if field.key == "environments" and isinstance(field.value, HoconObject):
            yield from field.value.fields


def _chosen(
    syntax: HoconObject, names: tuple[str, ...], environment: str | None, diagnostics: Diagnostics
) -> str | None:
    """The environment of the command, else the default one; None where the project declares none."""
    if environment is not None:
        if environment not in names:
            help = (
                did_you_mean(environment, names) or f"add `environments {{ {environment} {{ … }} }}` to {PROJECT_FILE}"
            )
            diagnostics.error("PEN2704", f"there is no environment `{environment}`", None, help)
            raise JobError(diagnostics)
        return environment
    defaults = [name for name in names if _is_default(syntax, name)]
    if len(defaults) == 1 or len(names) <= 1:
        return next(iter(defaults or names), None)
    place = next(field.key_place.span for field in _environments(syntax) if not defaults or field.key == defaults[1])
    if defaults:
        listed = " and ".join(f"`{name}`" for name in defaults)
        diagnostics.error("PEN2704", f"{listed} are both the default environment", place, "leave it to one of them")
    else:
        diagnostics.error("PEN2704", "no environment is the default", place, "give one `default = true`, or `--env`")
    raise JobError(diagnostics)


def _is_default(syntax: HoconObject, name: str) -> bool:
    flags = [
        inner.value
        for field in _environments(syntax)
        if field.key == name and isinstance(field.value, HoconObject)
        for inner in field.value.fields
        if inner.key == "default"
    ]
    return bool(flags) and isinstance(flags[-1], ScalarNode) and flags[-1].value is True


def _pruned(syntax: HoconObject, chosen: str | None) -> HoconObject:
    """The file without the other environments."""
    fields = []
    for field in syntax.fields:
        if field.key == "environments" and isinstance(field.value, HoconObject):
            kept = [inner for inner in field.value.fields if inner.key == chosen]
            fields.append(replace(field, value=HoconObject(kept, field.value.place)))
        else:
            fields.append(field)
    return HoconObject(fields, syntax.place)


class _Reader:
    """Reads the settings of one file for the environment `chosen`."""

    def __init__(
        self,
        root: Path,
        source: SourceFile,
        names: tuple[str, ...],
        chosen: str | None,
        *,
        given: Mapping[str, str],
        known: MaskedVariables,
        diagnostics: Diagnostics,
    ) -> None:
        self.root = root
        self.source = source
        self.names = names
        self.chosen = chosen
        self.given = given
        self.known = known
        self.diagnostics = diagnostics

    def project(self, syntax: HoconObject) -> Project:
        variables = self.variables(syntax)
        node = resolve(syntax, self.diagnostics, {**variables, **self.given}, self.known)
        known = Variables({**variables, **self.given}, self.known)
        node = fill_in(node, known, self.diagnostics)
        assert isinstance(node, MapNode)
        hide_texts(node, self.known.masks)
        options = check_options(node, OF_PROJECT, self.diagnostics, owner=f"`{PROJECT_FILE}`")
        own = self.environment(node)
        return Project(
            self.root,
            self.source,
            options.optional_string("name") or self.root.resolve().name,
            self.job_folders(options),
            ProjectDefaults(
                variables,
                self.env(node, own),
                self.connections(node, own),
                self.blocks(node, own),
                self.chosen,
            ),
            self.state_dir(node, own),
            self.chosen,
            self.names,
            self.folders(node),
            self.selectors(node),
            self.groups(node),
        )

    def variables(self, syntax: HoconObject) -> Mapping[str, str]:
        """The variables of the project and of the environment; each may use those of the command line and of above."""
        found: dict[str, str] = {}
        for path in (("variables",), ("environments", self.chosen or "", "variables")):
            resolver = Resolver(syntax, Diagnostics(), {**found, **self.given}, self.known, Compat.OFF)
            node = resolver.at(syntax.fields, path, ())
            for entry in node.entries if isinstance(node, MapNode) else ():
                value = fill_in(entry.value, Variables({**found, **self.given}, self.known), Diagnostics())
                match value:
                    case TextNode():
                        found[entry.key] = value.value
                    case ScalarNode():
                        found[entry.key] = value.written
                    case _:
                        message = f"the variable `{entry.key}` is {kind_of(value)}, not a text"
                        self.diagnostics.error("PEN2703", message, entry.key_place.span)
        return found

    def environment(self, node: MapNode) -> MapNode:
        """The block of the chosen environment, checked."""
        entry = next(iter(self.maps(node, "environments")), None)
        if entry is None or not isinstance(entry.value, MapNode):
            return MapNode((), node.place)
        check_options(entry.value, OF_ENVIRONMENT, self.diagnostics, owner=f"the environment `{entry.key}`")
        return entry.value

    def maps(self, node: MapNode, name: str) -> Iterator[Entry]:
        """The entries of a map of maps; one that is no map is an error."""
        for entry in _entries(node, name):
            if isinstance(entry.value, MapNode):
                yield entry
            else:
                message = f"`{name}.{entry.key}` is {kind_of(entry.value)}, not a block"
                self.diagnostics.error("PEN2703", message, entry.key_place.span, f"write `{entry.key} {{ … }}`")

    def job_folders(self, options: Options) -> tuple[str, ...]:
        folders = options.strings("jobs")
        if not folders:
            return ("jobs",) if (self.root / "jobs").is_dir() else (".",)
        for folder in folders:
            if not (self.root / folder).is_dir():
                message = f"the job folder `{folder}` is not in the project"
                self.diagnostics.error("PEN2703", message, options.span("jobs"), f"make it in `{self.root}`")
            elif is_outside(self.root / folder, is_data=False):
                message = f"the job folder `{folder}` is outside of the project, and is not read"
                help = "move its jobs into the project; `--allow-outside` reads them all the same"
                self.diagnostics.error("PEN1602", message, options.span("jobs"), help)
        return tuple(folder.rstrip("/") for folder in folders)

    def env(self, node: MapNode, own: MapNode) -> MapNode | None:
        """What the jobs' `env` gets: the defaults, Spark's settings, and the state directory."""
        result = MapNode((), node.place)
        for part in (node, own):
            for entry in _entries(part, "defaults"):
                if entry.key == "env" and isinstance(entry.value, MapNode):
                    result = merged(result, entry.value)
            if (spark := _own_entry(part, "spark")) is not None:
                result = merged(result, MapNode((spark,), part.place))
        if own.entries or self.names or _own_entry(node, "state_dir") is not None:
            result = merged(result, MapNode((self.state_entry(node, own),), node.place))
        return result if result.entries else None

    def state_entry(self, node: MapNode, own: MapNode) -> Entry:
        place = Place(self.source, 0, 0)
        return Entry("state_dir", place, TextNode(PlacedText.bare(self.state_dir(node, own)), place))

    def state_dir(self, node: MapNode, own: MapNode) -> str:
        """The environment's, else the project's with the name of the environment."""
        written = own.get("state_dir")
        if isinstance(written, TextNode):
            return written.value
        above = node.get("state_dir")
        base = above.value if isinstance(above, TextNode) else os.environ.get("PENSTOCK_STATE_DIR") or STATE_DIRECTORY
        return f"{base}/{self.chosen}" if self.chosen else base

    def connections(self, node: MapNode, own: MapNode) -> Mapping[str, MapNode]:
        found: dict[str, MapNode] = {}
        for entry in (*self.maps(node, "connections"), *self.maps(own, "connections")):
            assert isinstance(entry.value, MapNode)
            value = MapNode(tuple(self.at_root(option) for option in entry.value.entries), entry.value.place)
            found[entry.key] = merged(found[entry.key], value) if entry.key in found else value
        return found

    def at_root(self, entry: Entry) -> Entry:
        """A file of a secret, `password_file`, is relative to the root here."""
        if not (entry.key.endswith("_file") and isinstance(entry.value, TextNode)):
            return entry
        path = os.path.join(self.root.resolve(), entry.value.value)
        return replace(entry, value=replace(entry.value, text=PlacedText.bare(path)))

    def blocks(self, node: MapNode, own: MapNode) -> Mapping[tuple[BlockKind, str], MapNode]:
        found: dict[tuple[BlockKind, str], MapNode] = {}
        kinds = {BlockKind.SOURCE.value: BlockKind.SOURCE, BlockKind.SINK.value: BlockKind.SINK}
        for section in (*self.maps(node, "defaults"), *self.maps(own, "defaults")):
            kind = kinds.get(section.key)
            if kind is None:
                if section.key != "env":
                    help = did_you_mean(section.key, ("env", *kinds))
                    message = f"`defaults` has no `{section.key}`"
                    self.diagnostics.error("PEN2703", message, section.key_place.span, help)
                continue
            assert isinstance(section.value, MapNode)
            for entry in section.value.entries:
                if isinstance(entry.value, MapNode):
                    key = (kind, entry.key.lower())
                    found[key] = merged(found[key], entry.value) if key in found else entry.value
        return found

    def folders(self, node: MapNode) -> Mapping[str, FolderSettings]:
        found = {}
        for entry in self.maps(node, "folders"):
            assert isinstance(entry.value, MapNode)
            options = check_options(entry.value, _OF_FOLDER, self.diagnostics, owner=f"the folder `{entry.key}`")
            if not (self.root / entry.key).is_dir():
                message = f"the folder `{entry.key}` is not in the project"
                self.diagnostics.error("PEN2703", message, entry.key_place.span, f"make it in `{self.root}`")
            found[entry.key.rstrip("/")] = FolderSettings(options.strings("tags"), options.optional_string("owner"))
        return found

    def selectors(self, node: MapNode) -> Mapping[str, Selection]:
        found = {}
        for entry in _entries(node, "selectors"):
            try:
                found[entry.key] = parse_definition(plain(entry.value), _span(entry.value))
            except JobError as error:
                self.diagnostics.extend(error.diagnostics)
        return found

    def groups(self, node: MapNode) -> Mapping[str, GroupSettings]:
        found = {}
        for entry in self.maps(node, "groups"):
            assert isinstance(entry.value, MapNode)
            options = check_options(entry.value, _OF_GROUP, self.diagnostics, owner=f"the group `{entry.key}`")
            if not options.is_valid:
                continue
            span = options.span("select") or entry.key_place.span
            try:
                selection = parse_definition(options.string("select"), span)
                found[entry.key] = GroupSettings(selection, span)
            except JobError as error:
                self.diagnostics.extend(error.diagnostics)
        return found


def _entries(node: MapNode, name: str) -> Iterable[Entry]:
    entry = _own_entry(node, name)
    return entry.value.entries if entry is not None and isinstance(entry.value, MapNode) else ()


def _own_entry(node: MapNode, name: str) -> Entry | None:
    return next((entry for entry in node.entries if entry.key == name), None)


def _span(node: Node) -> Span:
    match node:
        case TextNode() | ListNode() | MapNode() | ScalarNode():
            return node.place.span
