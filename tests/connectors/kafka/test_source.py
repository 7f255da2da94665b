"""The Kafka source in batch: where it starts, the formats, records that do not fit, and the group's offsets."""

import json
from datetime import datetime, timezone
from decimal import Decimal

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import RunError
from tests.connectors.kafka.jobs import COLUMNS, reading, rows, run

pytestmark = pytest.mark.spark


def numbered(*ids: int) -> list[str]:
    return [f'{{"id": {id}, "name": "n{id}"}}' for id in ids]


def ids(found: list[tuple]) -> list[int]:
    return sorted(row[0] for row in found)


@pytest.fixture(scope="module")
def topic(kafka):
    """Two partitions: 0, 1, 2 at the times 1000, 2000, 3000, and 10, 11."""
    name = kafka.topic(2)
    for index, value in enumerate(numbered(0, 1, 2)):
        kafka.send(name, [value], partition=0, timestamp_ms=1000 * (index + 1))
    kafka.send(name, numbered(10, 11), partition=1, timestamp_ms=500)
    return name


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("start_mode = earliest", [0, 1, 2, 10, 11]),
        ("start_mode = latest", []),
        ("start_mode = timestamp, start_mode.timestamp = 1500", [1, 2]),
        ("start_mode = timestamp, start_mode.timestamp = 500, start_mode.end_timestamp = 3000", [0, 1, 10, 11]),
        pytest.param("start_mode = timestamp, start_mode.timestamp = 9999999", [], marks=pytest.mark.soak),
        ("start_mode = specific_offsets, start_mode.offsets = { {topic}-0 = 2, {topic}-1 = 1 }", [2, 11]),
        ("start_mode = specific_offsets, consumer.group = read_once, start_mode.offsets = { {topic}-0 = 2 }", [2, 11]),
        ("start_mode = group_offsets, consumer.group = read_once", [2, 11]),
        ("start_mode = group_offsets, consumer.group = new", [0, 1, 2, 10, 11]),
        ("start_mode = group_offsets, consumer.group = new_2, kafka.config { auto.offset.reset = latest }", []),
    ],
)
def test_a_read_starts_where_the_start_mode_says(spark, tmp_path, kafka, topic, options, expected):
    kafka.commit("read_once", topic, {0: 2, 1: 1})
    options = options.replace("{topic}", topic) + ", commit_on_checkpoint = false"
    assert ids(rows(spark, tmp_path, reading(kafka, topic, options))) == expected


def test_a_new_group_of_a_seatunnel_job_starts_at_the_end_as_kafka_has_it(spark, tmp_path, kafka, topic):
    given = "start_mode = group_offsets, consumer.group = new_3, commit_on_checkpoint = false"
    job = reading(kafka, topic, given)
    assert rows(spark, tmp_path, job, compat=Compat.SEATUNNEL_2) == []
    earliest = reading(kafka, topic, f"{given}, kafka.config {{ auto.offset.reset = earliest }}")
    assert ids(rows(spark, tmp_path, earliest, compat=Compat.SEATUNNEL_2)) == [0, 1, 2, 10, 11]
    committing = reading(kafka, topic, "start_mode = group_offsets, consumer.group = new_4")
    assert rows(spark, tmp_path, committing, compat=Compat.SEATUNNEL_2) == []
    assert kafka.committed("new_4") == {(topic, 0): 3, (topic, 1): 2}


@pytest.mark.parametrize(
    "timeouts",
    [
        "request.timeout.ms = 180000",
        "delivery.timeout.ms = 40000",
        pytest.param("request.timeout.ms = 60000", marks=pytest.mark.soak),
        pytest.param("request.timeout.ms = 180000, delivery.timeout.ms = 200000", marks=pytest.mark.soak),
    ],
)
def test_timeouts_of_kafka_in_any_legal_combination(spark, tmp_path, kafka, topic, timeouts):
    given = f"kafka.config {{ {timeouts} }}"
    job = reading(kafka, topic, f"start_mode = earliest, {given}")
    written = kafka.topic()
    sink = f'Kafka {{ bootstrap.servers = "{kafka.servers}", topic = {written}, {given} }}'
    assert run(spark, tmp_path, job.replace("InMemory {}", sink)).errors == ()
    assert len(kafka.values(written)) == 5


