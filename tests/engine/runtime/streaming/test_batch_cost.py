"""What a micro-batch costs beside its rows: Spark jobs, plans that are built, and questions to Java. Counted, not
timed: `benchmarks/running/streams.py` has the times."""

import threading
from dataclasses import dataclass

import pytest

pytest.importorskip("pyspark")
from py4j.java_gateway import GatewayClient

from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming import stream as streams
from engine.runtime.streaming.run_stream import run_stream
from engine.spark.streaming import batch_plans
from tests.connectors.kafka.jobs import compiled

pytestmark = pytest.mark.spark
NOW = 'job.mode = STREAMING, stream.trigger = available_now, job.name = "costs"'


@dataclass
class Cost:
    jobs: int = 0
    calls: int = 0
    is_built: bool = False


@pytest.fixture
def costs(spark, monkeypatch):
    """Of each micro-batch. Questions of other threads, and those about objects that are no longer needed, are left out:
    they come at any time."""
    found, client = [], type(spark.sparkContext._gateway._gateway_client)
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()
    run_batch, ask, build = streams.run_batch, client.send_command, batch_plans._reads_once

    def counted(*arguments, **named):
        cost, before = Cost(), int(scheduler.nextJobId())
        found.append(cost)
        result = run_batch(*arguments, **named)
        cost.jobs = int(scheduler.nextJobId()) - before
        found.append(None)
        return result

    def asked(self, command, *arguments, **named):
        is_own = threading.current_thread() is not threading.main_thread() and not command.startswith("m\n")
        if found and found[-1] is not None and is_own:
            found[-1].calls += 1
        return ask(self, command, *arguments, **named)

    def built(*arguments):
        found[-1].is_built = True
        return build(*arguments)

    monkeypatch.setattr(streams, "run_batch", counted)
    monkeypatch.setattr(client, "send_command", asked)
    monkeypatch.setattr(batch_plans, "_reads_once", built)
    assert issubclass(client, GatewayClient)
    return lambda: [cost for cost in found if cost is not None]


def job(kafka, topic, sink, query="select id, upper(name) as name from k where id <> 3"):
    source = (
        f'Kafka {{ plugin_output = k, bootstrap.servers = "{kafka.servers}", topic = {topic}, start_mode = earliest, '
        "max_offsets = 2, schema { fields { id = bigint, name = string } } }"
    )
    sql = f'Sql {{ plugin_input = k, plugin_output = q, query = "{query}" }}'
    return f"env {{ {NOW} }}\nsource {{ {source} }}\ntransform {{ {sql} }}\nsink {{ {sink} }}"


def run(spark, folder, text):
    result = run_stream(spark, compiled(folder, text), RunRequest(new_run_id()))
    assert result.errors == ()
    return result


@pytest.mark.parametrize(
    ("sink", "jobs", "calls"),
    [
        ('LocalFile { plugin_input = q, path = "%s/out", file_format_type = parquet }', 1, 170),
        ('Delta { plugin_input = q, path = "%s/out" }', 3, 300),
    ],
)
def test_a_later_micro_batch_costs_few_jobs_and_calls(spark, tmp_path, kafka, costs, sink, jobs, calls):
    topic = kafka.topic(1)
    kafka.send(topic, [f'{{"id": {id}, "name": "n{id}"}}' for id in range(8)])
    result = run(spark, tmp_path, job(kafka, topic, sink % tmp_path))
    assert [read.rows for read in result.reads] == [8]
    assert [write.rows for write in result.writes] == [7]
    first, *others = costs()
    assert first.is_built
    assert len(others) == 3
    for cost in others:
        assert not cost.is_built
        assert cost.jobs <= jobs
        assert cost.calls <= calls


def test_random_numbers_are_drawn_for_each_micro_batch(spark, tmp_path, kafka, costs):
    topic = kafka.topic(1)
    kafka.send(topic, [f'{{"id": {id}, "name": "n"}}' for id in range(4)])
    sink = f'LocalFile {{ plugin_input = q, path = "{tmp_path}/out", file_format_type = parquet }}'
    run(spark, tmp_path, job(kafka, topic, sink, "select id, rand() as name from k"))
    assert len(costs()) == 2
    assert spark.read.parquet(str(tmp_path / "out")).select("name").distinct().count() == 4


def test_a_union_of_the_records_with_themselves_is_built_for_each_micro_batch(spark, tmp_path, kafka, costs):
    topic = kafka.topic(1)
    kafka.send(topic, [f'{{"id": {id}, "name": "n{id}"}}' for id in range(4)])
    sink = f'LocalFile {{ plugin_input = q, path = "{tmp_path}/out", file_format_type = parquet }}'
    run(spark, tmp_path, job(kafka, topic, sink, "select id, name from k union all select -id, name from k"))
    assert [cost.is_built for cost in costs()] == [True, True]
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted((row.id, row.name) for row in rows) == sorted((s * id, f"n{id}") for id in range(4) for s in (1, -1))


def test_reuse_can_be_turned_off_and_the_rows_are_the_same(spark, tmp_path, kafka, costs):
    topic = kafka.topic(1)
    kafka.send(topic, [f'{{"id": {id}, "name": "n{id}"}}' for id in range(8)])
    sink = f'LocalFile {{ plugin_input = q, path = "{tmp_path}/out", file_format_type = parquet }}'
    text = job(kafka, topic, sink).replace(NOW, f"{NOW}, reuse_batch_plans = false")
    result = run(spark, tmp_path, text)
    assert [write.rows for write in result.writes] == [7]
    assert [cost.is_built for cost in costs()] == [False] * 4
