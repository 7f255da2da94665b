"""JSON Schema of job files, made from all specs, for completion and checks in editors.

It describes a JSON job file, and the tree that a HOCON file is read as: each section a list of blocks with
`plugin_name`. A text may stand for a number or a truth value, and a variable for any single value.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import connectors
from catalog.options import Option, OptionType, Value
from engine import transforms
from engine.job.load import COMMON, OF_SINKS
from engine.job.model.job import BlockKind
from engine.job.options.env import OPTIONS as ENV_OPTIONS
from engine.job.options.option_schema import DRAFT
from engine.job.options.table_options import OF_KIND, TABLE_TRANSFORM, TABLES_CONFIGS
from engine.job.script.with_options import sink_spec, source_spec, transform_spec

_Schema = dict[str, Value]

_VARIABLE: Final[_Schema] = {"type": "string", "pattern": r"\$\{"}

_WRITTEN: Final[Mapping[OptionType, _Schema]] = {
    OptionType.STRING: {"type": ["string", "number", "boolean"]},
    OptionType.INTEGER: {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^\s*[+-]?[0-9]+\s*$"}]},
    OptionType.NUMBER: {
        "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*$"}]
    },
    OptionType.BOOLEAN: {
        "anyOf": [
            {"type": "boolean"},
            {"enum": ["true", "false", "yes", "no", "on", "off"]},
            {"type": "string", "pattern": r"^\s*(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])\s*$"},
        ]
    },
    OptionType.LIST: {"type": ["array", "string", "number", "boolean", "object"]},
    OptionType.MAP: {"type": "object"},
    OptionType.ANY: {},
}


def job_schema() -> _Schema:
    """The schema of a whole job file."""
    return {
        "$schema": DRAFT,
        "title": "Penstock job",
        "type": "object",
        "properties": {
            "env": _block(ENV_OPTIONS, others={"^(spark|flink)(\\..*)?$": {}}),
            BlockKind.SOURCE.value: _section(connectors.source_names(), source_spec, BlockKind.SOURCE),
            BlockKind.TRANSFORM.value: _section(transforms.names(), transform_spec, BlockKind.TRANSFORM),
            BlockKind.SINK.value: _section(connectors.sink_names(), sink_spec, BlockKind.SINK),
        },
        "required": [BlockKind.SOURCE.value, BlockKind.SINK.value],
    }


def written_schema(option: Option) -> _Schema:
    """What may be written as a value of the option, before it is converted."""
    described: _Schema = {"description": option.doc}
    if option.default is not None and not option.sensitive:
        described["default"] = option.default
    forms: list[Value] = [_limited(option), {"type": "null"}]
    if option.type not in (OptionType.STRING, OptionType.ANY) or option.choices:
        forms.append(_VARIABLE)
    return described | {"anyOf": forms}


def _limited(option: Option) -> _Schema:
    if option.choices and option.type is OptionType.STRING:
        return {"anyOf": [{"enum": list(option.supported)}, {"type": "string", "pattern": _any_case(option.supported)}]}
    form = dict(_WRITTEN[option.type])
    if option.minimum is not None and option.type in (OptionType.INTEGER, OptionType.NUMBER):
        form["minimum"] = option.minimum
    if option.type is OptionType.LIST and option.element is not None:
        form["items"] = _WRITTEN[option.element]
    return form


def _section(names: Sequence[str], options_of: Callable[[str], Sequence[Option]], kind: BlockKind) -> _Schema:
    """A list of blocks; the plugin's name, in any case, decides which options a block has."""
    common = (*COMMON, *OF_KIND[kind], *(OF_SINKS if kind is BlockKind.SINK else ()))
    cases: list[Value] = [
        {
            "if": {"properties": {"plugin_name": {"type": "string", "pattern": _any_case([name], "[-_]?")}}},
            "then": _block((*common, *options_of(name))),
        }
        for name in names
    ]
    item: _Schema = {
        "type": "object",
        "properties": {"plugin_name": {"anyOf": [{"enum": list(names)}, {"pattern": _any_case(names, "[-_]?")}]}},
        "required": ["plugin_name"],
        "allOf": cases,
    }
    by_name: _Schema = {}
    for name in names:
        block = _block((*common, *options_of(name)))
        by_name[_any_case([name], "[-_]?")] = {"anyOf": [block, {"type": "array", "items": block}]}
    named: _Schema = {"type": "object", "patternProperties": by_name, "additionalProperties": False}
    return {"anyOf": [{"type": "array", "items": {"anyOf": [item, named]}}, named]}


def _block(spec: Sequence[Option], others: _Schema | None = None) -> _Schema:
    """A block: each option under each of its names, dotted ones (`row.num`) also as blocks in blocks."""
    tree: dict[str, Value] = {}
    for option in spec:
        for name in (option.name, *option.alternatives):
            tree[name] = written_schema(option)
            if option.sensitive:
                tree[f"{name}_file"] = {"type": "string", "description": f"A file that holds `{option.name}`."}
    properties = dict(tree)
    for name, schema in tree.items():
        _nest(properties, name.split("."), schema)
    lists = [option for option in spec if option in (TABLES_CONFIGS, TABLE_TRANSFORM)]
    entries = [_has(name) for option in lists for name in _spellings(option)]
    needed: list[Value] = [  # of a block with a list of tables, its entries may have them
        {"anyOf": [*(_has(name) for name in _spellings(required)), *entries]} for required in spec if required.required
    ]
    block: _Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if others:
        block["patternProperties"] = others
    return block | ({"allOf": needed} if needed else {})


def _nest(properties: dict[str, Value], steps: Sequence[str], schema: Value) -> None:
    """Adds `{row: {num: …}}` for the steps `row`, `num`; a name that is an option itself stays one."""
    if len(steps) < 2:
        properties.setdefault(steps[0], schema)
        return
    inner = properties.setdefault(steps[0], {"type": "object", "properties": {}, "additionalProperties": False})
    if isinstance(inner, dict) and isinstance(inner.get("properties"), dict):
        _nest(inner["properties"], steps[1:], schema)
        if len(steps) > 2:
            inner["properties"].setdefault(".".join(steps[1:]), schema)


def _has(name: str) -> _Schema:
    """The block has an option, written flat or as blocks in blocks."""
    first, _, rest = name.partition(".")
    flat: _Schema = {"required": [name]}
    return flat if not rest else {"anyOf": [flat, {"required": [first], "properties": {first: _has(rest)}}]}


def _spellings(option: Option) -> list[str]:
    names = [option.name, *option.alternatives]
    return names + [f"{name}_file" for name in names] if option.sensitive else names


def _any_case(names: Sequence[str], between: str = "") -> str:
    """A pattern of the names in any case (JSON Schema's expressions have no flag for that), `between` their letters."""
    patterns = ([f"[{c.lower()}{c.upper()}]" if c.isalpha() else re.escape(c) for c in name] for name in names)
    return f"^(?:{'|'.join(between.join(letters) for letters in patterns)})$"
