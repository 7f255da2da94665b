"""Names of collations, held to `collations()` of a live Spark."""

import pytest

from catalog.types.collations import all_names, full_name
from catalog.types.typetext import TypeTextError, parse_type


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("utf8_binary", "UTF8_BINARY"),
        ("Utf8_Lcase_Rtrim", "UTF8_LCASE_RTRIM"),
        ("unicode_ai_ci", "UNICODE_CI_AI"),
        ("en_cs_as", "en"),
        ("SR_CYRL_srb_rtrim_ai", "sr_Cyrl_SRB_AI_RTRIM"),
        ("system.builtin.de", "de"),
        ("utf8_lcase_ci", None),
        ("unicode_ci_cs", None),
        ("unicode_ci_ci", None),
        ("en_us", None),
        ("other.builtin.de", None),
        ("", None),
    ],
)
def test_the_full_name(written, name):
    assert full_name(written) == name


def test_every_name_is_its_own_full_name():
    assert all(full_name(name.lower()) == name for name in all_names())


def test_a_type_with_a_collation():
    assert str(parse_type("array<string collate unicode_ci>")) == "array<string collate UNICODE_CI>"
    assert str(parse_type("string collate utf8_binary")) == "string"
    with pytest.raises(TypeTextError, match="no collation `nope`"):
        parse_type("struct<a: string collate nope>")
    with pytest.raises(TypeTextError, match="expected the name of a collation"):
        parse_type("string collate")


@pytest.mark.spark
def test_spark_has_the_same_names(spark):
    assert {row.name for row in spark.sql("select name from collations()").collect()} == set(all_names())
