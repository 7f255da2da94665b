"""The tables and views of a SQL job file by their names: which statement makes each, who reads and who writes it."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText
from engine.job.script.quarantine_options import quarantine_outputs
from sql.parsing.query_text import tables_read
from sql.quoted_forms import LINE_COMMENT, TEXT
from sql.script.statements import CreateTable, CreateView, Insert, Statement

WORDS = re.compile(rf"{LINE_COMMENT}|/\*.*?\*/|{TEXT}|`([^`]+)`|(\w+)", re.DOTALL)

BY_WORDS = re.compile(r"\bTABLE\s*\(|^\s*SELECT\s+\w+\s*$", re.IGNORECASE)


@dataclass(eq=False, slots=True)
class ScriptName:
    """A name of the script: its inserts in their order, and the outputs of quarantined rows that go into it."""

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

    `reads`: the names that each query of a statement reads, as they were defined. `quarantines`: the outputs of
    quarantined rows that an option names and no statement makes; queries read them by these names. `refused`: the names
    of statements that cannot be read, in lower case.
    """

    def __init__(
        self, statements: Sequence[Statement], diagnostics: Diagnostics, refused: Set[str] = frozenset()
    ) -> None:
        self.refused = refused
        self.by_name: dict[str, ScriptName] = {}
        self.reads: dict[PlacedText, tuple[str, ...]] = {}
        self.quarantines: dict[str, str] = {}
        creates = [statement for statement in statements if isinstance(statement, CreateTable | CreateView)]
        for create in creates:
            self._define(create, diagnostics)
        for create in creates:
            self._mark_rejects(create, diagnostics)
        for statement in statements:
            match statement:
                case CreateTable(query=PlacedText() as query) | CreateView(query=PlacedText() as query):
                    self._mark_reads(query)
                case Insert(target=target, query=query):
                    self._mark_reads(query)
                    if relation := self.target(target, diagnostics):
                        relation.inserts.append(statement)

    def defined_name(self, name: str) -> str | None:
        """The name of a table, view or quarantine output as it was defined; None if the script has none."""
        relation = self.by_name.get(name.lower())
        return relation.name if relation is not None else self.quarantines.get(name.lower())

    def target(self, name: PlacedText, diagnostics: Diagnostics) -> ScriptName | None:
        """The table that rows go into; any other name is reported."""
        relation = self.by_name.get(name.value.lower())
        if relation is None and name.value.lower() in self.refused:
            return None  # its CREATE is reported
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
        read = {name: first for name in named if (first := self._read(name)) is not None}
        self.reads[query] = tuple(dict.fromkeys(first + name[len(first) :] for name, first in read.items()))
        for first in read.values():
            if first.lower() in self.by_name:
                self.by_name[first.lower()].is_read = True

    def _read(self, name: str) -> str | None:
        """What a query reads by that name: a table, view or quarantine output, or the set of a table (`crm.orders`)."""
        if (whole := self.defined_name(name)) is not None:
            return whole
        before = (name[:dot].lower() for dot, letter in enumerate(name) if letter == ".")
        return next((self.by_name[first].name for first in before if first in self.by_name), None)

    def _mark_rejects(self, statement: CreateTable | CreateView, diagnostics: Diagnostics) -> None:
        for expectation in statement.expectations:
            if expectation.quarantine is not None and (relation := self.target(expectation.quarantine, diagnostics)):
                relation.rejects.setdefault(statement, expectation.quarantine)
        for output in quarantine_outputs(statement.properties):
            if output.value.lower() not in self.by_name:
                self.quarantines.setdefault(output.value.lower(), output.value)
            elif relation := self.target(output, diagnostics):
                relation.rejects.setdefault(statement, output)
