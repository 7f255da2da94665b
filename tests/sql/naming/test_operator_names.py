"""The names of operators: chains, signs and comparisons."""

import pytest

from tests.sql.analyzed import column


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("flag and flag and flag", "((flag AND flag) AND flag)"),
        ("num != 1", "(NOT (num = 1))"),
        ("- num", "(- num)"),
        ("-1", "-1"),
        ("num || txt", "concat(num, txt)"),
        ("num div 2", "(num div 2)"),
    ],
)
def test_the_name(expression, name):
    assert column(expression).name == name
