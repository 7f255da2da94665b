"""Literals as Spark prints their values in the names of columns."""

import pytest

from catalog.types.datatypes import DATE, TIMESTAMP, TIMESTAMP_NTZ, Time
from sql.naming.literal_text import number_name, typed_literal


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("007", "7"),
        ("1L", "1"),
        ("1.50", "1.50"),
        ("5.", "5"),
        ("1e3", "1000.0"),
        ("1e7", "1.0E7"),
        ("1.5e-4", "1.5E-4"),
        ("1e308", "1.0E308"),
        ("1e-400", "0.0"),
        ("3.4e38f", "3.4E38"),
        ("0.1F", "0.1"),
        ("2BD", "2"),
        ("1e3BD", "1000"),
        ("abc", "abc"),
    ],
)
def test_a_number(text, name):
    assert number_name(text) == name


@pytest.mark.parametrize(
    ("type", "text", "name"),
    [
        (DATE, "2020-2-3", "DATE '2020-02-03'"),
        (DATE, "2020", "DATE '2020-01-01'"),
        (TIMESTAMP, "2020-01-01 10:00", "TIMESTAMP '2020-01-01 10:00:00'"),
        (TIMESTAMP, "2020-01-01", "TIMESTAMP '2020-01-01 00:00:00'"),
        (TIMESTAMP, "2020-01-01 10:00:00.50", "TIMESTAMP '2020-01-01 10:00:00.5'"),
        (TIMESTAMP, "2020-01-01 10:00:00+01:00", "TIMESTAMP '2020-01-01 09:00:00'"),
        (TIMESTAMP, "2020-07-01 00:00:00 Europe/Berlin", "TIMESTAMP '2020-06-30 22:00:00'"),
        (TIMESTAMP_NTZ, "2020-01-01 10:00:00 Asia/Tokyo", "TIMESTAMP_NTZ '2020-01-01 10:00:00'"),
        (TIMESTAMP, "now", "TIMESTAMP 'now'"),
        (Time(6), "1:2:3.1234567", "TIME '01:02:03.123456'"),
    ],
)
def test_a_point_in_time(type, text, name):
    assert typed_literal(type, text) == name
