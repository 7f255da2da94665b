"""Long runs: a large change log, and a stream whose driver and broker are killed at random moments.

`PENSTOCK_TEST_CHANGES` (default: 1,000,000) and `PENSTOCK_TEST_STREAM_KILLS` (default: 50) set how long.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.paimon.connector import connector as paimon
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from tests.connectors.given_options import options_of
from tests.connectors.kafka.jobs import compiled
from tests.services.debezium import COLUMNS, ChangingTable

pytestmark = [pytest.mark.spark, pytest.mark.soak]
ROOT = Path(__file__).parents[4]
CHANGES = int(os.environ.get("PENSTOCK_TEST_CHANGES", "1000000"))
KILLS = int(os.environ.get("PENSTOCK_TEST_STREAM_KILLS", "50"))


def publish(broker, topic, changes):
    from kafka import KafkaProducer

    with closing(KafkaProducer(bootstrap_servers=broker.servers, linger_ms=20)) as producer:
        for key, value in changes:
            producer.send(topic, value, key=key)
        producer.flush()


def keyed(postgres, folder, given):
    return (
        f'Paimon {{ {given}, path = "{folder}/paimon" }}\n'
        f'Delta {{ {given}, path = "{folder}/delta" }}\n'
        f'Jdbc {{ {given}, url = "{postgres.url}", user = "{postgres.user}", password = "{postgres.password}", '
        "table = soaked }"
    )


def in_paimon(spark, folder):
    options = options_of(paimon.source_options, path=str(folder / "paimon"))
    return paimon.read(spark, ScanTask(options, CatalogTable.unknown("paimon")))


def test_a_large_change_log_ends_as_its_table(spark, tmp_path, kafka, postgres):
    postgres.clear()
    topic, changing = kafka.topic(4), ChangingTable(seed=11, keys=max(CHANGES // 10, 10))
    publish(kafka, topic, changing.changes(CHANGES))
    given = "plugin_input = c, write_mode = changelog, sequence_field = _offset"
    text = (
        "env { job.mode = STREAMING, stream.trigger = available_now, job.name = soak }\n"
        f'source {{ Kafka {{ plugin_output = c, bootstrap.servers = "{kafka.servers}", topic = {topic}, '
        f"start_mode = earliest, format = debezium_json, metadata_columns = [offset], {COLUMNS}, "
        f"max_offsets = {max(CHANGES // 4, 1)} }} }}\n"
        f"sink {{ {keyed(postgres, tmp_path, given)} }}"
    )
    started = time.monotonic()
    assert run_stream(spark, compiled(tmp_path, text), RunRequest(new_run_id())).errors == ()
    print(f"{CHANGES} changes in {time.monotonic() - started:.0f} s")
    columns = ("id", "name", "amount", "day", "cast(at as timestamp_ntz) as at", "note")
    delta = spark.read.format("delta").load(str(tmp_path / "delta")).selectExpr(*columns).collect()
    assert sorted(map(tuple, delta)) == changing.held()
    assert sorted(map(tuple, in_paimon(spark, tmp_path).selectExpr(*columns).collect())) == changing.held()
    assert sorted(postgres.rows("select id, name, amount, day, at at time zone 'UTC', note from soaked")) == (
        changing.held()
    )


def test_nothing_is_lost_or_twice_over_kills_of_driver_and_broker(tmp_path, spark, kafka, postgres):
    """Each round sends records, then kills the driver at a random moment of a micro-batch, or now and then of its
    start; two of five rounds kill the broker, too."""
    postgres.clear()
    topic, state, draw = kafka.topic(2), tmp_path / "state", random.Random(5)
    source = (
        f'Kafka {{ plugin_output = c, bootstrap.servers = "{kafka.servers}", topic = {topic}, start_mode = earliest, '
        "consumer.group = soak, schema { fields { id = bigint } } }"
    )
    env = 'job.mode = STREAMING, stream.trigger = "100 milliseconds", job.name = kills, job.retry.times = 20'
    sinks = keyed(postgres, tmp_path, "plugin_input = c") + (
        f'\nLocalFile {{ plugin_input = c, path = "{tmp_path}/files", file_format_type = parquet }}'
    )
    (tmp_path / "job.conf").write_text(f"env {{ {env} }}\nsource {{ {source} }}\nsink {{ {sinks} }}")
    command = [sys.executable, "-m", "engine.cli", "run", str(tmp_path / "job.conf"), "--state-dir", str(state)]

    def written():
        files = (tmp_path / "files").glob("*.parquet")
        return sorted(id for file in files for id in read_table(file)["id"].to_pylist())

    def batches(log):
        names = (path.name for path in (state / "streams" / "kills" / "c" / "checkpoint" / log).glob("*"))
        return max((int(name) for name in names if name.isdigit()), default=-1)

    sent, interrupted = 0, 0
    for kill in range(KILLS + 1):
        kafka.send(topic, [json.dumps({"id": id}) for id in range(sent, sent + 20)])
        sent += 20
        process = subprocess.Popen(command, cwd=ROOT, start_new_session=True,
                                   env={**os.environ, "MASTER": "local[1]", "PYTHONPATH": str(ROOT)})  # fmt: skip
        if kill < KILLS:
            begun = batches("offsets")
            until = time.monotonic() + (draw.uniform(3, 15) if kill % 7 == 3 else 180)
            while batches("offsets") == begun and process.poll() is None and time.monotonic() < until:
                time.sleep(0.1)
            time.sleep(draw.uniform(0, 6))
            if kill % 5 in (1, 3):
                kafka.kill()
                time.sleep(draw.uniform(0, 3))
                kafka.start()
        else:
            until = time.monotonic() + 300
            while len(written()) < sent and time.monotonic() < until:
                time.sleep(0.5)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)
        interrupted += batches("offsets") > batches("commits")
        print(f"kill {kill}: micro-batch {batches('offsets')}, ended {batches('commits')}", flush=True)
    brokers = sum(kill % 5 in (1, 3) for kill in range(KILLS))
    print(f"{KILLS} kills of the driver, {interrupted} within a micro-batch, {brokers} of the broker, {sent} records")
    everything = list(range(sent))
    assert written() == everything
    assert sorted(row.id for row in spark.read.format("delta").load(str(tmp_path / "delta")).collect()) == everything
    assert sorted(row.id for row in in_paimon(spark, tmp_path).collect()) == everything
    assert sorted(row[0] for row in postgres.rows("select id from soaked")) == everything
