"""The Kafka sink: records of rows, topics by the rows, and what a reader sees of failed and repeated commits."""

import json
from datetime import datetime, timezone
from decimal import Decimal

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.kafka.connector import Kafka, connector
from engine.spark.writing.commit import commit_all
from engine.spark.writing.open_run import begin
from engine.spark.writing.recover import resume
from engine.spark.writing.sink_checks import check
from engine.spark.writing.stage import note_positions, stage
from engine.state.layout import layout_at
from tests.connectors.jobs import rows, run_writes, stage_writes, write
from tests.connectors.kafka.jobs import compiled, reading
from tests.connectors.kafka.jobs import rows as rows_of_job

pytestmark = pytest.mark.spark

TWO = rows("select * from values (1L, 'a'), (2L, null) as t(id, name)", "id bigint", "name string")


def to(broker, topic, node=TWO, **given):
    return write(connector, node, bootstrap__servers=broker.servers, topic=topic, **given)


def own_headers(record):
    return {key: value.decode() for key, value in record.headers if key.startswith("penstock.")}


def test_rows_come_as_json_with_key_and_headers(spark, tmp_path, kafka):
    name = kafka.topic(3)
    run_writes(
        spark, [to(kafka, name, partition_key_fields=["id"], kafka_headers_fields=["name"])], str(tmp_path), "r1"
    )
    records = kafka.records(name)
    assert sorted(record.value.decode() for record in records) == ['{"id":1}', '{"id":2}']
    assert all(record.key == record.value for record in records)
    assert {dict(record.headers)["name"] for record in records} == {b"a", None}
    assert {own_headers(record)["penstock.run"] for record in records} == {"r1"}
    assert len({own_headers(record)["penstock.record"] for record in records}) == 2


def test_a_topic_that_does_not_exist_is_created(spark, tmp_path, kafka):
    run_writes(spark, [to(kafka, "made_by_the_sink")], str(tmp_path), "run")
    assert len(kafka.records("made_by_the_sink")) == 2


def test_rows_choose_their_topic(spark, tmp_path, kafka):
    node = rows("select * from values (1, 'x'), (2, 'y'), (3, 'x') as t(id, area)", "id int", "area string")
    run_writes(spark, [to(kafka, "by_area_${area}", node)], str(tmp_path), "run")
    assert sorted(json.loads(value)["id"] for value in kafka.values("by_area_x")) == [1, 3]
    assert [json.loads(value)["id"] for value in kafka.values("by_area_y")] == [2]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"format": "text"}, ["1,a", "2,"]),
        ({"format": "text", "field_delimiter": "|"}, ["1|a", "2|"]),
        ({"format": "csv"}, ["1,a", "2,"]),
        ({"format": "raw", "kafka_headers_fields": ["name"]}, None),
    ],
)
def test_formats(spark, tmp_path, kafka, options, expected):
    name, node = kafka.topic(), TWO
    if expected is None:
        node, expected = rows("select 'v' as v, 'h' as name", "v string", "name string"), ["v"]
    run_writes(spark, [to(kafka, name, node, **options)], str(tmp_path), "run")
    assert sorted(kafka.values(name)) == expected


def test_texts_of_the_value_choose_the_partition(spark, tmp_path, kafka):
    name = kafka.topic(4)
    node = rows("select * from values ('a shoe'), ('clothing'), ('x'), ('y'), ('shoe, clothing') as t(v)", "v string")
    run_writes(spark, [to(kafka, name, node, format="raw", assign_partitions=["shoe", "clothing"])], str(tmp_path), "r")
    found = {record.value.decode(): record.partition for record in kafka.records(name)}
    assert {found.pop(text) for text in ("a shoe", "shoe, clothing")} == {0}
    assert found.pop("clothing") == 1
    assert len(found) == 2
    assert set(found.values()) <= {2, 3}


def test_texts_need_a_partition_for_other_records(spark, tmp_path, kafka):
    with pytest.raises(RunError, match=r"has 2 texts, and `.*` 2 partitions"):
        run_writes(spark, [to(kafka, kafka.topic(2), assign_partitions=["a", "b"])], str(tmp_path), "old")
    with pytest.raises(RunError, match="has 2 texts, and `not_there_yet` 1 partitions"):
        run_writes(spark, [to(kafka, "not_there_yet", assign_partitions=["a", "b"])], str(tmp_path), "new")
    assert kafka.values("not_there_yet") == []


def test_rows_that_are_records(spark, tmp_path, kafka):
    name, query = kafka.topic(2), "select map('h', 'x') headers, binary('k') key, 1 partition, binary('v') value"
    columns = ("headers map<string,string>", "key binary", "partition int", "value binary")
    run_writes(spark, [to(kafka, name, rows(query, *columns), format="native")], str(tmp_path), "run")
    [record] = kafka.records(name)
    assert (record.key, record.value, record.partition, dict(record.headers)["h"]) == (b"k", b"v", 1, b"x")


def test_records_of_debezium_go_into_their_topics_in_order(spark, tmp_path, kafka):
    query = "select concat('dbz.', id % 2) topic, '{\"id\":1}' key, cast(id as string) value from range(6)"
    node = rows(query, "topic string", "key string", "value string")
    sink = write(connector, node, bootstrap__servers=kafka.servers, format="compatible_debezium_json")
    run_writes(spark, [sink], str(tmp_path), "run")
    assert [kafka.values(f"dbz.{part}") for part in (0, 1)] == [["0", "2", "4"], ["1", "3", "5"]]
    assert {record.key for record in kafka.records("dbz.0")} == {b'{"id":1}'}


