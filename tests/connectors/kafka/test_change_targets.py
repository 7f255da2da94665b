"""Change logs end to end: the tables that they are applied to hold at the end what the changing table holds."""

import os
from contextlib import closing

import pytest

from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from tests.connectors.kafka.jobs import compiled, rows, run
from tests.services.debezium import COLUMNS, ChangingTable, envelope

pytestmark = pytest.mark.spark
CHANGES = int(os.environ.get("PENSTOCK_TEST_CHANGE_LOG", "100"))
"""In the log that a table follows, in parts of which the columns change; `make soak` sets more."""


def publish(broker, topic, changes):
    """Send records, those of one key into one partition."""
    from kafka import KafkaProducer

    with closing(KafkaProducer(bootstrap_servers=broker.servers)) as producer:
        for key, value in changes:
            producer.send(topic, value, key=key)
        producer.flush()


def applied(broker, postgres, topic, folder, env=""):
    """A job that applies the changes of a topic to a Delta table and one of PostgreSQL."""
    source = (
        f'Kafka {{ plugin_output = c, bootstrap.servers = "{broker.servers}", topic = {topic}, start_mode = earliest, '
        f"format = debezium_json, metadata_columns = [offset], {COLUMNS}, max_offsets = {CHANGES} }}"
    )
    keyed = "plugin_input = c, write_mode = changelog, sequence_field = _offset"
    sinks = (
        f'Delta {{ {keyed}, path = "{folder}" }}\n'
        f'Jdbc {{ {keyed}, url = "{postgres.url}", user = "{postgres.user}", password = "{postgres.password}", '
        f'table = "{folder.name}" }}'
    )
    return f"env {{ {env} }}\nsource {{ {source} }}\nsink {{ {sinks} }}"


SELECTED = "id, name, amount, day, {at}, note"


def held(spark, postgres, folder):
    columns = SELECTED.format(at="cast(at as timestamp_ntz) as at")
    delta = spark.read.format("delta").load(str(folder)).selectExpr(*columns.split(", "))
    local = SELECTED.format(at="at at time zone 'UTC'")
    return sorted(map(tuple, delta.collect())), sorted(postgres.rows(f"select {local} from {folder.name}"))


