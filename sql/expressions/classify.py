"""The kind of a call (aggregate, generator, …), and the columns of a generator."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from sqlglot import exp

from catalog.types.datatypes import has_unknown
from sql.expressions.walk import infer, infer_children
from sql.functions.argument_kinds import kind
from sql.functions.catalogue import signatures
from sql.functions.generators import generated
from sql.functions.modifiers import check_values
from sql.functions.resolve import arguments, varies
from sql.functions.rules.call import Call
from sql.parsing.call_names import call_name
from sql.recognizer.script_transforms import SCRIPT_CALL
from sql.types.expression_type import NamedTyped, Scope, Typed
from sql.types.mismatch import Mismatch


def call_kind(node: exp.Expr) -> str:
    """`scalar`, `aggregate`, `window`, `generator` or `table`; empty for anything but a call of a known function."""
    return _kind_of(call_name(node)) if isinstance(node, exp.Anonymous) else ""


@lru_cache(maxsize=4096)
def _kind_of(name: str) -> str:
    known = signatures(name.lower())
    return known[0].kind if known else ""


def is_aggregate(node: exp.Expr) -> bool:
    return call_kind(node) == "aggregate"


def is_generator(node: exp.Expr) -> bool:
    return call_kind(node) == "generator"


def is_window_only(node: exp.Expr) -> bool:
    return call_kind(node) == "window"


def is_deterministic(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Anonymous):
        return True
    return _gives_the_same(call_name(node))


@lru_cache(maxsize=4096)
def _gives_the_same(name: str) -> bool:
    folded = name.lower()
    return folded != SCRIPT_CALL and not any(signature.is_random for signature in signatures(folded))


def may_raise(node: exp.Expr) -> bool:
    """Whether the node itself may raise under ANSI; most nodes except names, literals and tests may."""
    return not isinstance(node, (exp.Column, exp.Literal, exp.Null, exp.Boolean, exp.Is, exp.Paren, exp.Identifier))


def generator_columns(node: exp.Expr, scope: Scope) -> tuple[NamedTyped, ...] | None:
    """The columns of a generator or table function, whose arguments are typed here; None: not known."""
    if not isinstance(node, exp.Anonymous):
        infer_children(node, scope)
        return None
    name = call_name(node).lower()
    known = signatures(name, scope.spark)
    if not known or known[0].kind not in ("generator", "table"):
        infer(node, scope)
        return None
    if any(isinstance(argument, exp.Distinct) for argument in node.expressions):
        scope.report("PEN3011", node, f"`{name}` is no aggregate function: it takes no DISTINCT")
    nodes, typed, is_open = arguments(node, scope)
    check_values(name, nodes, scope)
    given = [known_ or infer(argument, scope) for argument, known_ in zip(nodes, typed, strict=True)]
    signature = next((candidate for candidate in known if candidate.fits(len(nodes))), None)
    if signature is None or is_open:
        if signature is None:
            scope.report("PEN3007", node, f"`{name}` does not take {len(nodes)} arguments")
        return None
    if not _fits(signature.kind_at, nodes, given, scope, name):
        return None
    try:
        return generated(Call(name, nodes, given, given, scope, infer))
    except Mismatch as error:
        scope.report("PEN3008", nodes[error.argument] if error.argument is not None else node, error.message)
        return None


def _fits(
    kind_at: Callable[[int], str], nodes: Iterable[exp.Expr], given: Iterable[Typed], scope: Scope, name: str
) -> bool:
    fits = True
    for index, (node, arg) in enumerate(zip(nodes, given, strict=True)):
        taken = kind(kind_at(index))
        if not has_unknown(arg.type) and not taken.takes(arg.type):
            scope.report("PEN3008", node, f"`{name}` does not take {arg.type} here")
            fits = False
        elif taken.is_constant and not arg.foldable and varies(node):
            scope.report("PEN3008", node, f"`{name}` takes a constant here")
            fits = False
    return fits
