"""The names of conditions: IS, NOT, LIKE, IN, CASE and tuples."""

import pytest

from tests.sql.analyzed import column


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("num is null", "(num IS NULL)"),
        ("not num is null", "(NOT (num IS NULL))"),
        ("flag is not true", "(NOT (flag <=> true))"),
        ("num in (1, 2)", "(num IN (1, 2))"),
        ("txt not like 'a'", "(NOT txt LIKE a)"),
        ("txt like any ('a', 'b')", "likeany(txt)"),
        ("txt like any ('a', txt)", "(txt LIKE a OR txt LIKE txt)"),
        ("case num when 1 then 2 else 3 end", "CASE WHEN (num = 1) THEN 2 ELSE 3 END"),
        ("(num, 1)", "named_struct(num, num, col2, 1)"),
    ],
)
def test_the_name(expression, name):
    assert column(expression).name == name
