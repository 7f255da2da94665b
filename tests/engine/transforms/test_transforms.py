"""What the built-in transforms make of rows, as SeaTunnel does."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import INT, STRING
from engine.transforms import names, transform
from engine.transforms.base import NativeTransform, QueryTransform, RouteTransform, SetTransform, TableTransform

A_TO_B = {"replace_from": "a", "replace_to": "b"}
TABLE = CatalogTable.of("s", [Column("Name", STRING), Column("age", INT)])


def options(plugin: str, **values: object) -> Options:
    return Options({option.name: option.default for option in transform(plugin).options} | values)


def sql(plugin: str, **values: object) -> str:
    diagnostics = Diagnostics()
    select = transform(plugin).select(TABLE, options(plugin, **values), diagnostics)
    assert select is not None, diagnostics.items
    return select.to_sql().partition(" FROM ")[0].removeprefix("SELECT ")


def test_every_transform_is_found_by_its_name():
    for name in names():
        assert transform(name.upper()) is transform(name)
        assert isinstance(
            transform(name), NativeTransform | TableTransform | QueryTransform | SetTransform | RouteTransform
        )
    assert transform("nothing") is None


def test_filter():
    assert sql("Filter", include_fields=["age", "name"]) == "`age`, `Name`"
    assert sql("Filter", exclude_fields=["NAME"]) == "`age`"


def test_field_mapper():
    assert sql("FieldMapper", field_mapper={"age": "years", "Name": "age"}) == "`age` AS `years`, `Name` AS `age`"


def test_copy():
    assert sql("Copy", fields={"again": "age", "name": "age"}) == "`age` AS `Name`, `age`, `age` AS `again`"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"convert_case": "UPPER", "prefix": "F_", "suffix": "_S"}, ["F_NAME_S", "F_AGE_S"]),
        ({"map": {"age": "years"}, "prefix": "x_"}, ["x_Name", "years"]),
        ({"specific": [{"field_name": "age", "target_name": "years"}]}, ["Name", "years"]),
        ({"replacements_with_regex": [{"replace_from": "[ae]", "replace_to": "__"}]}, ["N__m__", "__g__"]),
        ({"replacements_with_regex": [{"replace_from": "ag", "replace_to": "x", "is_regex": False}]}, ["Name", "age"]),
        ({"replacements_with_regex": [A_TO_B, {"replace_from": "e", "replace_to": "2"}]}, ["Nam2", "ag2"]),
        ({"replacements_with_regex": [A_TO_B], "convert_case": "LOWER"}, ["nbme", "bge"]),
    ],
)  # fmt: skip
def test_field_rename(rules, expected):
    select = transform("FieldRename").select(TABLE, options("FieldRename", **rules), Diagnostics())
    assert [each.name for each in select.projections] == expected


REPLACED = [
    # text, pattern, replacement, is_regex, replace_first, what Java's String makes of it
    ("Joy Ding", " ", "_", False, False, "Joy_Ding"),
    ("a.b.c", ".", "$1", False, False, "a$1b$1c"),
    ("it's \\ it's", "'", '"', False, False, 'it"s \\ it"s'),
    ("a1b22c", "[0-9]+", "#", True, False, "a#b#c"),
    ("a1b22c", "([0-9])", "<$1>", True, False, "a<1>b<2><2>c"),
    ("a1b22c", "[0-9]+", "#", True, True, "a#b22c"),
    ("a1b22c", "([a-z])([0-9])", "$2$1", True, True, "1ab22c"),
    ("abab aa", "(a)\\1", "x", True, True, "abab x"),
    ("aXb", "(?i)x", "0", True, True, "a0b"),
    ("line\nbreak x x", "x", "y", True, True, "line\nbreak y x"),
    ("price: 5", "5", "7", True, True, "price: 7"),
    ("5 5", "5", "7", True, True, "7 5"),
    ("none", "x", "y", True, True, "none"),
    ("foobar", "o(?=b)", "0", True, True, "fo0bar"),
]


@pytest.mark.spark
def test_replace_as_java_does(spark):
    selects = []
    for text, pattern, replacement, is_regex, first, _ in REPLACED:
        chosen = options("Replace", replace_field=["name"], pattern=pattern, replacement=replacement, is_regex=is_regex,
                         replace_first=first)  # fmt: skip
        expression = transform("Replace").select(TABLE, chosen, Diagnostics()).projections[0].expression
        df = spark.createDataFrame([(text, 1)], "Name string, age int")
        selects.append(df.selectExpr(f"{expression} as x").collect()[0].x)
    assert selects == [case[-1] for case in REPLACED]


@pytest.mark.spark
def test_split(spark):
    rows = [("a,b,c,d",), ("a",), (None,), (",b",), ("",)]
    select = transform("Split").select(
        CatalogTable.of("s", [Column("t", STRING)]),
        options("Split", separator=",", split_field="t", output_fields=["x", "y"]),
        Diagnostics(),
    )
    spark.createDataFrame(rows, "t string").createOrReplaceTempView("s")
    found = [tuple(row)[1:] for row in spark.sql(select.to_sql()).collect()]
    assert found == [("a", "b,c,d"), ("a", None), (None, None), ("", "b"), ("", None)]
