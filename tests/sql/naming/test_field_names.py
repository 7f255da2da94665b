"""The names that parts of a struct have without an alias."""

from types import SimpleNamespace

import pytest

from sql.naming.field_names import own_name
from sql.parsing.parse import parse


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a", "a"),
        ("t.a.b", "b"),
        ("((a))", "a"),
        ("m['k']", "k"),
        ("xs[0]", None),
        ("xs[0].f", "f"),
        ("current_date", "current_date"),
        ("current_user", "current_user"),
        ("a + 1", None),
        ("'x'", None),
    ],
)
def test_the_name(text, name):
    query = f"select {text}"
    assert own_name(parse(query).tree.expressions[0], SimpleNamespace(text=query)) == name
