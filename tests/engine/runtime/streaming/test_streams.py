"""Streams end to end: the same rows as a batch job, each once, whatever is interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.kafka.offsets import stream_options
from engine.cli import main
from engine.compile import Settings, compile_job
from engine.plan.streams import streams_of
from engine.runtime.execute import run_job
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from engine.runtime.streaming.stream import Stream
from engine.state import ledger
from engine.state.run_state import State

pytestmark = pytest.mark.spark
KILLS = int(os.environ.get("PENSTOCK_TEST_STREAM_KILLS", "1"))
"""How often the process of a stream is killed before one that is stopped; `make soak` kills it twice."""
ROOT = Path(__file__).parents[4]
COLUMNS = "schema { fields { id = bigint, name = string } }"
NOW = 'job.mode = STREAMING, stream.trigger = available_now, job.name = "stream"'


def compiled(folder, text):
    path = folder / "job.conf"
    path.write_text(text)
    diagnostics = Diagnostics()
    job = compile_job(path, Settings(reads_secrets=True, state_dir=str(folder / "state")), diagnostics)
    assert job is not None, list(diagnostics)
    return job


def stream(spark, folder, text, run_id=None, **given):
    result = run_stream(spark, compiled(folder, text), RunRequest(run_id or new_run_id(), **given))
    if result.errors:
        raise result.errors[0]
    return result


def values(*ids):
    return [f'{{"id": {id}, "name": "n{id}"}}' for id in ids]


def from_topic(broker, topic, sinks, env=NOW, options="start_mode = earliest, consumer.group = g"):
    source = (
        f'Kafka {{ plugin_output = k, bootstrap.servers = "{broker.servers}", topic = {topic}, {COLUMNS}, {options} }}'
    )
    query = 'Sql { plugin_input = k, plugin_output = q, query = "select id, upper(name) as name from k where id <> 3" }'
    return f"env {{ {env} }}\nsource {{ {source} }}\ntransform {{ {query} }}\nsink {{ {sinks} }}"


def delta(spark, path):
    return sorted(tuple(row) for row in spark.read.format("delta").load(str(path)).collect())


def parquet(spark, path):
    return sorted(tuple(row) for row in spark.read.parquet(str(path)).collect())


def expected(*ids):
    return [(id, f"N{id}") for id in ids if id != 3]


def test_a_stream_yields_the_rows_of_the_batch_job_in_every_sink(spark, tmp_path, kafka, postgres):
    topic = kafka.topic(2)
    kafka.send(topic, values(1, 2, 3, 4))
    postgres.clear()
    sinks = "\n".join(
        (
            f'Delta {{ plugin_input = q, path = "{tmp_path}/%s/delta", data_save_mode = DROP_DATA }}',
            f'LocalFile {{ plugin_input = q, path = "{tmp_path}/%s/parquet", file_format_type = parquet }}',
            f'Jdbc {{ plugin_input = q, url = "{postgres.url}", user = "{postgres.user}", '
            f'password = "{postgres.password}", table = "%s" }}',
        )
    )
    batch = from_topic(kafka, topic, sinks.replace("%s", "as_batch"), env="job.mode = BATCH")
    assert run_job(spark, compiled(tmp_path, batch), RunRequest("batch")).errors == ()
    streaming = from_topic(kafka, topic, sinks.replace("%s", "as_stream"), options="start_mode = earliest, "
                           "consumer.group = streaming, max_offsets = 2")  # fmt: skip
    result = stream(spark, tmp_path, streaming)
    assert result.state is State.FINISHED
    kafka.send(topic, values(5, 6))
    stream(spark, tmp_path, streaming)
    once = expected(1, 2, 3, 4)
    assert delta(spark, tmp_path / "as_batch/delta") == once
    everything = expected(1, 2, 3, 4, 5, 6)
    assert delta(spark, tmp_path / "as_stream/delta") == everything
    assert parquet(spark, tmp_path / "as_stream/parquet") == everything
    assert sorted(postgres.rows("select id, name from as_stream")) == everything
    assert sum(kafka.committed("streaming").values()) == 6
    written = {write.sink: write.rows for write in result.writes}
    assert set(written.values()) == {3}


def test_a_micro_batch_that_comes_again_writes_nothing_twice(spark, tmp_path, kafka):
    topic = kafka.topic()
    kafka.send(topic, values(1, 2))
    sinks = f'Delta {{ plugin_input = q, path = "{tmp_path}/delta" }}\n' \
            f'LocalFile {{ plugin_input = q, path = "{tmp_path}/parquet", file_format_type = parquet }}'  # fmt: skip
    job = from_topic(kafka, topic, sinks)
    commits = tmp_path / "state/streams/stream/k/checkpoint/commits"

    def forget_end(batch):
        """As if it was killed before Spark had recorded the end of the micro-batch."""
        for name in (str(batch), f".{batch}.crc"):
            (commits / name).unlink(missing_ok=True)

    stream(spark, tmp_path, job, "first")
    forget_end(0)
    kafka.send(topic, values(4))
    stream(spark, tmp_path, job, "second", restores="first")
    assert delta(spark, tmp_path / "delta") == parquet(spark, tmp_path / "parquet") == expected(1, 2, 4)
    forget_end(1)
    kafka.send(topic, values(5, 6))
    changed = job.replace("id <> 3", "id <> 5").replace("LocalFile {", "LocalFile { compress_codec = zstd,")
    stream(spark, tmp_path, changed)  # its writes are others now; what they wrote before is there
    assert delta(spark, tmp_path / "delta") == parquet(spark, tmp_path / "parquet") == expected(1, 2, 4, 6)


def test_a_topic_that_was_deleted_and_made_anew_is_refused(spark, tmp_path, kafka):
    """Its first records would be skipped: the checkpoint has the offsets of the one before."""
    topic = kafka.topic()
    kafka.send(topic, values(1, 2))
    job = from_topic(
        kafka, topic, f'LocalFile {{ plugin_input = q, path = "{tmp_path}/out", file_format_type = parquet }}'
    )
    stream(spark, tmp_path, job)
    kafka.delete(topic)
    kafka.create(topic)
    kafka.send(topic, values(4, 5, 6, 7))
    with pytest.raises(RunError, match="was deleted and made anew"):
        stream(spark, tmp_path, job)
    assert parquet(spark, tmp_path / "out") == expected(1, 2)


def test_files_and_tables_that_grow(spark, tmp_path):
    arriving, grown = tmp_path / "in", tmp_path / "grown"
    arriving.mkdir()
    (arriving / "1.csv").write_text("id,name\n1,a\n2,b\n")
    csv = f'LocalFile {{ path = "{arriving}", file_format_type = csv, {COLUMNS}, skip_header_row_number = 1 }}'
    first = f'env {{ {NOW} }}\nsource {{ {csv} }}\nsink {{ Delta {{ path = "{grown}" }} }}'
    table = f'Delta {{ path = "{grown}", {COLUMNS} }}'
    sink = f'LocalFile {{ path = "{tmp_path}/out", file_format_type = json }}'
    env = NOW.replace('"stream"', '"other"')
    second = f"env {{ {env} }}\nsource {{ {table} }}\nsink {{ {sink} }}"
    for _ in range(2):
        stream(spark, tmp_path, first)
        stream(spark, tmp_path, second)
        (arriving / "2.csv").write_text("id,name\n3,c\n")
    rows = [json.loads(line) for file in (tmp_path / "out").glob("*.json") for line in file.read_text().splitlines()]
    assert sorted(row["id"] for row in rows) == [1, 2, 3]


def test_a_table_of_iceberg_that_grows_is_joined_with_one_of_delta(spark, tmp_path):
    """The Iceberg table is read as a stream, the Delta table as a whole for each micro-batch."""
    names = tmp_path / "names"
    iceberg = f'Iceberg {{ plugin_output = i, warehouse = "{tmp_path}/house", table = "db.grown", %s }}'

    def add(*ids):
        rows = "rows = [" + ", ".join(f"{{ fields = [{id}] }}" for id in ids) + "]"
        fake = f"FakeSource {{ schema {{ fields {{ id = bigint }} }}, {rows} }}"
        text = f"source {{ {fake} }}\nsink {{ {iceberg.replace('plugin_output = i, ', '') % ''} }}"
        assert run_job(spark, compiled(tmp_path, text), RunRequest(new_run_id())).errors == ()

    def name(*ids):
        spark.createDataFrame([(id, f"n{id}") for id in ids], "id bigint, name string").write.format("delta").mode(
            "append"
        ).save(str(names))

    fields = "schema { fields { id = bigint, name = string } }"
    delta_source = f'Delta {{ plugin_output = d, path = "{names}", stream = false, {fields} }}'
    query = "select i.id, d.name from i left join d on i.id = d.id"
    job = (
        f"env {{ {NOW} }}\nsource {{ {iceberg % 'schema { fields { id = bigint } }'}\n{delta_source} }}\n"
        f'transform {{ Sql {{ plugin_input = [i, d], plugin_output = j, query = "{query}" }} }}\n'
        f'sink {{ LocalFile {{ plugin_input = j, path = "{tmp_path}/out", file_format_type = parquet }} }}'
    )
    add(1, 2)
    name(1)
    stream(spark, tmp_path, job)
    add(3)
    name(2, 3)
    stream(spark, tmp_path, job)
    assert parquet(spark, tmp_path / "out") == [(1, "n1"), (2, None), (3, "n3")]


def test_a_stream_without_a_record_leaves_what_the_batch_job_leaves(spark, tmp_path, kafka):
    sinks = f'Delta {{ plugin_input = q, path = "{tmp_path}/delta" }}'
    stream(spark, tmp_path, from_topic(kafka, kafka.topic(), sinks))
    assert delta(spark, tmp_path / "delta") == []


def test_streams_that_have_begun_end_where_a_later_one_cannot_begin(spark, tmp_path, monkeypatch):
    begin, begun = Stream.start, []

    def start(self):
        if begun:
            raise RuntimeError("no further stream")
        begin(self)
        begun.append(self)

    monkeypatch.setattr(Stream, "start", start)
    for name in ("a", "b"):
        spark.createDataFrame([(1,)], "id int").write.format("delta").save(str(tmp_path / name))
    sources = "\n".join(f'Delta {{ plugin_output = {name}, path = "{tmp_path}/{name}" }}' for name in "ab")
    sinks = "\n".join(f"InMemory {{ plugin_input = {name} }}" for name in "ab")
    text = 'env { job.mode = STREAMING, job.name = two, stream.trigger = "1 second" }'
    with pytest.raises(RuntimeError, match="no further stream"):
        stream(spark, tmp_path, f"{text}\nsource {{ {sources} }}\nsink {{ {sinks} }}")
    assert [each.is_active for each in begun] == [False]


def test_a_failing_micro_batch_changes_nothing_and_is_done_again(spark, tmp_path, kafka):
    topic = kafka.topic()
    kafka.send(topic, [*values(1), "not json"])
    sinks = f'Delta {{ plugin_input = q, path = "{tmp_path}/delta" }}'
    job = from_topic(kafka, topic, sinks)
    with pytest.raises(RunError, match=r"a record does not fit.* \(in `k`\)") as caught:
        stream(spark, tmp_path, job)
    assert caught.value.diagnostics[0].code == "PEN5004"
    assert not (tmp_path / "delta").exists()
    result = stream(spark, tmp_path, job.replace("start_mode =", "format_error_handle_way = skip, start_mode ="))
    assert delta(spark, tmp_path / "delta") == expected(1)
    [warning] = [warning for warning in result.warnings if warning.code == "PEN4420"]
    assert "left out 1 of 2 records" in warning.message


def test_a_checkpoint_of_another_source_is_refused(spark, tmp_path, kafka):
    stream(spark, tmp_path, from_topic(kafka, kafka.topic(), f'Delta {{ plugin_input = q, path = "{tmp_path}/d" }}'))
    (tmp_path / "in").mkdir()
    other = f'LocalFile {{ plugin_output = k, path = "{tmp_path}/in", file_format_type = json, {COLUMNS} }}'
    with pytest.raises(RunError, match=r"its checkpoint .* is of Kafka") as caught:
        stream(spark, tmp_path, f"env {{ {NOW} }}\nsource {{ {other} }}\nsink {{ Console {{}} }}")
    assert caught.value.diagnostics[0].code == "PEN5060"


def test_a_run_to_restore_must_be_one_of_the_job(spark, tmp_path, kafka):
    job = from_topic(kafka, kafka.topic(), f'Delta {{ plugin_input = q, path = "{tmp_path}/d" }}')
    with pytest.raises(RunError, match="no run `nobody` of the job `stream`"):
        stream(spark, tmp_path, job, restores="nobody")


def test_a_stream_that_is_stopped_or_killed_goes_on(tmp_path, kafka):
    """The process of its own is killed, a second one at any moment, and the last is stopped; every record comes once,
    also those of a partition that is added while it is running. A second stream keeps the keys that it has seen as
    state: of two records with one key, one comes."""
    topic, state = kafka.topic(), tmp_path / "state"
    sinks = "\n".join(
        f'LocalFile {{ plugin_input = {name}, path = "{tmp_path}/{name}", file_format_type = json }}'
        for name in ("q", "once")
    )
    env = 'job.mode = STREAMING, stream.trigger = "100 milliseconds", job.name = "stream"'
    options = "start_mode = earliest, metadata_columns = [timestamp], watermark { column = _timestamp, delay = 1 hour }"
    once = "transform { Deduplicate { plugin_input = k, plugin_output = once, keys = [id] }\n"
    job = from_topic(kafka, topic, sinks, env=env, options=options.replace("1 hour", '"1 hour"'))
    (tmp_path / "job.conf").write_text(job.replace("transform {", once))
    command = [sys.executable, "-m", "engine.cli", "run", str(tmp_path / "job.conf"), "--state-dir", str(state)]

    def written(name):
        found = (file.read_text().splitlines() for file in (tmp_path / name).glob("*.json"))
        return sorted(json.loads(line)["id"] for lines in found for line in lines)

    def are_written(number):
        return all(len(written(name)) >= (1 if 0 < number < KILLS else count) for name, count in counts.items())

    def wait_for(holds):
        until = time.monotonic() + 150
        while not holds() and time.monotonic() < until:
            time.sleep(0.1)

    sent, added = 10, 1000
    for number in range(KILLS + 1):
        kafka.send(topic, values(*range(sent, sent + 10), sent))
        sent += 10
        counts = {"q": 11 * (number + 1) + bool(number), "once": 10 * (number + 1) + bool(number)}
        process = subprocess.Popen([*command, "--run-id", f"r{number}"], cwd=ROOT, start_new_session=True,
                                   env={**os.environ, "MASTER": "local[1]", "PYTHONPATH": str(ROOT)})  # fmt: skip
        wait_for(lambda number=number: are_written(number))
        if number == 0:
            kafka.add_partitions(topic, 2)
            kafka.send(topic, values(added), partition=1)
            wait_for(lambda: added in written("q") and added in written("once"))
        if number < KILLS:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            assert main(["stop", f"r{KILLS}", "--state-dir", str(state)]) == 0
        process.wait(120)
    assert process.returncode == 0
    assert written("once") == [*range(10, sent), added]
    assert written("q") == sorted([*range(10, sent), *range(10, sent, 10), added])
    from engine.state.layout import layout_at

    assert ledger.find(layout_at(None, str(state)), f"r{KILLS}").state is State.FINISHED


def test_a_stream_goes_on_with_other_topics_and_tells_its_lag(spark, tmp_path, kafka):
    """One topic is added, then another left out: nothing is lost, and nothing comes twice."""
    first, second = kafka.topic(), kafka.topic()
    metrics = tmp_path / "metrics" / "stream.prom"
    env = f'{NOW}, stream.metrics_file = "{metrics}"'
    sinks = f'Delta {{ plugin_input = q, path = "{tmp_path}/delta" }}'

    def go_on(topics, run_id):
        return stream(spark, tmp_path, from_topic(kafka, f'"{topics}"', sinks, env=env), run_id)

    kafka.send(first, values(1, 2))
    kafka.send(second, values(10))
    go_on(first, "one")
    kafka.add_partitions(first, 2)
    kafka.send(first, values(4), partition=1)
    go_on(f"{first},{second}", "two")
    kafka.send(first, values(5))
    kafka.send(second, values(11))
    result = go_on(second, "three")
    assert [warning.code for warning in result.warnings] == ["PEN5061"]
    assert delta(spark, tmp_path / "delta") == expected(1, 2, 4, 10, 11)
    from engine.state.layout import layout_at

    counts = ledger.find(layout_at(None, str(tmp_path / "state")), "three").counts["streams"]["k"]
    assert (counts["batches"], counts["lag"]) == (1, 0)
    assert counts["latency_seconds"] > 0
    text = metrics.read_text()
    assert 'penstock_stream_rows_written_total{job="stream",run="three",source="k"' in text
    assert 'penstock_stream_running{job="stream",run="three"} 0' in text


@pytest.mark.parametrize(
    ("start", "expected_ids"),
    [
        ("start_mode = earliest", [0, 1, 2, 9]),
        ("start_mode = latest", [9]),
        ("start_mode = group_offsets", [2, 9]),
        ("start_mode = timestamp, start_mode.timestamp = 1500", [1, 2, 9]),
        ("start_mode = specific_offsets, start_mode.offsets = { {topic}-0 = 1 }", [1, 2, 9]),
    ],
)
def test_the_offsets_at_which_a_new_stream_starts(spark, tmp_path, kafka, start, expected_ids):
    topic, group = kafka.topic(), f"g{uuid.uuid4().hex}"
    for index in range(3):
        kafka.send(topic, values(index), timestamp_ms=1000 * (index + 1))
    kafka.commit(group, topic, {0: 2})
    options = start.replace("{topic}", topic) + f", consumer.group = {group}"
    job = compiled(tmp_path, from_topic(kafka, topic, f'Delta {{ plugin_input = k, path = "{tmp_path}/d" }}',
                                        options=options))  # fmt: skip
    (task,) = streams_of(job.plan)[0].scans
    starts = stream_options(spark, task.options, is_new=True)["startingOffsets"]
    kafka.send(topic, values(9))
    first = json.loads(starts)[topic]["0"]
    assert [0, 1, 2, 9][first:] == expected_ids
