"""A value of every type that tables of Iceberg and Paimon hold, at the edges of the types, as Spark SQL."""

from collections.abc import Mapping
from decimal import Decimal

TYPES = {
    "boolean": "true",
    "int": "7",
    "bigint": "5000000000L",
    "float": "cast('NaN' as float)",
    "double": "double('-Infinity')",
    "decimal(38,18)": "12345678901234567890.123456789012345678BD",
    "string": "'ü \\u0000 \\'😀'",
    "binary": "x'00ff'",
    "date": "date'0001-01-01'",
    "timestamp": "timestamp'2026-03-29 01:30:00.123456Z'",
    "timestamp_ntz": "timestamp_ntz'2026-03-29 02:30:00.123456'",
    "array<int>": "array(1, null)",
    "map<string,decimal(5,2)>": "map('a', 1.50BD, 'b', null)",
    "struct<a:int,`b c`:array<string>>": "named_struct('a', null, 'b c', array('x'))",
}
"""The small integers, which Iceberg lacks, and variants, which Paimon lacks, are the formats' own."""


def query_of(types: Mapping[str, str]) -> tuple[str, list[str]]:
    """A query of two rows, one of the values and one of NULLs, with an integer `key`; and its columns."""
    values = ", ".join(f"cast({value} as {type}) c{index}" for index, (type, value) in enumerate(types.items()))
    nulls = ", ".join(f"cast(null as {type}) c{index}" for index, type in enumerate(types))
    columns = ["key int", *(f"c{index} {type}" for index, type in enumerate(types))]
    return f"select 1 key, {values} union all select 2, {nulls}", columns


def assert_same_rows(found, wanted):
    """Two DataFrames hold the same rows, whose columns are of equal types."""
    assert found.dtypes == wanted.dtypes
    shown = "to_json(struct(*), map('ignoreNullFields', 'false'))"
    assert found.selectExpr(shown).exceptAll(wanted.selectExpr(shown)).count() == 0
    assert wanted.selectExpr(shown).exceptAll(found.selectExpr(shown)).count() == 0
    place = next(index for index, (_, type) in enumerate(found.dtypes) if type == "decimal(38,18)")
    (decimal,) = [row[place] for row in found.collect() if row[place] is not None]
    assert decimal == Decimal("12345678901234567890.123456789012345678")
