"""The flips of an Assert sink's rules: each is the rule's opposite, so that it must break where the rule holds.

Rules on rows and values are flipped all at once, since a run reports every broken rule at its place. Rules on types and
on the table are flipped one by one, since they are errors before the run.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import BINARY, BOOLEAN, DATE, STRING, TIMESTAMP, VOID, Array, DataType, Map, Struct, Time
from engine.job.hocon.comments import Comments
from engine.job.hocon.parse import parse
from engine.job.hocon.render import to_hocon
from engine.job.hocon.sections import resolve_job
from engine.job.load import read_file
from engine.job.model.tree import Entry, ListNode, MapNode, plain
from engine.migrating.draft import as_node

OPPOSITE = {"NOT_NULL": "NULL", "NULL": "NOT_NULL"}
IMPOSSIBLE = {
    "MIN_ROW": 10**9, "MAX_ROW": -1, "MIN": 1e300, "MAX": -1e300, "MIN_LENGTH": 10**6, "MAX_LENGTH": -1,
}  # fmt: skip
"""A bound that no value keeps."""

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Flip:
    """A value of the rules, the value that it gets, and the rule that must then be reported as broken."""

    steps: Steps
    value: object
    rule: str
    is_static: bool = False

    @property
    def table(self) -> Steps:
        """The table whose rule it is: tables are checked one after the other, and the first broken one ends the run."""
        return self.steps[:2] if self.steps[0] == "tables_configs" else ()


@dataclass(frozen=True)
class AssertBlock:
    """One Assert sink of a job: its number among the sinks, its rules, and the tables that it checks."""

    number: int
    rules: dict
    tables: tuple[CatalogTable, ...]

    def flips(self) -> Iterator[Flip]:
        if "table-names" in self.rules:
            yield Flip(("table-names",), ["no.such_table"], "rules.table-names", is_static=True)
        if "tables_configs" not in self.rules:
            yield from flips_of(self.rules, (), self.tables[0])
        for index, rules in enumerate(self.rules.get("tables_configs", ())):
            (table,) = (table for table in self.tables if str(table.path) == rules["table_path"])
            yield from flips_of(rules, ("tables_configs", index), table)


def flips_of(rules: Mapping, steps: Steps, table: CatalogTable) -> Iterator[Flip]:
    for index, rule in enumerate(rules.get("row_rules", ())):
        here = (*steps, "row_rules", index)
        yield Flip((*here, "rule_value"), IMPOSSIBLE[rule["rule_type"].upper()], dotted(here))
    for index, rule in enumerate(rules.get("field_rules", ())):
        yield from field_flips(rule, (*steps, "field_rules", index), table.column(rule["field_name"]).type)
    if "catalog_table_rule" in rules:
        for part, value in rules["catalog_table_rule"].items():
            here = (*steps, "catalog_table_rule", part)
            for inner, leaf in leaves(value):
                yield Flip((*here, *inner), flipped_fact(inner[-1], leaf), dotted(here), is_static=True)


def field_flips(rule: Mapping, here: Steps, type: DataType) -> Iterator[Flip]:
    wanted = rule.get("field_type")
    if wanted is not None and type != VOID and str(wanted).lower() != "null":
        other = "string" if type != STRING else "int"
        yield Flip((*here, "field_type"), other, dotted((*here, "field_type")), is_static=True)
    is_null = any(str(value.get("rule_type")).upper() == "NULL" for value in rule["field_value"])
    for index, value in enumerate(rule["field_value"]):
        at = (*here, "field_value", index)
        kind = str(value.get("rule_type") or "").upper()
        if kind in OPPOSITE:
            yield Flip((*at, "rule_type"), OPPOSITE[kind], dotted(at))
        elif kind:
            yield Flip((*at, "rule_value"), IMPOSSIBLE[kind], dotted(at))
        if value.get("equals_to") is not None and not is_null:  # NULL equals everything there
            yield Flip((*at, "equals_to"), other_value(value["equals_to"], type), dotted((*at, "equals_to")))


def other_value(value: object, type: DataType) -> object:
    """A value of the type that is not this one."""
    match type:
        case _ if value is None:
            return {} if isinstance(type, Map) else sample(type)
        case Array(element):
            items = list(value)
            return [other_value(items[0], element), *items[1:]] if items else [sample(element)]
        case Map(_, of):
            pairs = dict(value)
            key = next(iter(pairs), None)
            return {**pairs, key: other_value(pairs[key], of)} if pairs else {"1": sample(of)}
        case Struct(fields) if isinstance(value, Mapping):
            name = next(iter(value))
            (field,) = (field for field in fields if field.name.lower() == name.lower())
            return {**value, name: other_value(value[name], field.type)}
        case Struct(fields):
            return [*value[:-1], other_value(value[-1], fields[-1].type)]
    candidates = (sample(type), sample(type, second=True))
    return next(other for other in candidates if str(other).lower() != str(value).lower())


def sample(type: DataType, *, second: bool = False) -> object:
    texts = {STRING: "a|b", DATE: "1999-01-01|1999-01-02", BINARY: "AAAA|BBBB", BOOLEAN: "true|false",
             TIMESTAMP: "1999-01-01T00:00:00|1999-01-02T00:00:00"}  # fmt: skip
    match type:
        case Array() | Struct():
            return []
        case Map():
            return {}
        case Time():
            return "01:01:01" if second else "02:02:02"
    if type in texts:
        return texts[type].split("|")[second]
    return 1 if second else 0


def flipped_fact(key: str | int, value: object) -> object:
    """Another fact on a table: a name, a type, a length, or whether a column may be NULL."""
    if key == "type":
        return "int" if value == "string" else "string"
    if key == "constraint_key_sort_type":
        return "DESC" if str(value).upper() == "ASC" else "ASC"
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}_other"


def leaves(value: object, steps: Steps = ()) -> Iterator[tuple[Steps, object]]:
    if isinstance(value, Mapping) and "type" not in steps:
        for key, item in value.items():
            yield from leaves(item, (*steps, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*steps, index))
    else:
        yield steps, value


def dotted(steps: Steps) -> str:
    return ".".join(map(str, ("rules", *steps)))


def with_flips(rules: dict, flips: list[Flip]) -> dict:
    new = deepcopy(rules)
    for flip in flips:
        target = new
        for step in flip.steps[:-1]:
            target = target[step]
        target[flip.steps[-1]] = flip.value
    return new


def tree_of(path: Path) -> tuple[MapNode, Comments]:
    source = read_file(path, Diagnostics())
    return resolve_job(parse(source, Diagnostics()), Diagnostics(), compat=Compat.SEATUNNEL_2), Comments(source)


def sinks(tree: MapNode) -> tuple[MapNode, ...]:
    section = tree.get("sink")
    return section.items if isinstance(section, ListNode) else ()


def rules_of(sink: MapNode) -> dict | None:
    value = sink.get("rules")
    return plain(value) if sink.get("plugin_name").value.lower() == "assert" and value is not None else None


def flipped_job(path: Path, block: AssertBlock, flips: list[Flip], target: Path) -> Path:
    """The job with the rules of one sink flipped."""
    tree, comments = tree_of(path)
    new = []
    for number, sink in enumerate(sinks(tree)):
        if number == block.number:
            rules = as_node(with_flips(block.rules, flips), sink.place)
            entries = (e for e in sink.entries if e.key != "rules")
            new.append(MapNode((*entries, Entry("rules", sink.place, rules)), sink.place))
        else:
            new.append(sink)
    sink_section = ListNode(tuple(new), tree.place)
    entries = tuple(replace(e, value=sink_section) if e.key == "sink" else e for e in tree.entries)
    target.write_text(to_hocon(MapNode(entries, tree.place), comments))
    return target
