"""Checks a block of a job file against the option spec of its connector or transform."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean, nearest
from catalog.diagnostics.source import PlacedText, Span
from catalog.options import Option, Options, OptionType, Value
from catalog.secret_names import is_secret_name
from connectors.interface.schema_option import SCHEMA_EXAMPLE, SCHEMA_OPTION
from engine.job.compat.foreign_words import foreign_option, meant_value
from engine.job.compat.unsupported import Unsupported
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode, flatten, kind_of
from engine.job.options.node_values import converted, nodes, parts_of, written
from engine.job.options.option_schema import conforms, violations
from engine.job.options.secret_options import Secrets

_STAND_INS: Final[dict[OptionType, Value]] = {
    OptionType.STRING: "",
    OptionType.INTEGER: 0,
    OptionType.NUMBER: 0.0,
    OptionType.BOOLEAN: False,
    OptionType.LIST: [],
    OptionType.MAP: {},
    OptionType.ANY: None,
}
"""Placeholders for missing or invalid required values, so that options always have the types of their spec."""


def check_options(
    block: MapNode,
    spec: Sequence[Option],
    diagnostics: Diagnostics,
    *,
    owner: str,
    at: Span | None = None,
    secrets: Secrets | None = None,
    compat: Compat = Compat.OFF,
    unsupported: Mapping[str, Unsupported] | None = None,
) -> Options:
    """The block's options; its errors go to `diagnostics`.

    `owner` names the plugin in messages; `at` is where a missing option is reported (default: the block). Under
    `compat`, an unknown option is only a warning, and an optional one with an empty text is as if not written.
    Without `secrets`, secret files and ciphers are not read.
    `unsupported`: options that are reported with their reason.
    """
    by_name = {name: option for option in spec for name in (option.name, *option.alternatives)}
    check = _Check(block, spec, by_name, owner, at or block.place.span, secrets or Secrets(), compat, unsupported or {})
    options = check.options()
    diagnostics.extend(check.diagnostics)
    return options


@dataclass(slots=True)
class _Check:
    """Checks one block; `by_name`: options by every spelling, `written_as`: the spelling that was used."""

    block: MapNode
    spec: Sequence[Option]
    by_name: Mapping[str, Option]
    owner: str
    at: Span
    secrets: Secrets
    compat: Compat
    unsupported: Mapping[str, Unsupported]
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    values: dict[str, Value] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    key_places: dict[str, Place] = field(default_factory=dict)
    texts: dict[str, PlacedText] = field(default_factory=dict)
    written_as: dict[str, str] = field(default_factory=dict)
    unknown: list[tuple[str, Entry]] = field(default_factory=list)
    is_sound: bool = True

    def options(self) -> Options:
        files = {f"{name}_file": option for name, option in self.by_name.items() if option.sensitive}
        for name, entry in flatten(self.block, {*self.by_name, *files, *self.unsupported}):
            self.take(name, entry, files)
        for name, entry in self.unknown:
            self.report_unknown(name, entry)
        for option in self.spec:
            if option.name not in self.values:
                self.complete(option)
        sensitive = frozenset(option.name for option in self.spec if option.sensitive)
        return Options(
            self.values, self.block.place.span, _Spans(self.places), self.texts, sensitive, self.is_sound,
            _Spans(self.key_places),
        )  # fmt: skip

    def take(self, name: str, entry: Entry, files: Mapping[str, Option]) -> None:
        is_file = name in files and name not in self.by_name
        option = files[name] if is_file else self.by_name.get(name)
        if option is None:
            self.unknown.append((name, entry))
        elif option.name in self.written_as:
            other = self.written_as[option.name]
            message = f"`{name}` and `{other}` are one option" if name != other else f"`{name}` is given twice"
            report = self.diagnostics.warning if self.compat.is_seatunnel else self.diagnostics.error
            report("PEN2011", message, entry.key_place.span, "leave one of them out")
        elif not is_null(entry.value) and not (self.compat.is_seatunnel and is_unset(option, entry.value)):
            self.written_as[option.name] = name
            if is_file:
                self.read_file(name, option, entry.value)
            else:
                self.read(name, option, entry.value)

    def report_unknown(self, name: str, entry: Entry) -> None:
        """Report an unknown option, then treat it as the nearest known one, so that errors in its value
        are reported too."""
        known = self.unsupported.get(name)
        if known is not None:
            self.report_unsupported(name, known, entry)
            return
        report = self.diagnostics.warning if self.compat.is_seatunnel else self.diagnostics.error
        report(
            "PEN2003", f"{self.owner} has no option `{name}`", entry.key_place.span,
            foreign_option(name, self.by_name) or did_you_mean(name, self.by_name),
        )  # fmt: skip
        meant = nearest(name, self.by_name)
        if meant is None or self.compat.is_seatunnel:
            return
        option = self.by_name[meant]
        if option.name not in self.written_as and conforms(converted(entry.value, option), option):
            self.written_as[option.name] = name
            self.read(name, option, entry.value)

    def report_unsupported(self, name: str, known: Unsupported, entry: Entry) -> None:
        """An error, since the job would have other rows; under the flag, not where the option changes nothing."""
        if self.compat.is_seatunnel and changes_nothing(known, entry.value):
            return
        is_warning = self.compat.is_seatunnel and known.is_ignored
        report = self.diagnostics.warning if is_warning else self.diagnostics.error
        report("PEN2003", f"{self.owner} does not support `{name}`", entry.key_place.span, known.reason)

    def read(self, name: str, option: Option, node: Node) -> None:
        is_leaf = isinstance(node, TextNode | ScalarNode)  # as most values are
        parts = ((option.name, node),) if is_leaf else tuple(nodes(option.name, node))
        located = [self.locate(path, part, option) for path, part in parts]  # each, also behind one without a value
        if not all(located):
            self.is_sound = False
            if option.type is not OptionType.STRING:
                return
        masks = self.secrets.masks
        for path, inner in parts:
            text = written(inner)
            if is_named_so := _is_secret(option, path.removeprefix(option.name)):
                masks.add(text)
            if is_named_so or (text and masks.text(text) != text):
                masks.hide(inner.place.source, inner.place.start, inner.place.end)
                masks.add_parts(text or "")
        value = converted(node, option)
        if conforms(value, option):
            mark = self.diagnostics.mark()
            opened = self.secrets.opened(value, option, node.place.span, self.diagnostics)
            self.values[option.name] = opened
            if _is_secret(option, ""):
                masks.add(opened)
            self.is_sound &= not mark.has_errors
            return
        for below, why in violations(value, replace(option, choices=option.supported)):
            span = self.places.get(option.name + below, node.place).span
            text = written(node) or ""
            # the nearest one only, since the message names all of them
            meant = meant_value(text, option.supported) or nearest(text, option.supported)
            help = f"did you mean `{meant}`?" if meant and "`" in why and not _is_secret(option, below) else None
            if option is SCHEMA_OPTION and not below:
                help = SCHEMA_EXAMPLE
            self.diagnostics.error(
                "PEN2004", f"`{name}{below}` {why}, found {self.shown(option, below, node)}", span, help
            )
        if option.type is OptionType.STRING and (meant := nearest(written(node) or "", option.supported)):
            self.values[option.name] = meant

    def locate(self, path: str, part: Node, option: Option) -> bool:
        """Record where a part of a value is; False if it is a text with an undefined variable."""
        self.places[path] = part.place
        if isinstance(part, TextNode) and (why := unfit_text(part.value, option.name)):
            self.diagnostics.error("PEN2004", f"`{path}` has {why}", part.place.span, "remove it")
            return False
        if isinstance(part, TextNode):
            if option.type is OptionType.LIST and path == option.name:
                self.texts |= ((f"{path}.{index}", item.text) for index, item in enumerate(parts_of(part)))
            else:
                self.texts[path] = part.text
            return part.is_resolved
        if isinstance(part, MapNode):
            self.key_places |= ((f"{path}.{entry.key}", entry.key_place) for entry in part.entries)
        return True

    def shown(self, option: Option, below: str, node: Node) -> str:
        """The value as the user wrote it, or only its kind if it is long or sensitive."""
        at = next((inner for path, inner in nodes("", node) if path == below), node)
        text = written(at)
        return kind_of(at) if _is_secret(option, below) or text is None or len(text) > 40 else f"`{text}`"

    def read_file(self, name: str, option: Option, node: Node) -> None:
        self.places[option.name] = node.place
        if isinstance(node, TextNode):
            self.values[option.name] = self.secrets.from_file(node, self.diagnostics)
            self.secrets.masks.add(self.values[option.name])
        else:
            self.diagnostics.error("PEN2004", f"`{name}` must be a file's name, found {kind_of(node)}", node.place.span)

    def complete(self, option: Option) -> None:
        """Give options without a value their default, and report missing required ones.

        The default also replaces an invalid value, so that the rest of the job can be checked.
        """
        if option.required or (option.name in self.written_as and option.default is None):
            self.is_sound = False
        if option.required and option.name not in self.written_as:
            also = f" (or `{option.name}_file`)" if option.sensitive else ""
            help = f"{option.name} = …{also}: {option.doc}"
            self.diagnostics.error("PEN2005", f"{self.owner} needs the option `{option.name}`", self.at, help)
        self.values[option.name] = _STAND_INS[option.type] if option.required else option.default


class _Spans(Mapping[str, Span]):
    """The spans of places, found when they are asked for: most are those of columns, which nobody asks for."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Span:
        return self._places[name].span

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