def test_one_partition_takes_all_records_and_must_exist(spark, tmp_path, kafka):
    name = kafka.topic(3)
    run_writes(spark, [to(kafka, name, partition=2)], str(tmp_path), "run")
    assert [record.partition for record in kafka.records(name)] == [2, 2]
    with pytest.raises(RunError, match="has 3 partitions"):
        run_writes(spark, [to(kafka, name, partition=3)], str(tmp_path), "run2")


def test_values_of_every_type_come_back_as_they_were(spark, tmp_path, kafka):
    name = kafka.topic()
    fields = {
        "b": ("boolean", "true"),
        "i": ("int", "-7"),
        "d": ("decimal(38,18)", "cast(12.000000000000000001 as decimal(38,18))"),
        "f": ("double", "0.1D"),
        "s": ("string", r"'a\"b\n€'"),
        "y": ("binary", "x'00ff'"),
        "day": ("date", "date'1969-12-31'"),
        "at": ("timestamp", "timestamp'2024-05-01 10:00:00.123456Z'"),
        "local": ("timestamp_ntz", "timestamp_ntz'2024-05-01 10:00:00.000001'"),
        "l": ("array<int>", "array(1, null)"),
        "m": ("map<string,int>", "map('k', 1)"),
        "r": ("struct<a:int,b:string>", "named_struct('a', 1, 'b', cast(null as string))"),
        "n": ("string", "cast(null as string)"),
    }
    query = "select " + ", ".join(f"{value} as {column}" for column, (_, value) in fields.items())
    node = rows(query, *(f"{column} {type}" for column, (type, _) in fields.items()))
    run_writes(spark, [to(kafka, name, node)], str(tmp_path / "state"), "run")
    declared = "schema { fields { " + ", ".join(f'{column} = "{type}"' for column, (type, _) in fields.items()) + " } }"
    [row] = rows_of_job(
        spark, tmp_path, reading(kafka, name, "start_mode = earliest", declared.replace("binary", "bytes"))
    )
    assert row == tuple(spark.sql(query).collect()[0])
    assert row[2] == Decimal("12.000000000000000001")
    assert row[7].timestamp() == datetime(2024, 5, 1, 10, 0, 0, 123456, timezone.utc).timestamp()


def test_nothing_is_sent_before_the_commit(spark, tmp_path, kafka):
    name = kafka.topic()
    run = stage_writes(spark, [to(kafka, name)], str(tmp_path), "run")
    assert kafka.records(name) == []
    commit_all(spark, run)
    assert len(kafka.records(name)) == 2
    run_writes(spark, [to(kafka, name)], str(tmp_path), "run")
    assert len(kafka.records(name)) == 2, "a run that is repeated sends nothing"


def test_a_record_that_is_too_large_fails_before_the_commit(spark, tmp_path, kafka):
    name = kafka.topic()
    node = rows("select repeat('x', 1200000) as s", "s string")
    with pytest.raises(RunError, match=r"larger than max\.request\.size"):
        run_writes(spark, [to(kafka, name, node)], str(tmp_path), "run")
    assert kafka.records(name) == []


@pytest.mark.parametrize("sent", [0, 1, 2])
def test_an_interrupted_commit_sends_the_records_that_the_topic_lacks(spark, tmp_path, kafka, monkeypatch, sent):
    """Before the first record, after one of two, and before its end was noted; records of others do not matter."""
    frame = type(spark.range(1))
    name = kafka.topic(2)
    kafka.send(name, ["another"])
    run = stage_writes(spark, [to(kafka, name)], str(tmp_path), "run")

    def cut_off(df, *names):
        records = drop(df, *names)
        if names == ("position",):
            records.limit(sent).write.format("kafka").options(**run.places["w"].connection.spark_options).save()
            raise OSError("killed")
        return records

    drop = frame.drop
    with monkeypatch.context() as patch:
        patch.setattr(frame, "drop", cut_off)
        with pytest.raises(OSError, match="killed"):
            Kafka.commit(connector, spark, run.places["w"], run.context)
    assert len(kafka.records(name)) == 1 + sent
    kafka.send(name, ["one more"])
    commit_all(spark, run)
    records = [own_headers(record)["penstock.record"] for record in kafka.records(name) if record.headers]
    assert len(records) == len(set(records)) == 2


def test_a_killed_run_commits_the_offsets_when_it_is_resumed(spark, tmp_path, kafka, monkeypatch):
    source, target = kafka.topic(), kafka.topic()
    kafka.send(source, ['{"id": 1, "name": "a"}'])
    job = reading(kafka, source, "consumer.group = resumed").replace(
        "InMemory {}", f'Kafka {{ bootstrap.servers = "{kafka.servers}", topic = {target} }}'
    )
    plan = compiled(tmp_path, job).plan
    state = str(tmp_path / "state")

    from engine.spark.lower import lower
    from engine.spark.session import pipeline_session

    run = begin(spark, check(spark, plan.writes, "dead"), "dead", layout_at(spark, state))
    lowered = lower(pipeline_session(spark), plan.writes)
    note_positions(run, lowered.positions)
    stage(spark, run, plan.writes[0], lowered.dataframes[plan.writes[0].input])
    run.journal.decide()
    assert kafka.committed("resumed") == {}
    monkeypatch.setattr("connectors.commits.run_owner.is_alive", lambda mark: False)
    assert resume(spark, layout_at(spark, state), "dead").value == "finished"
    assert kafka.committed("resumed") == {(source, 0): 1}
    assert len(kafka.records(target)) == 1
