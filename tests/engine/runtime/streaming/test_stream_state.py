"""Streams with state: windows, sessions, joins of two streams and deduplication yield the rows of the batch job."""

import json

import pytest

pytest.importorskip("pyspark")

from engine.runtime.execute import run_job
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from engine.state.run_state import State
from tests.connectors.kafka.jobs import compiled

pytestmark = pytest.mark.spark
FIELDS = "schema { fields { id = bigint, name = string, at = timestamp } }"
LATE = 'watermark { column = at, delay = "10 minutes" }'
NOW = "job.mode = STREAMING, stream.trigger = available_now, job.name = state"


def arrive(folder, name, *rows):
    """A file of rows (id, name, minutes after noon)."""
    folder.mkdir(exist_ok=True)
    lines = [
        json.dumps({"id": id, "name": name, "at": f"2026-01-01T{12 + minute // 60}:{minute % 60:02}:00Z"})
        for id, name, minute in rows
    ]
    (folder / f"{name}.json").write_text("\n".join(lines))


def files(folder, name, more=LATE):
    return (
        f'LocalFile {{ plugin_output = {name}, path = "{folder}/{name}", file_format_type = json, {FIELDS}, {more} }}'
    )


def sink(folder, name, mode):
    return f'LocalFile {{ plugin_input = {name}, path = "{folder}/{mode}/{name}", file_format_type = parquet }}'


def job(folder, mode, sources, transforms, outputs):
    env = NOW if mode == "stream" else "job.mode = BATCH, job.name = state"
    sinks = "\n".join(sink(folder, name, mode) for name in outputs)
    return f"env {{ {env} }}\nsource {{ {sources} }}\ntransform {{ {transforms} }}\nsink {{ {sinks} }}"


def sql(inputs, name, query):
    return f'Sql {{ plugin_input = [{inputs}], plugin_output = {name}, query = """{query}""" }}\n'


def run(spark, folder, mode, *parts):
    text = job(folder, mode, *parts)
    if mode == "batch":
        result = run_job(spark, compiled(folder, text), RunRequest(new_run_id()))
    else:
        result = run_stream(spark, compiled(folder, text), RunRequest(new_run_id()))
    if result.errors:
        raise result.errors[0]
    return result


def rows(spark, folder, mode, name):
    return sorted(tuple(row) for row in spark.read.parquet(str(folder / mode / name)).collect())


WINDOWS = sql("s", "tumbling", "select window(at, '1 hour').start as hour, name, count(*) as n from s "
              "group by window(at, '1 hour'), name") + sql(
    "s", "sliding", "select w.start as start, n + 0 as n from (select window(at, '1 hour', '30 minutes') as w, "
    "count(*) as n from s group by 1) where n > 0") + sql(
    "s", "sessions", "select session_window.start as start, session_window.end as end, name, sum(id) as total from s "
    "group by session_window(at, '15 minutes'), name")  # fmt: skip


def test_windows_yield_the_rows_of_the_batch_job_once_they_are_closed(spark, tmp_path):
    """A stream for each, and one for rows without state; the last file only moves the watermark past all others."""
    parts = (files(tmp_path, "s"), WINDOWS, ("tumbling", "sliding", "sessions", "s"))
    arrive(tmp_path / "s", "a", (1, "x", 0), (2, "x", 50), (3, "y", 10), (4, "x", 8))
    result = run(spark, tmp_path, "stream", *parts)
    assert next(pipeline.name for pipeline in result.pipelines).startswith("1: tumbling, ")
    assert {read.source: read.rows for read in result.reads} == {"s": 4}
    arrive(tmp_path / "s", "b", (5, "x", 45), (6, "y", 70))
    run(spark, tmp_path, "stream", *parts)
    arrive(tmp_path / "s", "c", (9, "z", 600))
    assert run(spark, tmp_path, "stream", *parts).state is State.FINISHED
    run(spark, tmp_path, "batch", *parts)
    for name in parts[2]:
        batch = rows(spark, tmp_path, "batch", name)
        streamed = rows(spark, tmp_path, "stream", name)
        is_open = [row for row in batch if row[0] is not None and str(row[0]) >= "2026-01-01 21"]
        assert streamed == (batch if name == "s" else [row for row in batch if row not in is_open]), name
        assert len(streamed) > 2