_OF_SYSTEMS: Final = re.compile(
    r"(?:^|[._-])(?:path|table|database|schema|warehouse|namespace|bucket|host|topic|url|uri|servers?|file|folder|dir"
    r"|defaultFS|index|collection|key|node|endpoint|location|account|container|region|catalog|user|username|name)s?$"
)


def unfit_text(text: str, option: str) -> str | None:
    """What no file system, database or encoder takes in a text, or in one that names something there."""
    if not text.isascii() and _HALVES.search(text):
        return "half of a character"
    return "a NUL character" if "\x00" in text and _OF_SYSTEMS.search(option) else None


_HALVES: Final = re.compile(r"[\ud800-\udfff]")


def is_null(node: Node) -> bool:
    """Whether the value is null, which means that the option is not written."""
    return isinstance(node, ScalarNode) and node.value is None


def is_unset(option: Option, node: Node) -> bool:
    """Whether the value is what SeaTunnel's web interface writes for an optional text or list that is not set."""
    if option.default is not None or option.required or option.sensitive:
        return False
    is_empty = isinstance(node, TextNode) and not written(node)
    if option.type is OptionType.LIST:
        return is_empty or (isinstance(node, MapNode) and not node.entries)
    return option.type is OptionType.STRING and is_empty


def changes_nothing(known: Unsupported, node: Node) -> bool:
    """Whether an unsupported option has no effect with this value: its default, or nothing, as SeaTunnel's web
    interface writes options that are not set."""
    match node:
        case ListNode(items):
            return not items
        case MapNode(entries):
            return not entries
        case _:
            return not written(node) or known.allows(written(node))


def _is_secret(option: Option, below: str) -> bool:
    """Whether the value at `below`, a dotted path within the option's value, must not be shown."""
    return option.sensitive or is_secret_name(option.name + below)
