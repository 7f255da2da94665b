"""The names of functions with keywords between their arguments."""

import pytest

from tests.sql.analyzed import column


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("extract(Year from day)", "extract(Year FROM day)"),
        ("trim(leading from txt)", "ltrim(txt)"),
        ("substring(txt from 2)", "substring(txt, 2, 2147483647)"),
        ("overlay(txt placing 'a' from 1)", "overlay(txt, a, 1, -1)"),
    ],
)
def test_the_name(expression, name):
    assert column(expression).name == name
