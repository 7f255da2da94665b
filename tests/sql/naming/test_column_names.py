"""The names of columns, fields, elements and paths."""

import pytest

from tests.sql.analyzed import column


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("every.num", "num"),
        ("point.a", "a"),
        ("points[0].a", "points[0].a"),
        ("points['a']", "points.a"),
        ("doc:a.b", "b"),
        ("to_json(doc:a)", "to_json(variant_get(doc, $.a) AS a)"),
    ],
)
def test_the_name(expression, name):
    assert column(expression).name == name