def test_a_table_follows_its_change_log_in_batch_and_as_a_stream(spark, tmp_path, kafka, postgres):
    postgres.clear()
    topic, changing = kafka.topic(2), ChangingTable()
    publish(kafka, topic, changing.changes(CHANGES))
    batch, streamed = tmp_path / "batch", tmp_path / "streamed"
    assert run(spark, tmp_path, applied(kafka, postgres, topic, batch)).errors == ()
    assert held(spark, postgres, batch) == (changing.held(), changing.held())
    env = "job.mode = STREAMING, stream.trigger = available_now, job.name = changes"
    for more in (0, CHANGES // 2):  # it goes on where it ended; records have a schema now
        changing.has_schema = more > 0
        publish(kafka, topic, changing.changes(more))
        job = compiled(tmp_path, applied(kafka, postgres, topic, streamed, env))
        assert run_stream(spark, job, RunRequest(new_run_id())).errors == ()
    assert held(spark, postgres, streamed) == (changing.held(), changing.held())


def test_a_topic_of_many_tables(spark, tmp_path, kafka):
    topic = kafka.topic()
    ann, order, more = {"id": 1, "name": "Ann"}, {"id": 1, "item": "pen"}, {"id": 2, "item": "ink"}
    changes = [("c", None, ann, "people"), ("c", None, order, "orders"), ("c", None, more, "orders"),
               ("u", ann, {**ann, "name": "Anna"}, "people"), ("d", order, None, "orders")]  # fmt: skip
    kafka.send(topic, [envelope(*change, table=table) for *change, table in changes])
    columns = "schema { fields { id = bigint, name = string, item = string } }"
    tables = ", ".join(
        f'{{ schema {{ table = "shop.public.{name}", fields {{ id = bigint, {field} = string, _offset = bigint }}, '
        f"primaryKey {{ columnNames = [id] }} }} }}"
        for name, field in (("people", "name"), ("orders", "item"))
    )
    run_text = (
        f'source {{ Kafka {{ plugin_output = c, bootstrap.servers = "{kafka.servers}", topic = {topic}, {columns}, '
        f"start_mode = earliest, format = debezium_json, metadata_columns = [table_path, offset] }} }}\n"
        f"transform {{ TableRoute {{ plugin_input = c, plugin_output = shop, table_column = _table_path, "
        f"tables_configs = [{tables}] }} }}\n"
        f'sink {{ Delta {{ plugin_input = shop, path = "{tmp_path}/${{table_name}}", write_mode = changelog, '
        f"sequence_field = _offset }} }}"
    )
    assert run(spark, tmp_path, run_text).errors == ()
    found = {name: spark.read.format("delta").load(str(tmp_path / name)).collect() for name in ("people", "orders")}
    assert [tuple(row) for row in found["people"]] == [(1, "Anna", 3)]
    assert [tuple(row) for row in found["orders"]] == [(2, "ink", 2)]


def test_an_update_of_the_key_without_a_sequence(spark, tmp_path, kafka, postgres):
    """The row before it deletes the old key, in a database as in Delta."""
    postgres.clear()
    topic = kafka.topic()
    postgres.run("create table moved (id bigint primary key, name text not null)")
    postgres.run("insert into moved values (1, 'a'), (3, 'c')")
    old, new = {"id": 1, "name": "a"}, {"id": 2, "name": "b"}
    kafka.send(topic, [envelope("u", old, new), envelope("d", {"id": 3, "name": None}, None)])
    source = (
        f'Kafka {{ bootstrap.servers = "{kafka.servers}", topic = {topic}, start_mode = earliest, '
        f"format = debezium_json, schema {{ fields {{ id = bigint, name = string }} }} }}"
    )
    sink = (
        f'Jdbc {{ url = "{postgres.url}", user = "{postgres.user}", password = "{postgres.password}", table = moved, '
        f"write_mode = changelog, primary_keys = [id] }}"
    )
    assert run(spark, tmp_path, f"source {{ {source} }}\nsink {{ {sink} }}").errors == ()
    assert postgres.rows("select id, name from moved") == [(2, "b")]


def test_a_change_log_that_is_written_is_read_as_the_same_changes(spark, tmp_path, kafka):
    """In each format: one job writes all of them, and one reads them."""
    topics = {name: kafka.topic(2) for name in ("debezium_json", "canal_json", "maxwell_json", "ogg_json")}
    columns = 'schema { fields { id = bigint, amount = "decimal(10,2)", day = date, b = bytes } }'
    values = [("INSERT", 1, "1.50"), ("UPDATE_BEFORE", 1, "1.50"), ("UPDATE_AFTER", 1, "2.50"), ("DELETE", 1, "2.50")]
    listed = ", ".join(
        f'{{ kind = {kind}, fields = [{id}, "{amount}", "2024-05-01", "AP8="] }}' for kind, id, amount in values
    )
    sinks = [
        f'Kafka {{ bootstrap.servers = "{kafka.servers}", topic = {topic}, format = {name}, '
        f"partition_key_fields = [id] }}"
        for name, topic in topics.items()
    ]
    write = f"source {{ FakeSource {{ {columns}, rows = [{listed}] }} }}\nsink {{ {chr(10).join(sinks)} }}"
    assert run(spark, tmp_path, write).errors == ()
    sources = [
        f'Kafka {{ plugin_output = {name}, bootstrap.servers = "{kafka.servers}", topic = {topic}, '
        f"start_mode = earliest, format = {name}, metadata_columns = [offset], {columns} }}"
        for name, topic in topics.items()
    ]
    with_kinds = [f"{name}_kinds" for name in topics]
    transforms = [
        f"RowKindExtractor {{ plugin_input = {name}, plugin_output = {name}_kinds, custom_field_name = kind }}"
        for name in topics
    ]
    union = " union all ".join(f"select *, '{name}' as format from {name}_kinds" for name in topics)
    transforms.append(f'Sql {{ plugin_input = [{", ".join(with_kinds)}], query = "{union}" }}')
    blocks = (("source", sources), ("transform", transforms), ("sink", ["InMemory {}"]))
    job = "\n".join(f"{name} {{ {chr(10).join(lines)} }}" for name, lines in blocks)
    found = rows(spark, tmp_path, job)
    for name in topics:
        read = sorted((row for row in found if row[6] == name), key=lambda row: row[4])
        told = [(row[4], row[5], row[0], str(row[1])) for row in read]
        assert told == [(0, "+I", 1, "1.50"), (1, "-D", 1, "1.50"), (2, "+I", 1, "2.50"), (3, "-D", 1, "2.50")], name
        assert {(str(row[2]), bytes(row[3])) for row in read} == {("2024-05-01", b"\0\xff")}, name
