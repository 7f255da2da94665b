"""The names of window functions, FILTER and WITHIN GROUP."""

import pytest

from tests.sql.analyzed import column

UNTIL_NOW = "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
BY_FLAG = "PARTITION BY flag ORDER BY num DESC NULLS LAST"


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("sum(num) over ()", "sum(num) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"),
        ("sum(num) over (partition by flag order by num desc)", f"sum(num) OVER ({BY_FLAG} RANGE {UNTIL_NOW})"),
        ("rank() over (partition by flag order by num desc)", f"RANK() OVER ({BY_FLAG} ROWS {UNTIL_NOW})"),
        ("count(*) filter (where flag)", "count(1) FILTER (WHERE flag)"),
        ("mode() within group (order by num desc)", "mode() WITHIN GROUP (ORDER BY num)"),
    ],
)
def test_the_name(expression, name):
    assert column(expression).name == name
