"""Avro schemas as columns, and columns as Avro schemas."""

import json

import pytest

from catalog.tables.table import Column
from catalog.types.avro_types import type_of_avro
from catalog.types.datatypes import Array, Map, Struct
from catalog.types.typenames import parse_type
from connectors.records.avro.schemas import AvroSchemaError, avro_of_columns, columns_of_avro

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


def record(*fields, **more):
    return {"type": "record", "name": "r", "fields": [{"name": name, "type": type} for name, type in fields], **more}


def logical(kind, meaning, **more):
    return {"type": kind, "logicalType": meaning, **more}


HASH = {"type": "fixed", "name": "Hash", "namespace": "q", "size": 2}
SUIT = {"type": "enum", "name": "Suit", "symbols": ["A"]}
SCHEMAS = [
    "int", "null", {"type": "null"}, {"type": "long"}, SUIT, HASH,
    logical("int", "date"), logical("long", "date"), logical("int", "time-millis"), logical("long", "time-micros"),
    logical("long", "timestamp-millis"), logical("long", "timestamp-nanos"), logical("long", "local-timestamp-micros"),
    logical("int", "timestamp-millis"), logical("string", "uuid"), logical("int", "of-somebody"),
    logical("bytes", "decimal", precision=10, scale=2), logical("bytes", "decimal", precision=10),
    logical("bytes", "decimal"), logical("bytes", "decimal", precision=2, scale=5),
    logical("bytes", "decimal", precision=50, scale=2), logical("string", "decimal", precision=10, scale=2),
    logical("fixed", "decimal", precision=8, scale=2, size=4, name="f"),
    logical("fixed", "decimal", precision=20, scale=2, size=2, name="f"),
    logical("fixed", "duration", size=12, name="f"),
    {"type": "long", "spark.sql.catalyst.type": "interval day to second"},
    {"type": "int", "spark.sql.catalyst.type": "interval year"}, {"type": "int", "spark.sql.catalyst.type": "nope"},
    {"type": "array", "items": "int"}, {"type": "array", "items": ["null", "int"]},
    {"type": "map", "values": "long"}, {"type": "map", "values": ["long", "null"]},
    ["null", "int"], ["null"], [], ["int"], ["int", "long"], ["long", "null", "int"], ["float", "double"],
    ["int", "float"], ["int", "string", "null"], ["null", "int", "long", "string"],
    [logical("int", "date"), "long"], [logical("int", "date"), "null"], ["int", "int"], [["null", "int"], "string"],
    record(("a", "int"), ("b", ["null", "string"]), ("c", ["int", "string"]), ("d", ["int", "string", "null"])),
    record(("a", SUIT), ("b", "Suit"), ("c", "x.y.Suit"), namespace="x.y"),
    record(("a", HASH), ("b", "q.Hash")), record(("a", HASH), ("b", "Hash")),
    record(("next", ["null", "r"])), record(("a", "nope")), record(("a", "int"), ("a", "int")), record(),
    record(("a", "int"), ("A", "long")), record(("a-b", "int")), {"type": "record", "fields": []},
    {"type": "record", "name": "r"}, {**record(("a", "int")), "type": "error"}, {"type": ["null", "int"]},
    {"type": logical("int", "date")}, {"type": "array"}, {"type": "map"}, {"type": "enum", "name": "e"},
    {"type": "fixed", "name": "f"}, {"type": "record", "name": "r", "fields": [{"name": "a"}]}, {}, 7, True, None,
]  # fmt: skip


def read_here(schema):
    """The type as Spark writes it, with what may be null; None: it is refused."""
    try:
        type = type_of_avro(json.dumps(record(("value", schema), name="wrapping")))
    except AvroSchemaError:
        return None
    return to_spark_json(type)


def to_spark_json(type):
    match type:
        case Array(element, nullable):
            return {"type": "array", "elementType": to_spark_json(element), "containsNull": nullable}
        case Map(_, value, nullable):
            return {
                "type": "map",
                "keyType": "string",
                "valueType": to_spark_json(value),
                "valueContainsNull": nullable,
            }
        case Struct(fields):
            listed = [{"name": f.name, "type": to_spark_json(f.type), "nullable": f.nullable} for f in fields]
            return {"type": "struct", "fields": listed}
    return {"int": "integer", "bigint": "long"}.get(str(type), str(type))


@pytest.mark.spark
def test_types_are_those_of_spark(spark):
    """By what Spark reads files and `from_avro` with."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    parser = jvm.java.lang.Class.forName("org.apache.avro.Schema$Parser")
    none = gateway.new_array(jvm.java.lang.Class, 0), gateway.new_array(jvm.java.lang.Object, 0)

    def read_by_spark(schema):
        text = json.dumps(record(("value", schema), name="wrapping"))
        try:
            parsed = parser.getDeclaredConstructor(none[0]).newInstance(none[1]).parse(text)
            return json.loads(jvm.org.apache.spark.sql.avro.SchemaConverters.toSqlType(parsed).dataType().json())
        except (Py4JJavaError, PySparkException):
            return None

    def without_metadata(found):
        if isinstance(found, dict):
            return {key: without_metadata(value) for key, value in found.items() if key != "metadata"}
        return [without_metadata(item) for item in found] if isinstance(found, list) else found

    assert [read_here(schema) for schema in SCHEMAS] == [without_metadata(read_by_spark(schema)) for schema in SCHEMAS]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ('"int"', "not that of a record"),
        ('{"type": "record", "name": "r", "fields": [{"name": "a"}]}', "field `a` has no type"),
        ('{"type": "record", "name": "r", "fields": [{"name": "a", "type": 5}]}', "has no type `5`"),
        (json.dumps(record(("next", ["null", "r"]))), "`r` contains itself"),
        (json.dumps(record(("a-b", "int"))), "`a-b` is no name in Avro"),
    ],
)
def test_texts_that_are_no_schema(text, reason):
    with pytest.raises(AvroSchemaError, match=reason):
        columns_of_avro(text)


def test_names_in_files_need_not_be_those_of_avro():
    schema = json.dumps(record(("a-b", "int")))
    assert str(type_of_avro(schema, of_file=True)) == "struct<a-b:int>"


@pytest.mark.parametrize(("type", "reason"), [("map<int,int>", "no type for"), ("struct<`a b`:int>", "no field `a b`")])
def test_types_that_avro_cannot_hold(type, reason):
    with pytest.raises(AvroSchemaError, match=reason):
        avro_of_columns([Column("c", parse_type(type))], "r")
