"""`schema-changes.enabled`: columns that appear in the records of a stream are added to its targets, in order."""

from contextlib import closing

import pytest

pytest.importorskip("pyspark")

from catalog.tables.table import CatalogTable
from connectors.commits import run_owner
from connectors.delta.connector import committing
from connectors.interface.source import ScanTask
from connectors.paimon.connector import connector as paimon
from connectors.records.change_logs.debezium_schema import type_of_field
from engine.runtime.run_request import RunRequest, new_run_id
from tests.connectors.given_options import options_of
from tests.connectors.kafka.jobs import compiled
from tests.engine.runtime.streaming.test_checks import errors
from tests.services.debezium import COLUMNS, ChangingTable

DECLARED = COLUMNS.replace(", { name = note, type = string }", "")
FOLLOWING = f"format = debezium_json, schema-changes.enabled = true, {DECLARED}"
KEYED = "plugin_input = c, write_mode = changelog, sequence_field = _offset, schema_evolution = add_columns"


def source(servers="b:9092", topic="t", given=FOLLOWING):
    return (
        f'Kafka {{ plugin_output = c, bootstrap.servers = "{servers}", topic = {topic}, start_mode = earliest, '
        f"metadata_columns = [offset], {given} }}"
    )


@pytest.mark.parametrize(
    ("given", "sinks", "said"),
    [
        (FOLLOWING, "Console {}", ("PEN2032", "its target cannot be changed")),
        (FOLLOWING, 'Delta { path = "d", write_mode = changelog }', ("PEN2032", "`d` refuses columns that appear")),
        (f"schema-changes.enabled = true, {DECLARED}", f'Delta {{ {KEYED}, path = "d" }}',
         ("PEN2011", "`schema-changes.enabled` has no effect with `format = json`")),
        (f"{FOLLOWING}, debezium_record_include_schema = false", f'Delta {{ {KEYED}, path = "d" }}',
         ("PEN2011", "which they are to lack")),
    ],
)  # fmt: skip
def test_what_cannot_take_added_columns_is_refused(tmp_path, given, sinks, said):
    found = errors(tmp_path, sources=source(given=given), sinks=sinks)
    assert [code for code, _ in found][:1] == [said[0]]
    assert said[1] in found[0][1]


def test_sinks_that_take_added_columns(tmp_path):
    sinks = (
        f'Delta {{ {KEYED}, path = "d" }}\nJdbc {{ {KEYED}, url = "jdbc:postgresql://db/shop", table = "o" }}\n'
        f'Iceberg {{ {KEYED}, warehouse = "w", table = "db.o" }}\nPaimon {{ {KEYED}, warehouse = "w", table = "db.o" }}'
    )
    assert errors(tmp_path, sources=source(), sinks=sinks) == []


def test_state_and_declared_tables_cannot_take_added_columns(tmp_path):
    group = "select count(*) as n from c group by window(at, '1 hour')"
    given = (
        'format = avro, schema_registry.url = "http://registry:8081", schema-changes.enabled = true, '
        'schema { fields { at = timestamp, name = string } }, watermark { column = at, delay = "1 minute" }'
    )
    transform = f'Sql {{ plugin_input = c, plugin_output = g, query = "{group}" }}'
    sinks = 'Delta { plugin_input = g, path = "d", schema_evolution = add_columns }'
    assert errors(tmp_path, sources=source(given=given), transform=transform, sinks=sinks) == [
        ("PEN2032", "`c` follows the schema of its records, and `g` is a query over several micro-batches")
    ]
    table = '{ schema { table = "shop.public.o", fields { id = bigint }, primaryKey { columnNames = [id] } } }'
    route = f"TableRoute {{ plugin_input = c, plugin_output = r, table_column = name, tables_configs = [{table}] }}"
    given = KEYED.replace("_input = c", "_input = r").replace("_offset", "id")
    sinks = f'Delta {{ {given}, path = "d/${{table_name}}" }}'
    found = errors(tmp_path, sources=source(), transform=route, sinks=sinks)
    assert [code for code, _ in found] == ["PEN2032"]
    assert "declares the columns of each table" in found[0][1]


@pytest.mark.parametrize(
    ("field", "type"),
    [
        ({"type": "int64"}, "bigint"),
        ({"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal",
          "parameters": {"scale": "2", "connect.decimal.precision": "20"}}, "decimal(20,2)"),
        ({"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": "0",
          "connect.decimal.precision": "39"}}, "None"),
        ({"type": "int64", "name": "io.debezium.time.MicroTimestamp"}, "timestamp_ntz"),
        ({"type": "string", "name": "io.debezium.time.ZonedTimestamp"}, "timestamp"),
        ({"type": "array", "items": {"type": "int32"}}, "None"),
    ],
)  # fmt: skip
def test_types_of_debezium(field, type):
    assert str(type_of_field(field)) == type


