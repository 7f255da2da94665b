"""Records in Avro, with the schema of the block and with those of a registry."""

import io
from datetime import date, datetime, timezone
from decimal import Decimal

import fastavro
import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import RunError
from connectors.records.avro.registry import Registry
from tests.connectors.kafka.jobs import compiled, rows, run

pytestmark = pytest.mark.spark
OLD = {"type": "record", "name": "o", "fields": [{"name": "id", "type": "long"}]}
NEW = {"type": "record", "name": "o", "fields": [
    {"name": "name", "type": ["null", "string"], "default": None}, {"name": "id", "type": "int"}]}  # fmt: skip


def source(broker, topic, options):
    given = f'bootstrap.servers = "{broker.servers}", topic = {topic}, start_mode = earliest'
    return f"Kafka {{ {given}, format = avro, {options} }}"


def test_rows_come_back_in_their_types_without_a_registry(spark, tmp_path, kafka):
    topic = kafka.topic()
    columns = (
        'schema { fields { i = int, n = bigint, d = "decimal(20,3)", s = string, day = date, at = timestamp, '
        'l = "array<int>", m = "map<string,double>", r = "struct<a:int,b:string>", b = bytes } }'
    )
    row = (
        '[7, 9000000000, "12.345", "ü", "2024-05-01", "2024-05-01T10:00:00Z", [1, 2], {"k": 0.5}, '
        '{"a": 1, "b": "x"}, "AP8="]'
    )
    write = (
        f"source {{ FakeSource {{ {columns}, rows = [{{ kind = INSERT, fields = {row} }}] }} }}\n"
        f'sink {{ Kafka {{ bootstrap.servers = "{kafka.servers}", topic = {topic}, format = avro }} }}'
    )
    assert run(spark, tmp_path, write).errors == ()
    kafka.send(topic, [b"\x09"])
    marking = f"source {{ {source(kafka, topic, columns)} }}\nsink {{ InMemory {{}} }}".replace(
        "format = avro", "format = avro, format_error_handle_way = mark"
    )
    found = rows(spark, tmp_path, marking)
    [good] = [each for each in found if each[10] is None]
    moment = datetime(2024, 5, 1, 10, tzinfo=timezone.utc)
    assert (*good[:5], good[5].timestamp(), good[6], good[7], tuple(good[8])) == (
        7, 9000000000, Decimal("12.345"), "ü", date(2024, 5, 1), moment.timestamp(), [1, 2], {"k": 0.5}, (1, "x"),
    )  # fmt: skip
    [bad] = [each for each in found if each[10] is not None]
    assert bad[10:] == ("it is not Avro of its schema", "CQ==")


def test_records_without_a_registry_are_those_of_seatunnel_in_its_jobs(spark, tmp_path, kafka):
    """No part may be null, small integers are ints, and timestamps are local milliseconds: read here by fastavro."""
    topic = kafka.topic()
    columns = (
        'schema { fields { t = tinyint, n = bigint, d = "decimal(20,3)", s = string, day = date, at = timestamp, '
        'l = "array<int>", m = "map<string,smallint>", r = { a = int, at = timestamp }, b = bytes } }'
    )
    row = (
        '[7, 9000000000, "12.345", "ü", "2024-05-01", "2024-05-01T10:00:00", [1, 2], {"k": 5}, '
        '{"a": 1, "at": "2024-05-01T10:00:01"}, "AP8="]'
    )
    write = (
        f"source {{ FakeSource {{ {columns}, rows = [{{ kind = INSERT, fields = {row} }}] }} }}\n"
        f'sink {{ Kafka {{ bootstrap.servers = "{kafka.servers}", topic = {topic}, format = avro }} }}'
    )
    assert run(spark, tmp_path, write, compat=Compat.SEATUNNEL_2).errors == ()
    at = {"type": "long", "logicalType": "local-timestamp-millis"}
    schema = {"type": "record", "name": "SeaTunnelRecord", "fields": [
        {"name": "t", "type": "int"}, {"name": "n", "type": "long"},
        {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3}},
        {"name": "s", "type": "string"}, {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": at}, {"name": "l", "type": {"type": "array", "items": "int"}},
        {"name": "m", "type": {"type": "map", "values": "int"}},
        {"name": "r", "type": {"type": "record", "name": "r", "fields": [
            {"name": "a", "type": "int"}, {"name": "at", "type": at}]}},
        {"name": "b", "type": "bytes"},
    ]}  # fmt: skip
    [record] = kafka.records(topic)
    found = fastavro.schemaless_reader(io.BytesIO(record.value), schema)
    assert (found["t"], found["d"], found["day"], found["m"]) == (7, Decimal("12.345"), date(2024, 5, 1), {"k": 5})
    assert (found["at"], found["r"]["at"].second) == (datetime(2024, 5, 1, 10), 1)
    reading = f"source {{ {source(kafka, topic, columns)} }}\nsink {{ InMemory {{}} }}"
    [back] = rows(spark, tmp_path, reading, compat=Compat.SEATUNNEL_2)
    assert (*back[:3], back[7], back[8][0]) == (7, 9000000000, Decimal("12.345"), {"k": 5}, 1)


def test_records_of_several_schemas_of_a_registry(spark, tmp_path, kafka, registry):
    """Records say the id of their schema: an old one lacks a column and has another type."""
    topic = kafka.topic()
    for schema in (OLD, NEW):
        registry.add(f"{topic}-value", schema)
    kafka.send(topic, [b"\0\0\0\0\x01\x0e", b"\0\0\0\0\x02\x02\x02x\x10", b"\0\0\0\0\x09\x10", b"{}"])
    given = f'schema_registry.url = "{registry.url}", format_error_handle_way = mark'
    declared = source(kafka, topic, f"{given}, schema {{ fields {{ id = bigint, name = string }} }}")
    found = rows(spark, tmp_path, f"source {{ {declared} }}\nsink {{ InMemory {{}} }}")
    assert sorted(row[:2] for row in found if row[2] is None) == [(7, None), (8, "x")]
    assert sorted(row[2] for row in found if row[2] is not None) == [
        "it has no schema id: it is not in the format of a schema registry",
        "the registry has no schema 9 for it",
    ]


def test_a_written_schema_is_registered_once_and_read_from_the_registry(spark, tmp_path, kafka, registry):
    topic = kafka.topic()
    given = f'schema_registry.url = "{registry.url}"'
    write = (
        "source { FakeSource { schema { fields { id = bigint, name = string } }, "
        'rows = [{ kind = INSERT, fields = [1, "a"] }] } }\n'
        f'sink {{ Kafka {{ bootstrap.servers = "{kafka.servers}", topic = {topic}, format = avro, {given} }} }}'
    )
    for _ in range(2):
        assert run(spark, tmp_path, write).errors == ()
    assert len(registry.subjects[f"{topic}-value"]) == 1
    assert {record.value[:5] for record in kafka.records(topic)} == {b"\0\0\0\0\x01"}
    undeclared = source(kafka, topic, given)
    assert rows(spark, tmp_path, f"source {{ {undeclared} }}\nsink {{ InMemory {{}} }}") == [(1, "a"), (1, "a")]
    scan = compiled(tmp_path, f"source {{ {undeclared} }}\nsink {{ InMemory {{}} }}").plan.nodes()[0]
    assert [str(column) for column in scan.connector.describe(spark, scan.options).columns] == [
        "id bigint", "name string",
    ]  # fmt: skip


def test_a_subject_that_the_registry_lacks_is_an_error(registry):
    with pytest.raises(RunError, match="the server answered 404"):
        Registry(registry.url).schemas("nothing")
