"""Casts and conditions of SeaTunnel's dialect."""

import pytest

from tests.sql.seatunnel.dialect_calls import in_spark


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("cast(i as string)", "CAST(i AS STRING)"),
        ("cast(s as string)", "s"),
        ("cast(l as timestamp)", "timestamp_millis(l)"),
        ("cast(i as date)", "make_date(CAST(i DIV 10000 AS INT), CAST(i DIV 100 % 100 AS INT), i % 100)"),
        ("cast(at as time)", "to_time(date_format(at, 'HH:mm:ss.SSSSSS'))"),
        ("cast(x as decimal(5,2))", "CAST(ceil(CAST(x AS DECIMAL(38,18)), 2) AS DECIMAL(5,2))"),
        ("cast(n as decimal(12,3))", "CAST(n AS DECIMAL(12,3))"),
        ("try_cast(s as int)", "TRY_CAST(s AS INT)"),
        ("coalesce(i, l, s)", "coalesce(i, CAST(l AS int), CAST(s AS int))"),
        ("ifnull(s, i)", "coalesce(s, CAST(i AS STRING))"),
        ("nullif(s, i)", "s"),
        ("nullif(i, l)", "nullif(i, l)"),
        ("multi_if(i > 1, 'a', i > 0, 'b', 'c')", "CASE WHEN i > 1 THEN 'a' WHEN i > 0 THEN 'b' ELSE 'c' END"),
        ("multi_if(i > 1, 'a')", "multi_if(i > 1, 'a')"),
        ("array(s, i)", "array(s, CAST(i AS STRING))"),
        ("array(i, x)", "array(CAST(i AS DOUBLE), CAST(x AS DOUBLE))"),
        ("array(i, i)", "array(i, i)"),
    ],
)
def test_a_call(expression, expected):
    assert in_spark(expression) == expected


def test_a_key_is_hashed_unless_it_is_base64():
    assert "substring(unhex(sha2('secret', 256)), 1, 16)" in in_spark("aes_encrypt(s, 'secret')")
    assert "unbase64(substring('base64:QQ==', 8))" in in_spark("aes_decrypt(s, 'base64:QQ==')")
