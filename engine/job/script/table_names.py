"""The tables and views of a SQL job file by their names: which statement makes each, who reads and who writes it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from catalog.diagnostics import Diagnostics, did_you_mean
from catalog.source import PlacedText
from sql.grammar.query_text import tables_read
from sql.script.statements import CreateTable, CreateView, Insert, Statement

WORDS = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|`([^`]+)`|(\w+)", re.DOTALL)

BY_WORDS = re.compile(r"\bTABLE\s*\(|^\s*SELECT\s+\w+\s*$", re.IGNORECASE)


@dataclass(eq=False, slots=True)
class ScriptName:
    """A name of the script: its inserts in their order, and the outputs of expectations that go into it."""

    statement: CreateTable | CreateView
    is_read: bool = False
    inserts: list[Insert] = field(default_factory=list)
    rejects: dict[CreateTable | CreateView, PlacedText] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.statement.name.value

    @property
    def is_table(self) -> bool:
        """Whether it is a source or a sink, not the name of a query."""
        return isinstance(self.statement, CreateTable) and bool(self.statement.properties)

    @property
    def is_written(self) -> bool:
        return bool(self.inserts or self.rejects) or (self.is_table and self.statement.query is not None)

    @property
    def is_source(self) -> bool:
        """Read, and not only the rows that this script makes of it; a table that nobody uses is taken for one."""
        return self.is_table and self.statement.query is None and (self.is_read or not self.is_written)


class ScriptNames:
    """The names of a script; wherever one is used it may be spelled in any case.

    `reads`: the names that each query of a statement reads, as they were defined.
    """

    def __init__(self, statements: Sequence[Statement], diagnostics: Diagnostics) -> None:
        self.by_name: dict[str, ScriptName] = {}
        self.reads: dict[PlacedText, tuple[str, ...]] = {}
        for statement in statements:
            if isinstance(statement, CreateTable | CreateView):
                self._define(statement, diagnostics)
        for statement in statements:
            match statement:
                case CreateTable(query=PlacedText() as query) | CreateView(query=PlacedText() as query):
                    self._mark_reads(query)
                case Insert(target=target, query=query):
                    self._mark_reads(query)
                    if relation := self.target(target, diagnostics):
                        relation.inserts.append(statement)
            if isinstance(statement, CreateTable | CreateView):
                self._mark_rejects(statement, diagnostics)

    def target(self, name: PlacedText, diagnostics: Diagnostics) -> ScriptName | None:
        """The table that rows go into; any other name is reported."""
        relation = self.by_name.get(name.value.lower())
        if relation is None:
            tables = [declared.name for declared in self.by_name.values() if declared.is_table]
            help = did_you_mean(name.value, tables) or "make it with CREATE TABLE … WITH ('connector' = '…')"
            diagnostics.error("PEN2007", f"the table `{name.value}` is not made in this script", name.span(), help)
        elif not relation.is_table:
            what = "view" if isinstance(relation.statement, CreateView) else "table without a connector"
            diagnostics.error("PEN2007", f"`{name.value}` is a {what}: no rows can go into it", name.span())
        else:
            return relation
        return None

    def _define(self, statement: CreateTable | CreateView, diagnostics: Diagnostics) -> None:
        name = statement.name
        before = self.by_name.setdefault(name.value.lower(), ScriptName(statement)).statement
        if before is not statement:
            place = before.name.span()
            diagnostics.error(
                "PEN2006", f"`{name.value}` is made twice", name.span(), f"it is made in line {place.line} too"
            )

    def _mark_reads(self, query: PlacedText) -> None:
        """By the query's words where it does not parse, is only a name, or passes a table to a function."""
        named: Iterable[str] | None = tables_read(query.value)
        if named is None or BY_WORDS.search(query.value):
            named = [quoted or word for quoted, word in WORDS.findall(query.value)]
        read = {name: relation for name in named if (relation := self._read(name)) is not None}
        names = (relation.name + name[len(relation.name) :] for name, relation in read.items())
        self.reads[query] = tuple(dict.fromkeys(names))
        for relation in read.values():
            relation.is_read = True

    def _read(self, name: str) -> ScriptName | None:
        """What a query reads by that name: a table or view, or one table of a set (`crm.orders`)."""
        if name.lower() in self.by_name:
            return self.by_name[name.lower()]
        before = (name[:dot].lower() for dot, letter in enumerate(name) if letter == ".")
        return next((self.by_name[first] for first in before if first in self.by_name), None)

    def _mark_rejects(self, statement: CreateTable | CreateView, diagnostics: Diagnostics) -> None:
        for expectation in statement.expectations:
            if expectation.quarantine is not None and (relation := self.target(expectation.quarantine, diagnostics)):
                relation.rejects.setdefault(statement, expectation.quarantine)
