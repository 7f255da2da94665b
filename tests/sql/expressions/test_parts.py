"""Elements, fields and paths in an expression."""

import pytest

from tests.sql.analyzed import error, typed


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("nums[0]", "int"),
        ("array(1, 2)[0]", "int!"),
        ("dict['a']", "int"),
        ("point['a']", "int"),
        ("points['a']", "array<int>"),
        ("points[0].b", "string"),
        ("doc:a.b[0]", "variant"),
        ("struct(num_nn as x).x", "int!"),
    ],
)
def test_the_type(expression, type):
    assert typed(expression) == type


@pytest.mark.parametrize(
    ("expression", "code", "wrong"),
    [
        ("nums['a']", "PEN3008", "nums['a']"),
        ("dict[nums]", "PEN3008", "dict[nums]"),
        ("num[0]", "PEN3008", "num[0]"),
        ("point['q']", "PEN3005", "'q'"),
        ("points[0].q", "PEN3005", "q"),
        ("txt:a", "PEN3008", "txt"),
    ],
)
def test_what_is_refused(expression, code, wrong):
    assert error(f"select {expression} from every")[:2] == (code, wrong)
