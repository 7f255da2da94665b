"""What the typer finds out about a node that its printed form depends on; the namer reads it (`sql/naming`)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp


@dataclass(slots=True, eq=False)
class PrintedForms:
    """Facts about the nodes of one analysis, by their identity: the tree itself stays as it was parsed."""

    _shapes: dict[int, str] = field(default_factory=dict)
    _texts: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _arguments: dict[int, tuple[exp.Expr, ...]] = field(default_factory=dict)
    _casts: dict[int, tuple[bool, ...]] = field(default_factory=dict)
    _nodes: list[exp.Expr] = field(default_factory=list)
    """The nodes, so that no other gets the identity of one."""

    def note_shape(self, node: exp.Expr, shape: str) -> None:
        """What decides how an operator or a call is printed: that a sum has dates, that a side is NULL."""
        self._nodes.append(node)
        self._shapes[id(node)] = shape

    def shape(self, node: exp.Expr) -> str | None:
        return self._shapes.get(id(node))

    def note_texts(self, node: exp.Expr, texts: tuple[str, ...]) -> None:
        """What is printed instead of a node: the columns of a star, a typed NULL, the call that a bare word means."""
        self._nodes.append(node)
        self._texts[id(node)] = texts

    def texts(self, node: exp.Expr) -> tuple[str, ...]:
        return self._texts.get(id(node), ())

    def note_arguments(self, call: exp.Expr, arguments: tuple[exp.Expr, ...]) -> None:
        """The arguments of a call in the order of its parameters, where some were given by name."""
        self._nodes.append(call)
        self._arguments[id(call)] = arguments

    def arguments(self, call: exp.Expr) -> Sequence[exp.Expr]:
        return self._arguments.get(id(call)) or call.expressions

    def note_casts(self, row: exp.Expr, casts: tuple[bool, ...]) -> None:
        """Which values of a row before IN become others to be compared with the columns of the subquery."""
        self._nodes.append(row)
        self._casts[id(row)] = casts

    def casts(self, row: exp.Expr) -> tuple[bool, ...]:
        return self._casts.get(id(row), ())
