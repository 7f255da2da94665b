"""The walk over an expression: the node at which an error is reported, and what is folded."""

import pytest
from sqlglot import exp

from catalog.types.datatypes import BIGINT, INT, VOID
from sql.expressions.walk import folded_with, infer, infer_children, note_void
from sql.types.expression_type import NOT_KNOWN, Typed, Walk
from sql.types.mismatch import Mismatch
from sql.types.printed_forms import PrintedForms


class Reports:
    """A scope that records what is reported to it."""

    def __init__(self, handlers=None) -> None:
        self.walk = Walk(handlers or {}, {})
        self.reported: list[tuple[str, str, str]] = []
        self.printed = PrintedForms()
        self.collations = None

    def report(self, code: str, node: exp.Expr, message: str, help: str | None = None) -> None:
        self.reported.append((code, node.sql(), message))


def refusing(argument: int | None):
    def handler(node: exp.Expr, scope: object) -> Typed:
        raise Mismatch("wrong", argument)

    return handler


@pytest.mark.parametrize(("argument", "at"), [(None, "a + b"), (0, "a"), (1, "b"), (5, "a + b")])
def test_a_mismatch_is_reported_at_its_operand(argument, at):
    scope = Reports({exp.Add: refusing(argument)})
    assert infer(exp.Add(this=exp.column("a"), expression=exp.column("b")), scope) is NOT_KNOWN
    assert scope.reported == [("PEN3008", at, "wrong")]


def test_a_wrong_literal_has_a_code_of_its_own():
    scope = Reports({exp.Literal: refusing(None)})
    infer(exp.Literal.number(1), scope)
    assert scope.reported == [("PEN3013", "1", "wrong")]


def test_the_children_of_an_unknown_node_are_walked():
    scope = Reports({exp.Literal: lambda node, scope: Typed(INT, False)})
    node = exp.Tuple(expressions=[exp.Literal.number(1), exp.Star()])
    assert infer(node, scope) is NOT_KNOWN
    assert infer_children(node, scope) == [Typed(INT, False)]


def test_an_operation_of_constants_is_constant():
    constant = Typed(INT, False, True, 1)
    assert folded_with(Typed(BIGINT), constant, constant).foldable
    assert not folded_with(Typed(BIGINT), constant, Typed(INT)).foldable


def test_two_untyped_nulls_are_noted():
    node, scope = exp.Add(), Reports()
    note_void(node, scope, Typed(VOID), Typed(INT))
    assert scope.printed.shape(node) is None
    note_void(node, scope, Typed(VOID), Typed(VOID))
    assert scope.printed.shape(node) == "void"