def test_several_topics_and_patterns(spark, tmp_path, kafka):
    for name in ("shop.orders", "shop.refunds", "other"):
        kafka.create(name)
        kafka.send(name, numbered(len(name)))
    listed = reading(kafka, "shop.orders, other", "start_mode = earliest")
    assert ids(rows(spark, tmp_path, listed)) == [5, 11]
    matching = reading(kafka, "shop[.].*", "start_mode = earliest, pattern = true, metadata_columns = [topic]")
    assert rows(spark, tmp_path, matching) == [(11, "n11", "shop.orders"), (12, "n12", "shop.refunds")]
    assert rows(spark, tmp_path, reading(kafka, "nothing.*", "pattern = true")) == []


def test_a_topic_that_does_not_exist_is_an_error(spark, tmp_path, kafka):
    kafka.create("clicks")
    with pytest.raises(RunError, match="the topic `click` does not exist") as caught:
        rows(spark, tmp_path, reading(kafka, "click", "start_mode = earliest"))
    assert caught.value.diagnostics[0].help == "did you mean `clicks`?"


def test_values_are_read_strictly_in_their_types(spark, tmp_path, kafka):
    name = kafka.topic()
    columns = (
        'schema { fields { i = int, d = "decimal(10,2)", at = timestamp, tags = "array<int>", '
        'who = "struct<n: string>", ok = boolean, raw = bytes, m = "map<string, double>" } }'
    )
    value = (
        '{"i": "7", "d": 1.25, "at": "2024-05-01T10:00:00Z", "tags": [1, "2"], "who": {"n": "x"}, "ok": true, '
        '"raw": "AAE=", "m": {"a": 1}, "unknown": 1}'
    )
    kafka.send(name, [value, '{"i": null}'])
    found = rows(spark, tmp_path, reading(kafka, name, "start_mode = earliest", columns))
    at = datetime(2024, 5, 1, 10, tzinfo=timezone.utc).replace(tzinfo=None)
    first = next(row for row in found if row[0] == 7)
    assert first[1] == Decimal("1.25")
    assert first[3] == [1, 2]
    assert first[4].n == "x"
    assert (first[5], bytes(first[6]), first[7]) == (True, b"\0\1", {"a": 1.0})
    assert first[2].timestamp() == at.replace(tzinfo=timezone.utc).timestamp()
    assert (None,) * 8 in found


CUT = [
    ("format = json", 'd = "decimal(10,2)"', '{{"d": {}}}', "1.25", "1.255"),
    ("format = json", 'd = "decimal(10,2)"', '{{"d": "{}"}}', "1.25", "1,25"),
    ("format = json", 'd = "array<struct<x: decimal(10,2)>>"', '{{"d": [{{"x": {}}}]}}', "1.25", "1.255"),
    ("format = json", "d = date", '{{"d": "{}"}}', "2024-05-01", "2024-05-01 10:00:00"),
    ("format = text", 'd = "decimal(10,2)", e = int', "{},1", "1.25", "1.255"),
    ("format = csv", "d = date, e = int", "{},1", "2024-05-01", "2024-05-01 10:00:00"),
]


def test_no_value_of_a_record_is_cut_to_its_type(spark, tmp_path, kafka):
    """Digits behind the point, the time behind a date; under SeaTunnel's rules they are cut."""
    for format, fields, record, whole, cut in CUT:
        name = kafka.topic()
        kafka.send(name, [record.format(whole), record.format(cut)])
        given = f"start_mode = earliest, {format}, format_error_handle_way = mark"
        found = rows(spark, tmp_path, reading(kafka, name, given, f"schema {{ fields {{ {fields} }} }}"))
        errors = sorted(str(row[-2]) for row in found)
        assert errors[0] == "None", (format, fields)
        assert errors[1].startswith(("the value of `d` is not", "it is not a JSON object")), (format, fields, errors)
    job = reading(kafka, name, "start_mode = earliest, format = csv", "schema { fields { d = date, e = int } }")
    assert len(rows(spark, tmp_path, job, compat=Compat.SEATUNNEL_2)) == 2


