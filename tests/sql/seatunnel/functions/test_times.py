"""Date and time functions of SeaTunnel's dialect."""

import pytest

from tests.sql.seatunnel.dialect_calls import in_spark


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("dateadd(d, 1)", "CAST(d + make_interval(0, 0, 0, 1) AS DATE)"),
        ("dateadd(d, 1, 'HOUR')", "d"),
        ("dateadd(at, 1, 'HOUR')", "(at + make_interval(0, 0, 0, 0, 1))"),
        ("dateadd(s, 1, 'year')", "(CAST(s AS TIMESTAMP) + make_interval(1))"),
        ("dateadd(clock, 1, 'MINUTE')", "(clock + make_dt_interval(0, 0, 1))"),
        ("dateadd(clock, 1, 'DAY')", "clock"),
        ("dateadd(at, 1, 'CENTURY')", "dateadd(at, 1, 'CENTURY')"),
        ("datediff(d, at)", "CAST(datediff(at, d) AS BIGINT)"),
        ("datediff(d, at, 'MONTH')", "(timestampdiff(MONTH, to_date(d), to_date(at)) % 12)"),
        ("datediff(d, at, 'HOUR')", "timestampdiff(HOUR, d, at)"),
        ("date_trunc(at, 'MONTH')", "date_trunc('MONTH', at)"),
        ("date_trunc('MONTH', at)", "date_trunc('MONTH', at)"),
    ],
)
def test_a_call(expression, expected):
    assert in_spark(expression) == expected
