"""The patterns of LIKE ANY and LIKE ALL, and whether Spark's parser takes them for constants."""

import pytest
from sqlglot import exp

from sql.parsing.like_patterns import are_constant_patterns, patterns
from sql.parsing.parse import parse


def quantified(text: str) -> exp.Expr:
    found = parse(f"select {text}").tree.find(exp.Any, exp.All)
    assert found is not None
    return found


def test_one_pattern_and_several():
    assert [node.sql() for node in patterns(quantified("a like any ('x')"))] == ["'x'"]
    assert [node.sql() for node in patterns(quantified("a like all ('x', b)"))] == ["'x'", "b"]


@pytest.mark.parametrize(
    ("text", "are_constant"),
    [
        ("a like any ('x', 'y')", True),
        ("a like any ('x', null)", False),
        ("a like any ('x', 'y' || 'z')", True),
        ("a like all ('x', b)", False),
        ("a like any ('x', upper('y'))", False),
    ],
)
def test_constant_patterns(text, are_constant):
    assert are_constant_patterns(quantified(text)) is are_constant
