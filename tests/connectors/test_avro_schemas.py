"""Avro schemas as columns, and columns as Avro schemas."""

import json

import pytest

from catalog.table import Column
from catalog.typenames import parse_type
from connectors.support.avro.schemas import AvroSchemaError, avro_of_columns, columns_of_avro

TYPES = (
    "boolean", "int", "bigint", "float", "double", "string", "binary", "date", "timestamp", "timestamp_ntz",
    "decimal(20,3)", "array<int>", "map<string,array<date>>", "struct<a:int,b:struct<c:decimal(4,2)>>",
)  # fmt: skip


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("nullable", [True, False])
def test_columns_come_back_from_the_schema_that_is_made_of_them(type, nullable):
    """It does not depend on what may be null: readers and writers that see this differently agree."""
    column = Column("c", parse_type(type), nullable)
    [found] = columns_of_avro(avro_of_columns([column], "r"))
    assert (found.name, str(found.type), found.nullable) == ("c", type, True)


def test_types_that_only_avro_has():
    fields = [
        {"name": "suit", "type": {"type": "enum", "name": "Suit", "symbols": ["A"]}},
        {"name": "again", "type": ["null", "Suit"]},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "wide", "type": ["int", "long"]},
        {"name": "either", "type": ["int", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "self", "type": ["null", "r"]},
    ]
    found = columns_of_avro(json.dumps({"type": "record", "name": "r", "fields": fields}))
    assert [str(column.type) for column in found] == [
        "string", "string", "binary", "bigint", "unknown", "timestamp", "unknown",
    ]  # fmt: skip
    assert [column.nullable for column in found] == [False, True, False, False, False, False, True]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ('"int"', "not that of a record"),
        ('{"type": "record", "name": "r", "fields": [{"name": "a"}]}', "a field without name or type"),
        ('{"type": "record", "name": "r", "fields": [{"name": "a", "type": 5}]}', "has no type `5`"),
    ],
)
def test_texts_that_are_no_schema(text, reason):
    with pytest.raises(AvroSchemaError, match=reason):
        columns_of_avro(text)


@pytest.mark.parametrize(("type", "reason"), [("map<int,int>", "no type for"), ("struct<`a b`:int>", "no field `a b`")])
def test_types_that_avro_cannot_hold(type, reason):
    with pytest.raises(AvroSchemaError, match=reason):
        avro_of_columns([Column("c", parse_type(type))], "r")
