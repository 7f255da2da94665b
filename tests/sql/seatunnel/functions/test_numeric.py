"""Numeric functions of SeaTunnel's dialect."""

import pytest

from tests.sql.seatunnel.dialect_calls import in_spark


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("mod(l, i)", "CAST(l % i AS int)"),
        ("mod(n, i)", "CAST(CAST(n AS DECIMAL(38,18)) % CAST(i AS DECIMAL(38,18)) AS int)"),
        ("ceil(x)", "CAST(ceil(x) AS INT)"),
        ("floor(x, 1)", "CAST(floor(x, 1) AS INT)"),
        ("round(n, 1)", "CAST(round(n, 1) AS decimal(10,2))"),
        ("round(x, 1)", "round(x, 1)"),
        ("sign(x)", "coalesce(CAST(sign(x) AS INT), 0)"),
        ("trunc(d, 'YEAR')", "trunc(d, 'YEAR')"),
        ("log(10, x)", "log10(x)"),
        ("log(2, x)", "log(2, x)"),
        ("vector_dims(xs)", "size(xs)"),
        ("abs(x)", "abs(x)"),
    ],
)
def test_a_call(expression, expected):
    assert in_spark(expression) == expected


def test_trunc_goes_toward_zero():
    assert "CASE WHEN x < 0 THEN ceil(" in in_spark("trunc(x)")


def test_a_call_with_too_few_arguments_stays_for_the_analysis():
    assert in_spark("sign()") == "sign()"
    assert in_spark("mod(l)") == "mod(l)"
