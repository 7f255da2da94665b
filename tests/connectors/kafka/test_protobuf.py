"""Records in Protobuf, whose other side is the package protobuf: its readers read what is written, and the reverse."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.records.protobuf.descriptors import files_of_text
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from tests.connectors.kafka.jobs import compiled, rows, run
from tests.services.protobuf import ORDERS, message_class

pytestmark = pytest.mark.spark
INLINE = f'protobuf_schema = """{ORDERS}"""'
Order = message_class(ORDERS, "shop.Order")


def source(broker, topic, options):
    given = f'bootstrap.servers = "{broker.servers}", topic = {topic}, start_mode = earliest, format = protobuf'
    return f"Kafka {{ {given}, protobuf_message_name = Order, {options} }}"


def reading(broker, topic, options=INLINE):
    return f"source {{ {source(broker, topic, options)} }}\nsink {{ InMemory {{}} }}"


def writing(broker, topic, columns, row, query="select * from fake"):
    generated = f"schema {{ fields {{ {columns} }} }}, rows = [{{ kind = INSERT, fields = {row} }}]"
    given = f'bootstrap.servers = "{broker.servers}", topic = {topic}, format = protobuf'
    return (
        f"source {{ FakeSource {{ plugin_output = fake, {generated} }} }}\n"
        f'transform {{ Sql {{ query = "{query}" }} }}\n'
        f"sink {{ Kafka {{ {given}, protobuf_message_name = Order, {INLINE} }} }}"
    )


def full_order():
    order = Order(id=-7, note="ü", color="RED", price=0.25, paid=True, code=b"\x00\xff", total=2**64 - 1, weight=4e9)
    order.lines.add(sku="a", count=2**32 - 1)
    order.by_sku["k"].sku = "b"
    order.counts[3] = -1
    order.colors.extend(["NONE", "RED"])
    order.at.FromJsonString("1969-12-31T23:59:59.999999Z")
    order.took.FromJsonString("-1.5s")
    order.points.value = 0
    order.first.SetInParent()
    return order


def test_records_of_another_writer_are_rows_in_sparks_types(spark, tmp_path, kafka):
    topic = kafka.topic()
    kafka.send(topic, [full_order().SerializeToString(), b""])
    full, empty = sorted(rows(spark, tmp_path, reading(kafka, topic)), key=lambda row: row[0])
    assert full[0:8] == (-7, "ü", [("a", 2**32 - 1)], {"k": ("b", 0)}, "RED", ["NONE", "RED"], {3: -1}, 0.25)
    assert full[8:12] == (True, b"\x00\xff", Decimal(2**64 - 1), 4e9)
    assert full[12] == datetime.fromtimestamp(0) - timedelta(microseconds=1)  # in the zone of this machine
    assert full[13:] == (timedelta(seconds=-1.5), 0, ("", 0))
    assert empty == (0, None, [], {}, "NONE", [], {}, 0.0, False, b"", Decimal(0), 0.0, None, None, None, None)


def test_another_reader_reads_what_is_written(spark, tmp_path, kafka):
    topic = kafka.topic()
    columns = (
        'id = bigint, note = string, lines = "array<struct<sku:string,count:bigint>>", '
        'by_sku = "map<string,struct<count:int,sku:string>>", color = string, colors = "array<string>", '
        'counts = "map<int,smallint>", price = float, paid = boolean, code = bytes, total = "decimal(20,0)", '
        'weight = float, at = timestamp, points = int, first = "struct<sku:string>"'
    )
    row = (
        '[-7, "ü", [{"sku": "a", "count": 4294967295}], {"k": {"count": null, "sku": "b"}}, "RED", ["NONE", "RED"], '
        '{"3": -1}, 0.25, true, "AP8=", "18446744073709551615", 4.0e9, "1969-12-31T23:59:59.999999Z", 0, '
        '{"sku": null}]'
    )
    assert run(spark, tmp_path, writing(kafka, topic, columns, row)).errors == ()
    [record] = kafka.records(topic)
    wanted = full_order()
    wanted.ClearField("took")
    assert Order.FromString(record.value) == wanted


def test_nulls_and_columns_that_are_headers_are_not_written(spark, tmp_path, kafka):
    topic = kafka.topic()
    columns, row = "id = bigint, note = string", '[null, "n"]'
    text = writing(kafka, topic, columns, row, "select *, null as color from fake")
    assert run(spark, tmp_path, text).errors == ()
    headers = "format = protobuf, kafka_headers_fields = [id, note]"
    text = writing(kafka, topic, columns, row).replace("format = protobuf", headers)
    assert run(spark, tmp_path, text).errors == ()
    assert sorted(record.value for record in kafka.records(topic)) == [b"", Order(note="n").SerializeToString()]


def test_durations_are_written(spark, tmp_path, kafka):
    topic = kafka.topic()
    text = writing(kafka, topic, "id = bigint", "[1]", "select id, interval '-1.5' second as took from fake")
    assert run(spark, tmp_path, text).errors == ()
    [record] = kafka.records(topic)
    assert Order.FromString(record.value).took.ToTimedelta() == timedelta(seconds=-1.5)


def test_declared_columns_choose_and_cast_fields(spark, tmp_path, kafka):
    """Columns in any order, a part of a message, other types; one that the value does not fit marks its record."""
    topic = kafka.topic()
    kafka.send(
        topic, [Order(id=5, first={"sku": "x", "count": 2}).SerializeToString(), Order(id=300).SerializeToString()]
    )
    declared = 'schema { fields { First = "struct<count:bigint>", id = tinyint, price = string } }'
    found = rows(spark, tmp_path, reading(kafka, topic, f"{INLINE}, {declared}, format_error_handle_way = mark"))
    [good] = [row for row in found if row[3] is None]
    assert good[:3] == ((2,), 5, "0.0")
    [bad] = [row for row in found if row[3] is not None]
    assert bad[:4] == (None, None, None, "the value of `id` is not tinyint")


UNREADABLE = "it is not Protobuf of the message `shop.Order`"


def test_records_that_are_no_messages_fail_the_run_are_skipped_or_marked(spark, tmp_path, kafka):
    topic = kafka.topic()
    kafka.send(topic, [b"\x09", Order(id=1).SerializeToString()])
    declared = f"{INLINE}, schema {{ fields {{ id = bigint }} }}"
    with pytest.raises(RunError, match=f"a record does not fit: {UNREADABLE} .*offset 0.*CQ=="):
        rows(spark, tmp_path, reading(kafka, topic, declared))
    assert rows(spark, tmp_path, reading(kafka, topic, f"{declared}, format_error_handle_way = skip")) == [(1,)]
    marked = rows(spark, tmp_path, reading(kafka, topic, f"{declared}, format_error_handle_way = mark"))
    assert marked == [(1, None, None), (None, UNREADABLE, "CQ==")]


def test_a_row_that_the_message_cannot_hold_fails_the_run_before_anything_is_sent(spark, tmp_path, kafka):
    topic = kafka.topic()
    for columns, row, cause in (
        ("color = string", '["PINK"]', "the value of `color`: `PINK` is not in the enum Color: NONE, RED"),
        ('colors = "array<string>"', '[["RED", null]]', "the value of `colors`: an element is NULL"),
        ('first = "struct<count:bigint>"', '[{"count": -1}]', "the value of `first`: Value out of range: -1"),
    ):
        [error] = run(spark, tmp_path, writing(kafka, topic, columns, row)).errors
        assert f"a row cannot be written as Protobuf: {cause}" in str(error)
    assert kafka.records(topic) == []


def test_required_fields_and_a_descriptor_set(spark, tmp_path, kafka):
    """The message is in a file that protoc compiled; a record that lacks a required field does not fit."""
    text = 'syntax = "proto2";\nmessage Order { required int32 id = 1; optional int32 of = 2 [default = 4]; }'
    (tmp_path / "orders.desc").write_bytes(files_of_text(text))
    topic = kafka.topic()
    kafka.send(topic, [b"\x08\x05", b"\x10\x01"])
    file = f'protobuf_descriptor_file = "{tmp_path}/orders.desc", format_error_handle_way = mark'
    assert rows(spark, tmp_path, reading(kafka, topic, file)) == [
        (5, None, None, None),
        (None, None, "it lacks the required field `id` of the message `Order`", "EAE="),
    ]


def test_a_stream_from_topic_to_topic(spark, tmp_path, kafka):
    read, written = kafka.topic(), kafka.topic()
    kafka.send(read, [Order(id=id, note="n").SerializeToString() for id in range(3)])
    (tmp_path / "orders.proto").write_text(ORDERS)
    file = f'protobuf_descriptor_file = "{tmp_path}/orders.proto"'
    given = f'bootstrap.servers = "{kafka.servers}", topic = {written}, format = protobuf'
    text = (
        "env { job.mode = STREAMING, stream.trigger = available_now, job.name = protobuf }\n"
        f"source {{ {source(kafka, read, file)} }}\n"
        f"sink {{ Kafka {{ {given}, protobuf_message_name = shop.Order, {file} }} }}"
    )
    assert run_stream(spark, compiled(tmp_path, text), RunRequest(new_run_id())).errors == ()
    found = [Order.FromString(record.value) for record in kafka.records(written)]
    assert sorted(found, key=lambda order: order.id) == [Order(id=id, note="n") for id in range(3)]


def test_a_query_with_state_over_a_stream(spark, tmp_path, kafka):
    """Windows over the messages' own timestamps; the last record moves the watermark past the first window."""
    topic, target = kafka.topic(), tmp_path / "windows"
    for hour in ("10:00", "10:30", "12:00", "14:00"):
        order = Order(price=1.5)
        order.at.FromJsonString(f"2026-01-01T{hour}:00Z")
        kafka.send(topic, [order.SerializeToString()])
    read = source(kafka, topic, f'{INLINE}, plugin_output = o, watermark {{ column = at, delay = "1 minute" }}')
    query = "select window(at, '1 hour').start as hour, sum(price) as total from o group by window(at, '1 hour')"
    text = (
        "env { job.mode = STREAMING, stream.trigger = available_now, job.name = windows }\n"
        f"source {{ {read} }}\n"
        f'transform {{ Sql {{ query = "{query}" }} }}\n'
        f'sink {{ LocalFile {{ path = "{target}", file_format_type = parquet }} }}'
    )
    assert run_stream(spark, compiled(tmp_path, text), RunRequest(new_run_id())).errors == ()
    found = spark.read.parquet(str(target)).selectExpr("cast(hour as string)", "total").collect()
    assert sorted(map(tuple, found)) == [("2026-01-01 10:00:00", 3.0), ("2026-01-01 12:00:00", 1.5)]


def test_a_file_that_is_missing_in_the_run_is_an_error_at_its_place(spark, tmp_path, kafka):
    topic = kafka.topic()
    options = 'protobuf_descriptor_file = "nowhere/orders.proto", schema { fields { id = bigint } }'
    with pytest.raises(RunError, match=r"nowhere/orders\.proto` cannot be read: No such file") as caught:
        rows(spark, tmp_path, reading(kafka, topic, options))
    assert caught.value.diagnostics[0].code == "PEN5004"


def test_the_message_is_described_for_the_schema_lock(spark, tmp_path, kafka):
    scan = compiled(tmp_path, reading(kafka, kafka.topic())).plan.nodes()[0]
    assert scan.connector.describe(spark, scan.options).schema.names[:2] == ("id", "note")