def test_joins_of_streams_and_one_row_of_each_key(spark, tmp_path):
    """An outer join yields a row without a match once none can come; a micro-batch that comes again changes nothing."""
    sources = files(tmp_path, "a") + "\n" + files(tmp_path, "b")
    transforms = (
        "Deduplicate { plugin_input = b, plugin_output = once, keys = [id] }\n"
        + sql("a, once", "joined", "select a.id, a.name, once.name as other from a left join once on a.id = once.id "
              "and once.at between a.at and a.at + interval 1 hour")
    )  # fmt: skip
    parts = (sources, transforms, ("joined",))
    arrive(tmp_path / "a", "1", (1, "one", 0), (2, "two", 5), (3, "three", 10))
    arrive(tmp_path / "b", "1", (1, "first", 20), (1, "first", 21), (3, "third", 200))
    run(spark, tmp_path, "stream", *parts)
    arrive(tmp_path / "a", "2", (4, "four", 215))
    arrive(tmp_path / "b", "2", (4, "fourth", 220))
    run(spark, tmp_path, "stream", *parts)
    checkpoint = tmp_path / "state/streams/state/joined/checkpoint"
    last = max(int(path.name) for path in (checkpoint / "commits").glob("[0-9]*"))
    for name in (f"{last}", f".{last}.crc"):  # as if killed before Spark had recorded the end of the micro-batch
        (checkpoint / "commits" / name).unlink()
    arrive(tmp_path / "a", "3", (5, "five", 600))
    arrive(tmp_path / "b", "3", (6, "six", 600))
    result = run(spark, tmp_path, "stream", *parts)
    run(spark, tmp_path, "batch", *parts)
    batch = rows(spark, tmp_path, "batch", "joined")
    assert [row for row in batch if row[0] != 5] == rows(spark, tmp_path, "stream", "joined")
    assert {read.source for read in result.reads} == {"a", "b"}


def test_windows_over_a_topic_with_a_key_of_its_offsets(spark, tmp_path, kafka):
    topic = kafka.topic(2)
    source = (
        f'Kafka {{ plugin_output = k, bootstrap.servers = "{kafka.servers}", topic = {topic}, start_mode = earliest, '
        f"consumer.group = windows, {FIELDS}, max_offsets = 2, {LATE} }}"
    )
    query = sql("k", "w", "select name, count(*) as n from k group by window(at, '10 minutes'), name")
    for minute in (0, 1, 2, 55, 59):
        kafka.send(topic, [json.dumps({"id": 1, "name": "x", "at": f"2026-01-01T12:{minute:02}:00Z"})])
    result = run(spark, tmp_path, "stream", source, query, ("w",))
    assert rows(spark, tmp_path, "stream", "w") == [("x", 3)]
    assert {read.source: read.rows for read in result.reads} == {"k": 5}
    assert sum(kafka.committed("windows").values()) == 5


def test_rows_that_come_too_late_are_counted_and_warned_of(spark, tmp_path):
    """Rows of one key each, so that Spark groups none of them before it counts them."""
    query = sql("s", "hourly", "select window(at, '1 hour').start as hour, id, count(*) as n from s "
                "group by window(at, '1 hour'), id")  # fmt: skip
    parts = (files(tmp_path, "s"), query, ("hourly",))
    arrive(tmp_path / "s", "a", (1, "x", 0), (2, "x", 300))
    assert [warning.code for warning in run(spark, tmp_path, "stream", *parts).warnings] == []
    arrive(tmp_path / "s", "b", (3, "x", 10), (4, "x", 20), (5, "x", 310))
    result = run(spark, tmp_path, "stream", *parts)
    assert [(warning.code, warning.message) for warning in result.warnings] == [
        ("PEN5314", "2 rows or more of `hourly` came later than the watermark allows, and were left out")
    ]


def test_the_fastest_of_two_sources_decides_where_the_job_says_so(spark, tmp_path):
    """By default, rows wait for the other source, which is silent; with `max` a left join yields them."""
    sources = files(tmp_path, "a") + "\n" + files(tmp_path, "b")
    query = sql("a, b", "joined", "select a.id, b.name from a left join b on a.id = b.id "
                "and b.at between a.at and a.at + interval 1 hour")  # fmt: skip
    arrive(tmp_path / "b", "1", (9, "x", 0))
    arrive(tmp_path / "a", "1", (1, "x", 0))
    arrive(tmp_path / "a", "2", (2, "x", 600))
    for policy, found in (("", []), (", stream.watermark_policy = max", [(1, None)])):
        text = job(tmp_path, "stream", sources, query, ("joined",)).replace(NOW, f"{NOW}{len(policy)}{policy}")
        for name in ("3", "4"):  # the watermark of a run is known to the next one
            arrive(tmp_path / "a", f"{name}{len(policy)}", (int(name), "x", 600))
            assert run_stream(spark, compiled(tmp_path, text), RunRequest(new_run_id())).state is State.FINISHED
        assert rows(spark, tmp_path, "stream", "joined") == found
