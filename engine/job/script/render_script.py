"""A job's tree as a SQL script, with the comments of the file that it was read from."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option
from catalog.quoting import quote
from engine.job.hocon.comments import Comments
from engine.job.hocon.render import flat
from engine.job.model.job import Block, BlockKind, ColumnMatch, Job
from engine.job.model.sink_names import free_name, sink_names
from engine.job.model.tree import Entry, ListNode, MapNode, Node, ScalarNode, TextNode, flatten, plain
from engine.job.model.wiring import Wiring, wire
from engine.job.options.column_match import MATCH_COLUMNS
from engine.job.script.with_options import sink_spec, source_spec, transform_spec
from sql.parsing.query_text import tables_named
from sql.rewrite.select_query import is_plain
from sql.rewrite.table_names import with_table_names

WIRES = ("plugin_name", "plugin_input", "plugin_output", "source_table_name", "result_table_name")
DUAL = "dual"
"""The name by which a query of a HOCON job may read its single input."""
TYPE = re.compile(r"[\w<>(),: ]+")


def to_sql(root: MapNode, job: Job, comments: Comments, diagnostics: Diagnostics) -> str:
    """The tree as the text of a SQL job file; what SQL cannot express is reported (PEN2015)."""
    return "\n".join(_Script(root, job, comments, diagnostics).statements()).rstrip() + "\n"


class _Script:
    """The tree, its blocks as they are wired, and the names that they have in the script."""

    def __init__(self, root: MapNode, job: Job, comments: Comments, diagnostics: Diagnostics) -> None:
        self.root, self.job, self.comments, self.diagnostics = root, job, comments, diagnostics
        self.wiring: Wiring = wire(job, Diagnostics())
        self.names: dict[Block, str] = {}
        self.taken = {output.name.lower() for block in job.blocks for output in (*block.outputs, *block.rejects)}
        self.sinks: dict[Block, str] = {}
        called = sink_names(job, self.wiring)
        self.quarantines = _quarantines(called, self.wiring)
        for block in job.blocks:
            if block.kind is BlockKind.SINK:
                is_quarantine = self.quarantines.get(called[block].lower()) is block
                self.sinks[block] = called[block] if is_quarantine else free_name(called[block], self.taken)
            else:
                self.names[block] = block.name if block.outputs else free_name(self.wanted(block), self.taken)

    def wanted(self, block: Block) -> str:
        """The name by which the query that reads an unnamed block calls it."""
        for reader, wires in self.wiring.inputs.items():
            query = reader.options.get("query")
            if [wire.producer for wire in wires] == [block] and isinstance(query, str):
                named = tables_named(query)
                if len(named) == 1 and named[0].lower() != DUAL:
                    return named[0]
        return block.plugin.lower()

    def statements(self) -> Iterator[str]:
        yield from (f"-- {line}".rstrip() for line in self.comments.header())
        yield from self.settings()
        for kind in BlockKind:
            section = self.root.get(kind.value)
            nodes = (
                [item for item in section.items if isinstance(item, MapNode)] if isinstance(section, ListNode) else []
            )
            for block, node in zip(self.job.of_kind(kind), nodes, strict=True):
                yield ""
                yield from (f"-- {line}".rstrip() for line in self.comments.above(_start(node)))
                yield from self.block(block, node)

    def settings(self) -> Iterator[str]:
        env = self.root.get("env")
        for entry in flat(env) if isinstance(env, MapNode) else ():
            yield from (f"-- {node}".rstrip() for node in self.comments.above(entry.key_place.start))
            if isinstance(entry.value, ListNode):
                yield f"/* config env {{ {entry.key} = {_json(entry.value)} }} */"
            else:
                yield f"SET {_literal(entry.key)} = {_literal(_text(entry.value))};"

    def block(self, block: Block, node: MapNode) -> Iterator[str]:
        match block.kind:
            case BlockKind.SOURCE:
                yield from self.source(block, node)
            case BlockKind.TRANSFORM:
                yield from self.transform(block, node)
            case BlockKind.SINK:
                yield from self.sink(block, node)

    def source(self, block: Block, node: MapNode) -> Iterator[str]:
        if len(block.outputs) > 1:
            self.cannot("a source with several outputs", block)
        schema = node.get("schema")
        columns = _columns(schema) if isinstance(schema, MapNode) else None
        rules = self.rules(node)
        parts = [*(columns or ()), *(rules or ())]
        left_out = {"schema"} if columns else set()
        left_out |= {"expectations"} if rules is not None else set()
        yield f"CREATE TABLE {_name(self.names[block])}" + _listed(parts)
        yield _with([("connector", block.plugin), *_options(node, source_spec(block.plugin), left_out)]) + ";"

    def transform(self, block: Block, node: MapNode) -> Iterator[str]:
        rules = self.rules(node)
        left_out = {"expectations"} if rules is not None else set()
        head = f"CREATE VIEW {_name(self.names[block])}" + _listed(rules or ())
        query = node.get("query")
        if block.plugin.lower() == "sql" and isinstance(query, TextNode):
            options = list(_options(node, transform_spec("Sql"), left_out | {"query"}))
            head += f"\n{_with(options)}" if options else ""
            yield f"{head} AS{_query(self.named_query(block, query))};"
        else:
            inputs = ", ".join(f'"{input}"' if re.search(r"[,\[\]]", input) else input for input in self.inputs(block))
            options = list(_options(node, transform_spec(block.plugin), left_out))
            yield head
            yield _with([("transform", block.plugin), ("input", inputs), *options]) + ";"

    def sink(self, block: Block, node: MapNode) -> Iterator[str]:
        name, rules = _name(self.sinks[block]), self.rules(node)
        left_out = {"expectations"} if rules is not None else set()
        partitions = _partitions(node)
        left_out |= {"partition_by", MATCH_COLUMNS.name} if partitions else {MATCH_COLUMNS.name}
        yield f"CREATE TABLE {name}" + _listed(rules or ()) + partitions
        yield _with([("connector", block.plugin), *_options(node, sink_spec(block.plugin), left_out)]) + ";"
        by_name = {input.name for input in block.inputs if input.match is ColumnMatch.NAME}
        for input in self.inputs(block):
            if input.lower() in self.quarantines:
                continue  # its block names this table
            yield f"INSERT INTO {name}{' BY NAME' if input in by_name else ''} SELECT * FROM {_name(input)};"

    def inputs(self, block: Block) -> list[str]:
        wires = self.wiring.inputs[block]
        return [self.names[wire.producer] if wire.output >= 0 and not wire.name else str(wire.name) for wire in wires]

    def named_query(self, block: Block, query: TextNode) -> str:
        """The query, reading its input by name; HOCON allows `dual` for a single one, and the name of a set's table."""
        inputs = self.inputs(block)
        if len({input.lower() for input in inputs}) != 1:
            return query.value
        for name in tables_named(query.value):
            if name.lower() not in (DUAL, inputs[0].lower()):
                help = f"name the input in the query: FROM {quote(inputs[0])} AS {quote(name)}"
                self.cannot(f"the name `{name}` for the input `{inputs[0]}`", block, help)
        is_dual = inputs[0].lower() != DUAL
        return with_table_names(query.text, {DUAL: inputs[0]}).value if is_dual else query.value

    def rules(self, node: MapNode) -> list[str] | None:
        """CONSTRAINT clauses; None if an expectation has no such form."""
        written = node.get("expectations")
        items = [plain(item) for item in written.items] if isinstance(written, ListNode) else []
        clauses: list[str] = []
        for value in items:
            if not isinstance(value, Mapping) or not {"name", "condition"} <= set(value) or "mostly" in value:
                return None
            into = f" INTO {_name(str(value['quarantine']))}" if value.get("quarantine") else ""
            if into and str(value["quarantine"]).lower() not in self.quarantines:
                return None
            action = f" ON VIOLATION {value['on_violation']}{into}" if value.get("on_violation") else ""
            clauses.append(f"CONSTRAINT {_name(str(value['name']))} EXPECT ({value['condition']}){action}")
        return clauses

    def cannot(self, what: str, block: Block, help: str | None = None) -> None:
        place = block.plugin_span or block.span
        self.diagnostics.error("PEN2015", f"a SQL job file cannot express {what}", place, help)


