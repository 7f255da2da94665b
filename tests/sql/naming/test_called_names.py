"""The names of calls: functions as Spark spells them, with their defaults."""

import pytest

from tests.sql.analyzed import column


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("NVL(num, 1)", "nvl(num, 1)"),
        ("first(num) ignore nulls", "first(num)"),
        ("if(flag, 1, 2)", "(IF(flag, 1, 2))"),
        ("when(flag, 1)", "CASE WHEN flag THEN 1 END"),
        ("mode(num, true)", "mode() WITHIN GROUP (ORDER BY num DESC)"),
        ("int(txt)", "txt"),
        ("ltrim(txt)", "ltrim(txt)"),
        ("lpad(txt, 3)", "lpad(txt, 3,  )"),
    ],
)
def test_the_name(expression, name):
    assert column(expression).name == name
