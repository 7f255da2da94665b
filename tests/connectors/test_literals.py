"""Values of job files as Spark SQL of a column's type: what is written, and what is refused."""

import pytest

from catalog.types.typenames import parse_type
from connectors.shared.literals import LiteralError, literal


@pytest.mark.parametrize(
    ("value", "type", "sql"),
    [
        (None, "int", "cast(null as int)"),
        (1, "string", "'1'"),
        (True, "string", "'true'"),
        ({"a": [1]}, "string", '\'{"a":[1]}\''),
        ("true", "boolean", "true"),
        ("12", "tinyint", "cast(12 as tinyint)"),
        (1.0, "bigint", "cast(1 as bigint)"),
        (1.5, "decimal(4,2)", "cast('1.5' as decimal(4,2))"),
        ("NaN", "double", "cast('NaN' as double)"),
        ("aGk=", "binary", "unbase64('aGk=')"),
        ("2024/1/2", "date", "cast('2024-01-02' as date)"),
        ("20240102", "date", "cast('2024-01-02' as date)"),
        ("CURRENT_DATE", "date", "current_date()"),
        ("12:30", "time", "cast('12:30:00' as time(6))"),
        ("2024-01-02", "timestamp", "cast('2024-01-02 00:00:00' as timestamp)"),
        ("2024-01-02T03:04:05.678", "timestamp", "cast('2024-01-02 03:04:05.678' as timestamp)"),
        ("2024-01-02T03:04:05+08:00", "timestamp", "cast('2024-01-02 03:04:05+08:00' as timestamp)"),
        ("20240102030405", "timestamp_ntz", "cast('2024-01-02 03:04:05' as timestamp_ntz)"),
        ([1, None], "array<int>", "cast(array(cast(1 as int), cast(null as int)) as array<int>)"),
        ({"a": 1}, "map<string,int>", "cast(map('a', cast(1 as int)) as map<string,int>)"),
        ([1, "x"], "struct<a:int,b:string>",
         "cast(named_struct('a', cast(1 as int), 'b', 'x') as struct<a:int,b:string>)"),
    ],
)  # fmt: skip
def test_literals(value, type, sql):
    assert literal(value, parse_type(type)) == sql


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ("x", "int"), (128, "tinyint"), ("1,5", "double"), ("*", "binary"), ("2024-02-30", "date"), ("24:00", "time"),
        ("noon", "timestamp"), (1, "map<string,int>"), (1, "array<int>"), ([1], "struct<a:int,b:int>"),
        ({"c": 1}, "struct<a:int>"), (1, "null"),
    ],
)  # fmt: skip
def test_values_of_another_type_are_refused(value, type):
    with pytest.raises(LiteralError):
        literal(value, parse_type(type))
