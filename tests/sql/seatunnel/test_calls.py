"""Operators and literals of SeaTunnel's dialect, inside of each other."""

import pytest

from tests.sql.seatunnel.dialect_calls import in_spark


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("i / 2", "CAST((i) DIV (2) AS int)"),
        ("l / i", "CAST((l) DIV (i) AS bigint)"),
        ("x / i", "(CASE WHEN (i) = 0 THEN (x) * DOUBLE('Infinity') ELSE (x) / (i) END)"),
        ("x / 2", "x / 2"),
        ("s <> 'a'", "s IS DISTINCT FROM 'a'"),
        ("s || ',' || s", "concat_ws('', s, ',', s)"),
        ("upper(s || i)", "upper(concat_ws('', s, CAST(i AS STRING)))"),
        ("'it''s'", "'it\\'s'"),
        ('"s"', "`s`"),
        ("1.5", "1.5D"),
        ("1.5e3 + i", "1.5e3D + i"),
        ("-- 'a' || 'b'\n s", "-- 'a' || 'b'\n s"),
    ],
)
def test_an_expression(expression, expected):
    assert in_spark(expression) == expected


def test_a_quotient_of_decimals_keeps_the_larger_scale():
    assert in_spark("n / 3").endswith("AS DECIMAL(10,2))")
