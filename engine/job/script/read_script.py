"""Reads a SQL job file into the tree of an equivalent HOCON file, with locations in the script.

CREATE TABLE … WITH ('connector' = 'X') that a query reads   source { X { … } }
CREATE TABLE … WITH ('connector' = 'X') that rows go into    sink { X { … } }
CREATE VIEW v AS query, CREATE TABLE v AS query              transform { Sql { … } }
CREATE VIEW v WITH ('transform' = 'X', 'input' = 'a')        transform { X { … } }
'quarantine' = 'bad' of a view                               an input of the sink `bad`, else an output for queries
INSERT INTO t SELECT * FROM v                                v is an input of the sink
INSERT INTO t query                                          transform { Sql { … } } before the sink
SET, /* config env { … } */                                  env { … }
"""

from collections.abc import Iterable, Iterator, Sequence, Set

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText
from engine.job.model.sink_names import free_name
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place
from engine.job.script.env_statements import env_tree
from engine.job.script.quarantine_options import with_outputs
from engine.job.script.query_blocks import inserted, names_in, renamed, whole_table
from engine.job.script.table_blocks import (
    check_role,
    connector_of,
    declared_entries,
    is_role,
    match_entries,
    sink_entries,
    source_entries,
)
from engine.job.script.table_names import ScriptName, ScriptNames
from engine.job.script.tree_nodes import entry, generated, list_node, map_node, text_node
from engine.job.script.with_options import option_entries, transform_spec
from sql.script.split_statements import read_script
from sql.script.statements import CreateTable, CreateView, ExpectDefinition, Insert, Statement

SECTIONS = ("source", "transform", "sink")


def script_tree(text: PlacedText, diagnostics: Diagnostics) -> MapNode:
    """The tree of a script; errors go to `diagnostics`."""
    refused: set[str] = set()
    statements = read_script(text, diagnostics, refused)
    script = _Script(statements, diagnostics, refused)
    whole = Place(text.source, 0, len(text.source.text))
    sections = (Entry(name, whole, ListNode(tuple(script.blocks[name]), whole)) for name in SECTIONS)
    return MapNode((Entry("env", whole, env_tree(statements, whole, diagnostics)), *sections), whole)


