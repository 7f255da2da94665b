"""Recursive code on a larger stack, and queries that are nested deeper than Spark's parser goes."""

import sys

import pytest
from sqlglot.dialects.spark import Spark

from sql.parsing.recursion import MOST_NESTED, too_deep, with_room


def depth(count: int) -> int:
    return 0 if not count else 1 + depth(count - 1)


def test_a_deep_recursion_ends_and_leaves_the_limit_as_it_was():
    limit = sys.getrecursionlimit()
    assert with_room(depth)(3 * limit) == 3 * limit
    assert sys.getrecursionlimit() == limit


def test_an_endless_recursion_is_reported():
    @with_room
    def endless(text: str) -> str:
        raise RecursionError

    with pytest.raises(RecursionError):
        endless("x")


def test_the_first_bracket_that_is_too_deep():
    nested = Spark().tokenize("(" * (MOST_NESTED + 1) + "1" + ")" * (MOST_NESTED + 1))
    assert too_deep(nested) is nested[MOST_NESTED]
    side_by_side = Spark().tokenize("(1) + " * (MOST_NESTED + 1) + "1")
    assert too_deep(side_by_side) is None
