"""Literals and quoted names of other dialects in Spark's spelling."""

import pytest

from catalog.diagnostics.source import PlacedText
from sql.seatunnel.spelling import in_spark_spelling


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select '\\d'", "select '\\\\d'"),
        ("select 'it''s'", "select 'it\\'s'"),
        ('select "a b"', "select `a b`"),
        ("select 1.5, .5, 1e3", "select 1.5D, .5D, 1e3D"),
        ("select 1, t.a1, `1.5`", "select 1, t.a1, `1.5`"),
        ("select t.姓名 from 表1 t", "select t.`姓名` from `表1` t"),
        ("select '姓名', `年龄`, name as naïve -- 注", "select '姓名', `年龄`, name as `naïve` -- 注"),
        ("select a -- '\\d' 1.5", "select a -- '\\d' 1.5"),
    ],
)
def test_a_spelling(query, expected):
    assert in_spark_spelling(PlacedText.bare(query)).value == expected


def test_the_text_behind_keeps_its_location():
    query = "select 'it''s', nope"
    text = in_spark_spelling(PlacedText.bare(query))
    start = text.value.index("nope")
    assert query[text.span(start, start + 4).column - 1 :] == "nope"
