"""The seam between the binder, which knows names, and the expression typer, which knows functions and operators.

The typer (`sql/expressions`) walks one expression and asks its `Scope` for what only the binder knows:

    infer(node, scope) -> Typed               the type of an expression; reports the errors within it
    output_name(node, scope) -> str           the name that Spark gives an expression without an alias
    generator_columns(node, scope) -> ...     the columns of explode, inline, stack, range, ... (None: not known)
    is_aggregate(node) / is_generator(node) / is_window_only(node) / is_deterministic(node) / may_raise(node) -> bool
    widest(a, b) -> DataType | None           the type that holds both sides of a set operation; None: there is none

Queries are parsed from `keep_calls(tokens)` (`sql/parsing/call_names.py`): every plain call is an `exp.Anonymous`
with its arguments as written, and its function is found by `call_name(node)` in the catalogue, never by sqlglot's
own node classes.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from catalog.spark_version import SparkVersion
from catalog.types.datatypes import UNKNOWN, DataType
from sql.types.printed_forms import PrintedForms


@dataclass(frozen=True, slots=True)
class Typed:
    """The type and nullability of an expression; `value` is that of a literal (None: not a literal, or null).

    `elements`: of `array(…)`, which of its elements may be null.
    """

    type: DataType
    nullable: bool = True
    foldable: bool = False
    value: object = None
    elements: tuple[bool, ...] | None = None


@dataclass(frozen=True, slots=True)
class NamedTyped:
    """One column: of a generator, a table function or a star."""

    name: str
    typed: Typed


NOT_KNOWN = Typed(UNKNOWN)


@dataclass(frozen=True, slots=True)
class Walk:
    """What types a node of sqlglot's, and what prints it, by its class; each takes the node and the scope."""

    handlers: Mapping[type[exp.Expr], Callable[..., Typed]]
    printers: Mapping[type[exp.Expr], Callable[..., str]]


@dataclass(slots=True, eq=False)
class TypedNodes:
    """The types of the nodes of one analysis, by their identity."""

    _types: dict[int, Typed] = field(default_factory=dict)
    _nodes: list[exp.Expr] = field(default_factory=list)
    """The nodes, so that no other gets the identity of one."""

    def record(self, node: exp.Expr, typed: Typed) -> None:
        self._nodes.append(node)
        self._types[id(node)] = typed

    def typed(self, node: exp.Expr) -> Typed | None:
        return self._types.get(id(node))


class Scope(Protocol):
    """The scope of an expression. Offsets in `node.meta` and tokens index `text`, the query as written."""

    @property
    def text(self) -> str: ...

    @property
    def tokens(self) -> Sequence[Token]: ...

    @property
    def spark(self) -> SparkVersion: ...

    @property
    def walk(self) -> Walk: ...

    @property
    def printed(self) -> PrintedForms: ...

    @property
    def collations(self) -> TypedNodes | None:
        """The types of the nodes so far, in a query in which collations occur; else None."""

    def resolve(self, node: exp.Column) -> Typed:
        """A column, lambda variable or lateral alias, struct fields in its dotted name included; errors are reported.

        Call it for each `Column` of the tree, once; the calls are what lineage is made of.
        """

    def is_lateral_alias(self, node: exp.Column) -> bool:
        """Whether a resolved column means an alias of the same select list."""

    def qualifier_length(self, node: exp.Column) -> int:
        """How many parts of a dotted name stand before the column's own name."""

    def outer_qualifier(self, node: exp.Column) -> str | None:
        """The name of the relation of a column of the query around, empty if it has none; None of other columns."""

    def is_outer(self, node: exp.Column) -> bool:
        """Whether a resolved column is one of the query around."""

    def variable(self, name: str) -> Typed | None:
        """The lambda variable of that name (any case), innermost first."""

    def bind(self, variables: Mapping[str, Typed]) -> AbstractContextManager[None]:
        """Lambda variables for as long as the context is open."""

    def outer_names(self, query: exp.Expr) -> list[str]:
        """The columns of this query that a subquery, once typed, was found to use, by their names."""

    def expand(self, node: exp.Expr) -> tuple[NamedTyped, ...] | None:
        """The columns that `*`, `t.*` or `s.*` stands for as an argument; None if they are not known."""

    def subquery(self, node: exp.Expr) -> tuple[NamedTyped, ...] | None:
        """Output columns of the query in a scalar subquery, EXISTS or IN, which is analyzed here; None: not known."""

    def window(self, node: exp.Window) -> exp.Window | None:
        """The named window that `over w` or `over (w ...)` refers to, if any."""

    def report(self, code: str, node: exp.Expr, message: str, help: str | None = None) -> None:
        """An error at the node's range."""