class _Script:
    """Builds blocks from statements."""

    def __init__(self, statements: Sequence[Statement], diagnostics: Diagnostics, refused: Set[str]) -> None:
        self.diagnostics = diagnostics
        self.relations = ScriptNames(statements, diagnostics, refused)
        self.blocks: dict[str, list[MapNode]] = {name: [] for name in SECTIONS}
        self.reject_names: dict[tuple[str, CreateTable | CreateView], PlacedText] = {}
        self.outputs = {
            name for name, declared in self.relations.by_name.items() if not declared.is_written or declared.is_read
        } | set(self.relations.quarantines)
        for relation in self.relations.by_name.values():
            self.add(relation)

    def add(self, relation: ScriptName) -> None:
        statement = relation.statement
        if isinstance(statement, CreateView):
            self.add_view(statement)
        elif relation.is_table:
            self.add_table(relation, statement)
        elif statement.query is not None:
            self.add_query(statement.name, statement.query, statement.text, self.expectations(statement))
        else:
            name = statement.name
            message = f"the table `{name.value}` has neither a connector nor a query"
            self.diagnostics.error("PEN2005", message, name.span(), "add WITH ('connector' = '…'), or AS and a query")

    def add_view(self, view: CreateView) -> None:
        if view.query is None:
            self.add_transform(view)
        else:
            query = renamed(view.query, view.columns, view.name)
            options = option_entries(transform_spec("Sql"), view.properties, self.diagnostics)
            options = self.quarantining(options, view)
            self.add_query(view.name, query, view.text, [*options, *self.expectations(view)], reads=view.query)

    def add_query(
        self,
        name: PlacedText,
        query: PlacedText,
        statement: PlacedText,
        more: Iterable[Entry] = (),
        reads: PlacedText | None = None,
    ) -> None:
        """A `Sql` block; its inputs are the names of the script that the query reads."""
        plugin = text_node(PlacedText("Sql", name.source, name.segments))
        known = self.relations.reads[reads or query]
        inputs = [text_node(PlacedText(input, query.source, query.segments)) for input in known]
        self.put("transform", statement, [
            entry("plugin_name", plugin), entry("plugin_input", list_node(inputs, query)),
            entry("plugin_output", text_node(name)), entry("query", text_node(query)), *more,
        ])  # fmt: skip

    def add_transform(self, view: CreateView) -> None:
        written = {property.key.value.lower(): property for property in view.properties}
        plugin = written.pop("transform", None)
        if plugin is None:
            help = "write AS and a query, or WITH ('transform' = '…', 'input' = '…')"
            self.diagnostics.error("PEN3001", f"the view `{view.name.value}` has no query", view.name.span(), help)
            return
        inputs = written.pop("input", None)
        rest = [property for property in view.properties if property is not plugin and property is not inputs]
        names = names_in(inputs.value) if inputs else ()
        self.put("transform", view.text, [
            entry("plugin_name", text_node(plugin.value)),
            *([entry("plugin_input", list_node(map(text_node, names), inputs.value))] if inputs else []),
            entry("plugin_output", text_node(view.name)),
            *self.quarantining(option_entries(transform_spec(plugin.value.value), rest, self.diagnostics), view),
            *self.expectations(view),
        ])  # fmt: skip

    def add_table(self, relation: ScriptName, table: CreateTable) -> None:
        connector = connector_of(table, self.diagnostics)
        if connector is None:
            return
        check_role(relation, table, self.diagnostics)
        if is_role(relation, "source"):
            self.put("source", table.text, [
                entry("plugin_name", text_node(connector)), entry("plugin_output", text_node(table.name)),
                *self.quarantining(source_entries(relation, table, self.diagnostics), table),
                *(() if relation.is_written else self.expectations(table)),
            ])  # fmt: skip
        if is_role(relation, "sink"):
            inputs = self.inputs_of(relation, table)
            self.put("sink", table.text, [
                entry("plugin_name", text_node(connector)), entry("plugin_input", list_node(inputs, table.name)),
                entry("plugin_output", text_node(table.name)), *match_entries(relation, table),
                *self.quarantining(sink_entries(relation, table, self.diagnostics), table),
                *self.expectations(table),
            ])  # fmt: skip

    def inputs_of(self, relation: ScriptName, table: CreateTable) -> list[Node]:
        """The inputs of a table: its own query, its INSERTs, and rows quarantined into it."""
        inputs: list[Node] = []
        if table.query is not None:
            name = self.free_name(table.name, "_rows")
            self.add_query(name, table.query, table.text)
            inputs.append(text_node(name))
        for insert in relation.inserts:
            source = self.relations.defined_name(whole_table(insert.query) or "")
            if source is not None and not insert.columns and not table.columns:
                inputs.append(text_node(generated(source, insert.query)))
                continue
            self.refuse_nameless(table, insert.query)
            mark = self.diagnostics.mark()
            self.refuse_listed_columns(table, insert)
            name = self.free_name(insert.target, "_rows")
            query = inserted(insert, table.columns)
            declared = () if mark.has_errors else declared_entries(table, insert)
            self.add_query(name, query, insert.text, declared, reads=insert.query)
            inputs.append(text_node(generated(name.value, insert.query)))
        inputs.extend(text_node(self.reject_output(relation, statement)) for statement in relation.rejects)
        return inputs

    def refuse_listed_columns(self, table: CreateTable, insert: Insert) -> None:
        """Report columns of an INSERT's list that the table does not declare, and those that it must not leave out."""
        declared = [column.name.value for column in table.columns]
        known = {name.lower() for name in declared}
        for name in insert.columns if declared else ():
            if name.value.lower() not in known:
                message = f"`{table.name.value}` declares no column `{name.value}`"
                self.diagnostics.error("PEN3004", message, name.span(), did_you_mean(name.value, declared))
        listed = {column.value.lower() for column in insert.columns}
        for column in table.columns if listed else ():
            missing = column.name.value
            if missing.lower() not in listed and not column.nullable and column.default is None:
                message = f"`{missing}` is NOT NULL without a default, and gets no value"
                help = f"add `{missing}` to the list and the query, or a DEFAULT to its declaration"
                self.diagnostics.error("PEN3004", message, insert.target.span(), help)

    def refuse_nameless(self, table: CreateTable, query: PlacedText) -> None:
        """Report rows of a query for the tables of a set: the query has no name for the placeholder."""
        if any(
            "${table_name}" in option.value.value or "${table_full_name}" in option.value.value
            for option in table.properties
        ):
            name = table.name.value
            message = f"`{name}` is written by the name of each table, and this query has none"
            help = f"name it: CREATE VIEW orders AS SELECT …, then INSERT INTO {name} SELECT * FROM orders"
            self.diagnostics.error("PEN2013", message, query.span(), help)

    def free_name(self, wanted: PlacedText, ending: str = "") -> PlacedText:
        """A name that no output has yet, similar to the wanted one."""
        name = free_name(wanted.value + ending, self.outputs)
        return wanted if name == wanted.value else generated(name, wanted)

    def reject_output(self, relation: ScriptName, statement: CreateTable | CreateView) -> PlacedText:
        """The output of a statement's quarantined rows that goes into a table."""
        key = (relation.name.lower(), statement)
        if key not in self.reject_names:
            self.reject_names[key] = self.free_name(relation.rejects[statement])
        return self.reject_names[key]

    def expectations(self, statement: CreateTable | CreateView) -> Iterator[Entry]:
        if statement.expectations:
            rules = [
                map_node(self.rule(expectation, statement), expectation.name) for expectation in statement.expectations
            ]
            yield entry("expectations", list_node(rules, statement.name))

    def rule(self, rule: ExpectDefinition, statement: CreateTable | CreateView) -> Iterator[Entry]:
        yield entry("name", text_node(rule.name))
        yield entry("condition", text_node(rule.condition))
        yield entry("on_violation", text_node(generated(rule.on_violation.value, rule.condition)))
        if rule.quarantine is not None:
            yield entry("quarantine", text_node(self.quarantine_output(rule.quarantine, statement)))

    def quarantining(self, entries: Iterable[Entry], statement: CreateTable | CreateView) -> list[Entry]:
        """The options of a statement, with the outputs that its quarantined rows have."""
        return list(with_outputs(entries, lambda name: self.quarantine_output(name, statement)))

    def quarantine_output(self, name: PlacedText, statement: CreateTable | CreateView) -> PlacedText:
        relation = self.relations.by_name.get(name.value.lower())
        if relation is None or statement not in relation.rejects:
            return name
        return self.reject_output(relation, statement)

    def put(self, section: str, statement: PlacedText, entries: Sequence[Entry]) -> None:
        self.blocks[section].append(map_node(entries, statement))