def _quarantines(called: Mapping[Block, str], wiring: Wiring) -> Mapping[str, Block]:
    """The sinks that alone read quarantined rows and have the name of these, in lower case: a block that quarantines
    rows into such a table needs no INSERT."""
    rejects = [
        (str(wire.name).lower(), block) for block, wires in wiring.inputs.items() for wire in wires if wire.output < 0
    ]
    readers = Counter(name for name, _ in rejects)
    return {name: block for name, block in rejects if called.get(block, "").lower() == name and readers[name] == 1}


def _start(node: MapNode) -> int:
    name = node.entry("plugin_name")
    return name.key_place.start if name else node.place.start


def _partitions(node: MapNode) -> str:
    written = node.get("partition_by")
    names = (
        [item.value for item in written.items if isinstance(item, TextNode)] if isinstance(written, ListNode) else []
    )
    return f"\nPARTITIONED BY ({', '.join(map(_name, names))})" if names else ""


def _options(node: MapNode, spec: Sequence[Option], left_out: set[str]) -> Iterator[tuple[str, str]]:
    names = {name for option in spec for name in (option.name, *option.alternatives)}
    for name, entry in flatten(node, {*names, "expectations", *WIRES}):
        if name not in WIRES and name not in left_out:
            yield name, _text(entry.value)


