"""Keys that are equal for equivalent expressions of GROUP BY and the select list."""

import pytest

from tests.sql.query_cases import analysis_text


@pytest.mark.parametrize(
    ("key", "item"),
    [
        ("a + id", "id + a"),
        ("(a + 1)", "a + 1"),
        ("upper(b)", "UPPER(t.B)"),
        ("a & 1", "1 & a"),
        ("a = 1 and b = 'x'", "b = 'x' and 1 = a"),
        ("cast(a as string)", "CAST(A AS STRING)"),
        ("a in (select c from u)", "a IN (select C from u)"),
    ],
)
def test_an_equivalent_expression(key, item):
    assert analysis_text(f"select {item} as x from t group by {key}").startswith("= x ")


@pytest.mark.parametrize(
    ("key", "item"), [("a - id", "id - a"), ("b || 'x'", "b || 'X'"), ("a + 1", "a + 1L"), ("a + 1", "a + 2")]
)
def test_another_expression(key, item):
    assert "PEN3009" in analysis_text(f"select {item} as x from t group by {key}")