def publish(broker, topic, changes):
    from kafka import KafkaProducer

    with closing(KafkaProducer(bootstrap_servers=broker.servers)) as producer:
        for key, value in changes:
            producer.send(topic, value, key=key)
        producer.flush()


@pytest.mark.spark
def test_an_added_column_reaches_every_target(spark, tmp_path, kafka, postgres, monkeypatch):
    """The first commit with the new column is interrupted between the targets; the next start ends it."""
    from engine.runtime.streaming.run_stream import run_stream

    postgres.clear()
    topic, changing = kafka.topic(), ChangingTable(has_schema=True, keys=12)
    publish(kafka, topic, changing.changes(30))
    sinks = (
        f'Delta {{ {KEYED}, path = "{tmp_path}/delta" }}\n'
        f'Iceberg {{ {KEYED}, warehouse = "{tmp_path}/house", table = "db.people" }}\n'
        f'Paimon {{ {KEYED}, path = "{tmp_path}/paimon" }}\n'
        f'Jdbc {{ {KEYED}, url = "{postgres.url}", user = "{postgres.user}", password = "{postgres.password}", '
        "table = people }"
    )
    env = "job.mode = STREAMING, stream.trigger = available_now, job.name = added, job.retry.times = 0"
    given = f"max_offsets = 19, {FOLLOWING}"
    text = f"env {{ {env} }}\nsource {{ {source(kafka.servers, topic, given)} }}\nsink {{ {sinks} }}"
    commit, interrupted = committing.commit, []

    def interrupt(session, staged, *more):
        commit(session, staged, *more)
        if "note" in staged.changes and not interrupted:
            interrupted.append(staged)
            raise RuntimeError("interrupted between the targets")

    monkeypatch.setattr(committing, "commit", interrupt)
    failed = run_stream(spark, compiled(tmp_path, text), RunRequest(new_run_id()))
    assert [str(error) for error in failed.errors] == ["interrupted between the targets"]
    monkeypatch.setattr(run_owner, "has_died", lambda mark: True)  # as if the process had been killed there
    assert run_stream(spark, compiled(tmp_path, text), RunRequest(new_run_id())).errors == ()
    columns = ("id", "name", "amount", "day", "cast(at as timestamp_ntz) as at", "note")
    delta = spark.read.format("delta").load(str(tmp_path / "delta")).selectExpr(*columns).collect()
    assert sorted(map(tuple, delta)) == changing.held()
    stored = postgres.rows("select id, name, amount, day, at at time zone 'UTC', note from people")
    assert sorted(stored) == changing.held()
    options = options_of(paimon.source_options, path=f"{tmp_path}/paimon")
    read = paimon.read(spark, ScanTask(options, CatalogTable.unknown("paimon"))).selectExpr(*columns).collect()
    assert sorted(map(tuple, read)) == changing.held()
    iceberg = spark.read.format("iceberg").load(f"{tmp_path}/house/db/people").selectExpr(*columns).collect()
    assert sorted(map(tuple, iceberg)) == changing.held()


@pytest.mark.spark
def test_a_version_of_a_registry_adds_its_column(spark, tmp_path, kafka, postgres, registry):
    """A record of the first version comes after one of the second; the second version appears between two runs."""
    from engine.runtime.streaming.run_stream import run_stream

    postgres.clear()
    topic = kafka.topic()
    id, name = {"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"], "default": None}
    registry.add(f"{topic}-value", {"type": "record", "name": "o", "fields": [id]})
    given = (
        f'format = avro, schema_registry.url = "{registry.url}", schema-changes.enabled = true, max_offsets = 1, '
        "schema { fields { id = bigint } }"
    )
    sinks = (
        f'Delta {{ plugin_input = c, path = "{tmp_path}/delta", schema_evolution = add_columns }}\n'
        f'Jdbc {{ plugin_input = c, url = "{postgres.url}", user = "{postgres.user}", table = people, '
        f'password = "{postgres.password}", schema_evolution = add_columns }}'
    )
    env = "job.mode = STREAMING, stream.trigger = available_now, job.name = registry"
    text = f"env {{ {env} }}\nsource {{ {source(kafka.servers, topic, given)} }}\nsink {{ {sinks} }}"

    def go_on():
        assert run_stream(spark, compiled(tmp_path, text), RunRequest(new_run_id())).errors == ()
        return spark.read.format("delta").load(str(tmp_path / "delta")).drop("_offset")

    kafka.send(topic, [b"\0\0\0\0\x01\x02"])
    assert [tuple(row) for row in go_on().collect()] == [(1,)]
    registry.add(f"{topic}-value", {"type": "record", "name": "o", "fields": [id, name]})
    kafka.send(topic, [b"\0\0\0\0\x02\x04\x02\x02x", b"\0\0\0\0\x01\x06"])
    expected = [(1, None), (2, "x"), (3, None)]
    assert sorted(tuple(row) for row in go_on().select("id", "name").collect()) == expected
    assert sorted(postgres.rows("select id, name from people")) == expected