BAD = ['{"id": 1.5, "name": "x"}', "{not json", '{"id": [1]}', "[]", ""]


@pytest.mark.parametrize("value", [*BAD[:2], *(pytest.param(value, marks=pytest.mark.soak) for value in BAD[2:])])
def test_a_record_that_does_not_fit_fails_the_run_and_is_named(spark, tmp_path, kafka, value):
    name = kafka.topic()
    kafka.send(name, [*numbered(1), value])
    with pytest.raises(RunError, match=rf"a record does not fit: .* \(topic {name}, partition 0, offset 1\)") as caught:
        rows(spark, tmp_path, reading(kafka, name, "start_mode = earliest, consumer.group = failing"))
    assert not kafka.committed("failing")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PEN5004"
    assert "format_error_handle_way" in diagnostic.help
    written = (tmp_path / "job.conf").read_text().splitlines()[diagnostic.span.line - 1]
    assert written[diagnostic.span.column - 1 :].startswith("{ fields")


def test_records_that_do_not_fit_are_left_out_or_marked(spark, tmp_path, kafka):
    name = kafka.topic()
    kafka.send(name, [*numbered(1), *BAD, None])
    skipping = "start_mode = earliest, format_error_handle_way = skip"
    assert rows(spark, tmp_path, reading(kafka, name, skipping)) == [(1, "n1")]
    [warning] = run(spark, tmp_path, reading(kafka, name, skipping)).warnings
    assert warning.code == "PEN4420"
    assert "left out 5 of 7 records" in warning.message
    other = kafka.topic()
    kafka.send(other, BAD)
    filtered = reading(kafka, other, f"{skipping}, plugin_output = k").replace(
        "sink {", 'transform { Sql { plugin_output = q, query = "select * from k where id > 0" } }\nsink {'
    )
    [warning] = run(spark, tmp_path, filtered).warnings
    assert warning.code == "PEN4420"
    assert "left out all 5 records" in warning.message
    marking = "start_mode = earliest, format_error_handle_way = mark"
    found = rows(spark, tmp_path, reading(kafka, name, marking))
    assert [row for row in found if row[2] is None] == [(1, "n1", None, None)]
    marked = {row[3]: row[2] for row in found if row[2] is not None}
    assert sorted(marked) == sorted(BAD)
    assert marked[BAD[0]] == "the value of `id` is not bigint"
    assert marked[BAD[1]] == "it is not a JSON object of these columns"


@pytest.mark.parametrize(
    ("options", "value", "expected"),
    [
        ("format = text", "1,a b", (1, "a b")),
        pytest.param("format = text", "1", (1, None), marks=pytest.mark.soak),
        ('format = text, field_delimiter = "||"', "1||a|b", (1, "a|b")),
        pytest.param("format = csv", '1,"a, b"', (1, "a, b"), marks=pytest.mark.soak),
        ('format = csv, field_delimiter = ";"', "1;a,b", (1, "a,b")),
    ],
)
def test_delimited_texts(spark, tmp_path, kafka, options, value, expected):
    name = kafka.topic()
    kafka.send(name, [value, "x,y", "1,2,3", "1;2;3", "1||2||3"])
    options += ", start_mode = earliest, format_error_handle_way = mark, metadata_columns = [offset]"
    found = {row[2]: row for row in rows(spark, tmp_path, reading(kafka, name, options))}
    assert found[0][:2] == expected
    assert found[0][3] is None
    assert found[1][3] == "the value of `id` is not bigint"
    assert sum("3 values for 2 columns" in (row[3] or "") for row in found.values()) == 1


