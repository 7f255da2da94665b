"""What kind of call a node is, and which special functions an expression has."""

import pytest

from sql.expressions import call_kind, is_deterministic
from sql.parsing.parse import parse
from sql.scopes.misplaced_functions import find_special


def expression(text):
    return parse(f"select {text} from t").tree.expressions[0]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("upper(a)", "scalar"),
        ("sum(a)", "aggregate"),
        ("rank()", "window"),
        ("explode(xs)", "generator"),
        ("no_such_function(a)", ""),
        ("a", ""),
        ("cast(a as int)", ""),
    ],
)
def test_call_kind(text, kind):
    assert call_kind(expression(text)) == kind


def test_an_aggregate_with_over_is_a_window_and_a_subquery_counts_for_itself():
    found = find_special(expression("sum(a) + max(b) over () + (select min(z) from u)"))
    assert [len(part) for part in (found.aggregates, found.windows, found.generators)] == [1, 1, 0]
    assert find_special(expression("sum(a) filter (where b) over ()")).aggregates == []


@pytest.mark.parametrize(("text", "is_same"), [("rand()", False), ("uuid()", False), ("upper(a)", True), ("a", True)])
def test_is_deterministic(text, is_same):
    assert is_deterministic(expression(text)) is is_same
