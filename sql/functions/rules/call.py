"""A call of a function as the result rules see it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from sqlglot import exp

from catalog.types.datatypes import DataType
from sql.types.expression_type import NOT_KNOWN, Scope, Typed
from sql.types.mismatch import Mismatch

_WITH_POSITION: Final = ("transform", "filter")
"""Functions whose lambda may leave out its second argument, the position."""


@dataclass(frozen=True, slots=True)
class Call:
    """`args` are what the arguments are once cast to their kinds, `given` what they were before; `nodes` their places.

    `infer` types an expression in a scope: lambda functions are typed by the rules, which know their variables.
    """

    name: str
    nodes: Sequence[exp.Expr]
    args: Sequence[Typed]
    given: Sequence[Typed]
    scope: Scope
    infer: Callable[[exp.Expr, Scope], Typed]

    def type(self, index: int) -> DataType:
        return self.args[index].type

    @property
    def any_nullable(self) -> bool:
        return any(arg.nullable for arg in self.args)

    def text(self, index: int) -> str | None:
        """The value of an argument that is a string literal."""
        value = self.given[index].value if index < len(self.given) else None
        return value if isinstance(value, str) else None

    def body(self, index: int, *variables: Typed) -> Typed:
        """The result of the lambda function that is the argument, its variables being such; unknown if it is none."""
        node = self.nodes[index]
        if not isinstance(node, exp.Lambda):
            return self.infer(node, self.scope)
        query = node.this.find(exp.Query)
        if query is not None:
            self.scope.report("PEN3016", query, "a lambda function may not hold a subquery", "compute it outside")
        names = [expression.name for expression in node.expressions]
        if len({name.lower() for name in names}) < len(names):
            raise Mismatch("two arguments of the lambda function have one name", index)
        if len(names) != len(variables) and not (self.name in _WITH_POSITION and len(names) == 1):
            raise Mismatch(f"the function takes {len(names)} arguments, {len(variables)} are given", index)
        with self.scope.bind(dict(zip(names, variables, strict=False))):
            return self.infer(node.this, self.scope)


Rule: TypeAlias = Callable[[Call], "DataType | Typed"]

__all__ = ["NOT_KNOWN", "Call", "Rule"]
