"""Records as SeaTunnel's sinks write them: change logs with two fields, and timestamps without a zone."""

import json

import pytest

from catalog.compat import Compat
from tests.connectors.kafka.jobs import reading, rows, run

pytestmark = pytest.mark.spark

JOB = """
source {{ FakeSource {{
  schema {{ fields {{ id = int, at = timestamp, many = "array<timestamp>" }}, primaryKey {{ columnNames = [id] }} }}
  rows = [
    {{ kind = INSERT, fields = [1, "2024-01-02T03:04:05", ["2024-01-02T03:04:00"]] }}
    {{ kind = UPDATE_BEFORE, fields = [1, "2024-01-02T03:04:05", null] }}
    {{ kind = UPDATE_AFTER, fields = [1, "2024-01-02T03:04:05.120", null] }}
    {{ kind = DELETE, fields = [2, null, null] }}
  ]
}} }}
sink {{ Kafka {{ bootstrap.servers = "{servers}", topic = "{topic}", format = {format} }} }}
"""
ROWS = [
    ("INSERT", {"id": 1, "at": "2024-01-02T03:04:05", "many": ["2024-01-02T03:04:00"]}),
    ("DELETE", {"id": 1, "at": "2024-01-02T03:04:05", "many": None}),
    ("INSERT", {"id": 1, "at": "2024-01-02T03:04:05.12", "many": None}),
    ("DELETE", {"id": 2, "at": None, "many": None}),
]


@pytest.mark.parametrize("format", ["canal_json", "ogg_json", "maxwell_json", "debezium_json", "json"])
def test_records_have_seatunnels_form(spark, tmp_path, kafka, format):
    topic = kafka.topic()
    job = JOB.format(servers=kafka.servers, topic=topic, format=format)
    assert run(spark, tmp_path, job, compat=Compat.SEATUNNEL_2).errors == ()
    found = [json.loads(value) for value in kafka.values(topic)]
    if format == "json":
        wanted = [row for _, row in ROWS]
    elif format == "debezium_json":
        wanted = [{"before": row, "after": None, "op": "d"} if kind == "DELETE"
                  else {"before": None, "after": row, "op": "c"} for kind, row in ROWS]  # fmt: skip
    else:
        wanted = [{"data": row, "type": kind} for kind, row in ROWS]
    assert sorted(found, key=repr) == sorted(wanted, key=repr)


def test_bits_of_debezium_that_are_declared_as_a_tinyint_are_0(spark, tmp_path, kafka):
    types = [{"field": "id", "type": "int32"}, {"field": "bits", "type": "bytes", "name": "io.debezium.data.Bits"}]
    schema = {"fields": [{"field": "after", "fields": types}]}
    after = {"id": 1, "bits": "VVVVVVVVVVU="}
    topic = kafka.topic()
    kafka.send(topic, [json.dumps({"schema": schema, "payload": {"before": None, "after": after, "op": "c"}})])
    job = reading(
        kafka, topic, "format = debezium_json, start_mode = earliest", "schema { fields { id = int, bits = tinyint } }"
    )
    assert [row[:2] for row in rows(spark, tmp_path, job, Compat.SEATUNNEL_2)] == [(1, 0)]
    with pytest.raises(Exception, match="`bits` is not tinyint"):
        rows(spark, tmp_path, job)
