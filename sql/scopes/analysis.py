"""The state of one analysis while it binds a query: inputs, errors, reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Protocol

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.diagnostics.source import PlacedText
from catalog.spark_version import NEWEST, SparkVersion
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import is_collated
from sql.parsing.node_ranges import Places
from sql.scopes.lineage import Origins
from sql.scopes.relations import Output, Relation, TableOutputs, table_output
from sql.types.expression_type import Typed, TypedNodes, Walk
from sql.types.printed_forms import PrintedForms


@dataclass(frozen=True, slots=True)
class Bound:
    """The resolution of a `Column` node.

    `key` is equal for two nodes that mean the same value (None: not known); `depth` is 1 for a column of the query
    around.
    """

    key: tuple[object, ...] | None
    typed: Typed
    origins: Origins = ()
    depth: int = 0
    is_alias: bool = False


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of a query: the visible CTEs by lower-case name, and the outer query of a subquery.

    `piped`: the rows before a pipe operator, which are then what the query itself, not one within it, reads.
    """

    ctes: Mapping[str, Output] = field(default_factory=dict)
    outer: "EnclosingScope | None" = None
    piped: Relation | None = None

    def with_ctes(self, more: Mapping[str, Output]) -> "Environment":
        return replace(self, ctes={**self.ctes, **more})


@dataclass(slots=True, eq=False)
class Binder:
    """One analysis. `bind_query` is the entry of the walk over queries, held here because they nest in every part of a
    query; `walk` types and prints expressions."""

    placed: PlacedText
    tokens: Sequence[Token]
    inputs: Mapping[str, CatalogTable]
    bind_query: Callable[["Binder", exp.Expr, Environment], Output]
    walk: Walk
    outputs: TableOutputs = field(default_factory=dict)
    spark: SparkVersion = NEWEST
    diagnostics: list[Diagnostic] = field(default_factory=list)
    columns_read: dict[str, set[str]] = field(default_factory=dict)
    printed: PrintedForms = field(default_factory=PrintedForms)
    is_deterministic: bool = True
    resolved: list[tuple[exp.Column, Bound]] = field(default_factory=list)
    collations: TypedNodes | None = None
    """The types of the nodes so far, once the query names a collation or reads a column with one."""
    places: Places = field(init=False)
    _tables: dict[str, tuple[str, Output]] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places = Places(self.placed.value, self.tokens)
        self._names = {name.lower(): name for name in self.inputs}
        if "collat" in self.text.lower():
            self.collations = TypedNodes()

    @property
    def text(self) -> str:
        return self.placed.value

    def query(self, node: exp.Expr, environment: Environment) -> Output:
        return self.bind_query(self, node, replace(environment, piped=None) if environment.piped else environment)

    def table(self, name: str) -> tuple[str, Output] | None:
        """The input of that name (any case) and its columns; the read is recorded."""
        folded = name.lower()
        if folded not in self._names:
            return None
        if folded not in self._tables:
            known = self._names[folded]
            self._tables[folded] = known, table_output(known, self.inputs[known], self.outputs)
            if self.collations is None and any(is_collated(column.type) for column in self.inputs[known].columns):
                self.collations = TypedNodes()
            self.columns_read.setdefault(known, set())
        return self._tables[folded]

    def table_names(self) -> list[str]:
        return list(self.inputs)

    def report(
        self, code: str, node: exp.Expr, message: str, help: str | None = None, also: Sequence[exp.Expr] = ()
    ) -> None:
        """`also`: further places of the same error, such as the other side of a set operation."""
        self.report_at(code, self.places.marked(node), message, help)
        if also:
            spans = tuple(self.placed.span(*self.places.marked(other)) for other in also)
            self.diagnostics[-1] = replace(self.diagnostics[-1], also=spans)

    def report_at(
        self,
        code: str,
        at: tuple[int, int],
        message: str,
        help: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.diagnostics.append(Diagnostic(code, message, self.placed.span(*at), help, severity))

    def has_error(self, code: str, node: exp.Expr) -> bool:
        """Whether an error of that code was found at the node."""
        span = self.placed.span(*self.places.marked(node))
        return any(diagnostic.code == code and diagnostic.span == span for diagnostic in self.diagnostics)

    def warn(self, code: str, node: exp.Expr, message: str, help: str | None = None) -> None:
        self.report_at(code, self.places.marked(node), message, help, Severity.WARNING)


class EnclosingScope(Protocol):
    """What stars and subqueries use of the scope of a SELECT (`sql.scopes.scope.SelectScope`)."""

    binder: Binder
    environment: Environment
    relation: Relation
    used: list[tuple[exp.Expr, Origins]]
    grouped_nullable: set[tuple[object, ...]]
    outer_references: list[tuple[exp.Column, Bound]]

    def find(self, node: exp.Column, parts: Sequence[str], *, lateral: bool) -> tuple[Bound, int] | None: ...

    def resolve(self, node: exp.Column) -> Typed: ...

    def report(self, code: str, node: exp.Expr, message: str, help: str | None = None) -> None: ...


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that is most like the one given."""
    folded = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None
