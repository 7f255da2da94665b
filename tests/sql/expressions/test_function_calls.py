"""Calls with FILTER, WITHIN GROUP and OVER in an expression."""

import pytest

from tests.sql.analyzed import error, typed


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("sum(num) filter (where flag)", "bigint"),
        ("percentile_cont(0.5) within group (order by num)", "double"),
        ("percentile_cont(array(0.5)) within group (order by dt)", "array<interval day to second>"),
        ("mode() within group (order by txt)", "string"),
        ("listagg(txt) within group (order by num)", "string"),
        ("rank() over (order by num)", "int!"),
        ("sum(num) over (partition by flag)", "bigint"),
    ],
)
def test_the_type(expression, type):
    assert typed(expression) == type


@pytest.mark.parametrize(
    ("expression", "code", "wrong"),
    [
        ("sum(num) filter (where num)", "PEN3008", "num"),
        ("percentile_cont(0.5)", "PEN3011", "percentile_cont(0.5)"),
        ("rank()", "PEN3011", "rank"),
        ("nosuch(num)", "PEN3006", "nosuch(num)"),
    ],
)
def test_what_is_refused(expression, code, wrong):
    assert error(f"select {expression} from every")[:2] == (code, wrong)
