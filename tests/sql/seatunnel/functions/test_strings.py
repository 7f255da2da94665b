"""String functions of SeaTunnel's dialect."""

import pytest

from tests.sql.seatunnel.dialect_calls import in_spark


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("concat(s, i)", "concat_ws('', s, CAST(i AS STRING))"),
        ("s || i", "concat_ws('', s, CAST(i AS STRING))"),
        ("concat_ws(',', xs, s)", "concat_ws(coalesce(',', ''), xs, s)"),
        ("length(s)", "CAST(length(s) AS BIGINT)"),
        ("ascii(s)", "nullif(ascii(s), 0)"),
        ("locate('a', s)", "coalesce(locate('a', s, 1), 0)"),
        ("instr(s, 'a')", "coalesce(locate('a', s, 1), 0)"),
        ("lpad(s, 5, 'xy')", "lpad(s, 5, 'x')"),
        ("rpad(s, 5, '')", "rpad(s, 5, ' ')"),
        ("lpad(s, 5)", "lpad(s, 5)"),
        ("ltrim(s, 'xy')", "trim(LEADING 'x' FROM s)"),
        ("trim(s)", "trim(s)"),
        ("substring(s, 2, 3)", "nullif(substring(s, 2, 3), '')"),
        ("substring(at, 1)", "nullif(substring(date_format(at, 'yyyy-MM-dd HH:mm:ss'), 1), '')"),
        ("to_char(d, 'yyyy')", "date_format(d, 'yyyy')"),
        ("to_base64(s)", "base64(encode(s, 'UTF-8'))"),
        ("to_base64(b)", "base64(b)"),
        ("rawtohex(b)", "lower(hex(b))"),
        ("regexp_replace(s, 'a', 'b')", "regexp_replace(s, 'a', 'b')"),
        ("regexp_replace(s, 'a', 'b', 'i')", "regexp_replace(s, '(?iu)a', 'b')"),
        ("regexp_like(s, 'a', 'nm')", "regexp_like(s, '(?sm)a')"),
        ("regexp_like(s, 'a', 'ic')", "regexp_like(s, 'a')"),
        ("regexp_like(s, 'a', 'z')", "regexp_like(s, 'a', 'z')"),
        ("upper(s)", "upper(s)"),
    ],
)
def test_a_call(expression, expected):
    assert in_spark(expression) == expected


def test_a_timestamp_becomes_the_text_that_java_shows():
    assert in_spark("concat(at)").startswith("concat_ws('', regexp_replace(replace(CAST(at AS STRING), ' ', 'T')")


def test_a_negative_start_searches_from_the_end():
    assert "locate(reverse('a'), reverse(left(s, length(s) + (-2) + length('a'))))" in in_spark("locate('a', s, -2)")
