"""Where the operands of an operator begin and end."""

import pytest
from sqlglot.dialects.spark import Spark

from sql.seatunnel.sites.operands import concatenation, is_sign, product_operands


def tokens(text: str):
    return Spark().tokenize(text)


def between(text: str, span: tuple[int, int]) -> str:
    found = tokens(text)
    return text[found[span[0]].start : found[span[1]].end + 1]


def index(text: str, sign: str) -> int:
    return next(at for at, token in enumerate(tokens(text)) if token.text == sign)


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("select a || b + 1 || c as x", "a || b + 1 || c"),
        ("select f(a || b), c", "a || b"),
        ("where a || b = c", "a || b"),
        ("select case when a then b end || c d", "case when a then b end || c"),
    ],
)
def test_a_chain_of_concatenations(text, chain):
    assert between(text, concatenation(tokens(text), index(text, "||"))) == chain


@pytest.mark.parametrize(
    ("text", "product"),
    [
        ("a + b * c / d * e", "b * c / d"),
        ("(a + b) / -c + d", "(a + b) / -c"),
        ("x || a / f(b, c) y", "a / f(b, c)"),
    ],
)
def test_the_operands_of_a_division(text, product):
    assert between(text, product_operands(tokens(text), index(text, "/"))) == product


def test_a_sign_follows_an_operator_or_a_clause():
    found = tokens("select -a - b * -c")
    assert [is_sign(found, at) for at, token in enumerate(found) if token.text == "-"] == [True, False, True]