def _text(node: Node) -> str:
    match node:
        case ScalarNode(written=written):
            return written
        case TextNode():
            return node.value
        case _:
            return _json(node)


def _json(node: Node) -> str:
    return json.dumps(plain(node), ensure_ascii=False)


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _name(name: str) -> str:
    return name if is_plain(name) else quote(name)


def _with(options: Sequence[tuple[str, str]]) -> str:
    return "WITH (\n" + ",\n".join(f"  {_literal(key)} = {_literal(value)}" for key, value in options) + "\n)"


def _listed(parts: Sequence[str]) -> str:
    return " (\n  " + ",\n  ".join(parts) + "\n)" if parts else ""


def _query(query: str) -> str:
    return query.rstrip() if query.startswith("\n") else ("\n" if "\n" in query else " ") + query.rstrip()


def _columns(schema: MapNode) -> list[str] | None:
    """The columns of a `schema` block as SQL; None if it says more than SQL can."""
    keys = {entry.key for entry in schema.entries}
    fields, columns = schema.get("fields"), schema.get("columns")
    if keys == {"fields"} and isinstance(fields, MapNode):
        lines = [_field(entry) for entry in fields.entries]
    elif keys <= {"columns", "primaryKey"} and isinstance(columns, ListNode):
        lines = [_column(item) for item in columns.items]
        lines += [_primary_key(schema.get("primaryKey"))] if "primaryKey" in keys else []
    else:
        return None
    return None if any(line is None for line in lines) else [line for line in lines if line]


def _field(entry: Entry) -> str | None:
    if isinstance(entry.value, TextNode) and TYPE.fullmatch(entry.value.value):
        return f"{_name(entry.key)} {entry.value.value}"
    return None


def _column(node: Node) -> str | None:
    said = plain(node)
    if not isinstance(said, Mapping) or not set(said) <= {"name", "type", "nullable", "comment", "defaultValue"}:
        return None
    if not isinstance(said.get("type"), str) or not TYPE.fullmatch(str(said["type"])):
        return None
    line = f"{_name(str(said['name']))} {said['type']}" + ("" if said.get("nullable", True) else " NOT NULL")
    if "defaultValue" in said:
        value = said["defaultValue"]
        line += f" DEFAULT {_literal(value) if isinstance(value, str) else json.dumps(value)}"
    return line + (f" COMMENT {_literal(str(said['comment']))}" if "comment" in said else "")


def _primary_key(node: Node | None) -> str | None:
    said = plain(node) if node else None
    if not isinstance(said, Mapping) or not isinstance(said.get("columnNames"), list):
        return None
    names = said["columnNames"]
    listed = ", ".join(_name(str(name)) for name in names) if isinstance(names, list) else ""
    named = "" if said.get("name") in (None, "primary_key") else f"CONSTRAINT {_name(str(said['name']))} "
    return f"{named}PRIMARY KEY ({listed})"