def test_bytes_and_what_a_record_says_of_itself(spark, tmp_path, kafka):
    name = kafka.topic()
    kafka.send(name, [b"\xff\x00"], key=b"k", headers=[("h", b"v")], timestamp_ms=1234)
    metadata = "metadata_columns = [key, headers, timestamp, partition, offset, topic]"
    [row] = rows(spark, tmp_path, reading(kafka, name, f"start_mode = earliest, format = raw, {metadata}", ""))
    assert (bytes(row[0]), bytes(row[1]), row[2][0].key) == (b"\xff\x00", b"k", "h")
    assert (row[3].timestamp(), *row[4:]) == (1.234, 0, 0, name)
    [native] = rows(spark, tmp_path, reading(kafka, name, "start_mode = earliest, format = native", ""))
    assert (native[0], native[2:6]) == ({"h": "v"}, (0, 0, 1234, "CREATE_TIME"))
    [content] = rows(spark, tmp_path, reading(kafka, name, "start_mode = earliest, format = text", ""))
    assert len(content) == 1


def test_records_of_kafka_connect(spark, tmp_path, kafka):
    name = kafka.topic()
    one = {"schema": {"type": "struct"}, "payload": {"id": 1, "name": "a"}}
    many = {"schema": {}, "payload": [{"id": 2, "name": "b"}, {"id": 3, "more": 1}]}
    kafka.send(
        name, [json.dumps(one), json.dumps(many), '{"id": 4}', '{"payload": null}', '{"payload": [{"id": "x"}]}']
    )
    options = "start_mode = earliest, format = COMPATIBLE_KAFKA_CONNECT_JSON, format_error_handle_way = "
    found = rows(spark, tmp_path, reading(kafka, name, f"{options} skip"))
    assert found == [(1, "a"), (2, "b"), (3, None)]
    marked = rows(spark, tmp_path, reading(kafka, name, f"{options} mark"))
    assert len([row for row in marked if row[2]]) == 3
    bare = rows(spark, tmp_path, reading(kafka, name, f"{options} skip, value_converter_schema_enabled = false"))
    assert (4, None) in bare


def test_a_group_reads_every_record_once(spark, tmp_path, kafka):
    """Run after run, also with partitions that are added in between."""
    name = kafka.topic()
    job = reading(kafka, name, "consumer.group = once")
    kafka.send(name, numbered(1, 2))
    assert ids(rows(spark, tmp_path, job)) == [1, 2]
    assert kafka.committed("once") == {(name, 0): 2}
    assert rows(spark, tmp_path, job) == []
    kafka.add_partitions(name, 2)
    kafka.send(name, numbered(3), partition=0)
    kafka.send(name, numbered(4, 5), partition=1)
    assert ids(rows(spark, tmp_path, job)) == [3, 4, 5]
    assert kafka.committed("once") == {(name, 0): 3, (name, 1): 2}


def test_a_run_that_fails_commits_no_offsets(spark, tmp_path, kafka):
    name = kafka.topic()
    kafka.send(name, numbered(1))
    job = reading(kafka, name, "consumer.group = undone").replace("InMemory {}", "InMemory { throw_exception = true }")
    with pytest.raises(RunError, match="throw_exception"):
        rows(spark, tmp_path, job)
    assert kafka.committed("undone") == {}


def test_brokers_that_do_not_answer_are_reported(spark, tmp_path, kafka):
    class Silent:
        servers = "127.0.0.1:1"

    quick = "kafka.config { default.api.timeout.ms = 1500, request.timeout.ms = 1000 }"
    with pytest.raises(RunError, match=r"Kafka at `127\.0\.0\.1:1`: .*Timeout") as caught:
        rows(spark, tmp_path, "env { job.retry.times = 0 }\n" + reading(Silent(), "t", quick))
    assert "bootstrap.servers" in (caught.value.diagnostics[0].help or "")


def test_many_readers_of_one_scan_read_the_same_records(spark, tmp_path, kafka):
    name = kafka.topic()
    kafka.send(name, numbered(*range(20)))
    source = f'Kafka {{ plugin_output = k, bootstrap.servers = "{kafka.servers}", topic = {name}, {COLUMNS} }}'
    sinks = "\n".join(f'Delta {{ plugin_input = k, path = "{tmp_path}/{each}" }}' for each in "ab")
    result = run(spark, tmp_path, f"source {{ {source} }}\nsink {{ {sinks} }}")
    assert [write.rows for write in result.writes] == [20, 20]
