"""Watermarks of Kafka's partitions: the slowest one decides, silent ones are not waited for, late rows are counted."""

import json
import random
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import pytest

pytest.importorskip("pyspark")

from catalog.diagnostics.diagnostic import RunError
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.event_times import FollowedWatermark, PartitionTime, watermark_of
from engine.runtime.streaming.run_stream import run_stream
from engine.state.layout import layout_at
from engine.state.run_state import State
from engine.state.stop_request import request_stop
from tests.connectors.kafka.jobs import compiled

pytestmark = pytest.mark.spark
ENV = """env {{ job.mode = STREAMING, job.name = times, stream.trigger = "{trigger}"
  spark.sql.shuffle.partitions = 1, job.retry.times = 0 }}"""
NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
FIELDS = "schema { fields { id = bigint, at = timestamp } }"
JOINED = """select a.id as a, b.id as b from a left join b on a.id = b.id
    and b.at between a.at - interval 1 hour and a.at + interval 1 hour"""
COUNTED = "select window(at, '10 minutes').start as start, count(*) as n from k group by window(at, '10 minutes')"


def record(id, minute):
    return json.dumps({"id": id, "at": (NOON + timedelta(minutes=minute)).isoformat()})


def source(kafka, name, topic, watermark="", more=""):
    return f"""Kafka {{ plugin_output = {name}, bootstrap.servers = "{kafka.servers}", topic = {topic}, {FIELDS}
      start_mode = earliest, watermark {{ column = at, delay = "10 minutes", {watermark} }}, {more} }}"""


def job(folder, sources, query, trigger="available_now", inputs="k", more=""):
    return f"""{ENV.format(trigger=trigger)}
    source {{ {sources} }}
    transform {{ Sql {{ plugin_input = [{inputs}], plugin_output = out, query = \"\"\"{query}\"\"\" }} }}
    sink {{ LocalFile {{ plugin_input = out, path = "{folder}/out", file_format_type = json }}
      {more} }}"""


def run(spark, folder, text):
    result = run_stream(spark, compiled(folder, text), RunRequest(new_run_id()))
    if result.errors:
        raise result.errors[0]
    return result


def rows(folder, name="out"):
    files = (folder / name).rglob("part-*.json")
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def codes(result):
    return [warning.code for warning in result.warnings]


def minute_of(text):
    return round(
        (datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc) - NOON).total_seconds() / 60
    )


def test_a_partition_two_hours_behind_loses_nothing(spark, tmp_path, kafka):
    """One partition is read to 14:10 before the other one has its first record, of noon."""
    topic = kafka.topic(2)
    text = job(tmp_path, source(kafka, "k", topic), COUNTED)
    kafka.send(topic, [record(0, minute) for minute in range(0, 131, 10)], partition=0)
    result = run(spark, tmp_path, text)
    assert (rows(tmp_path), codes(result)) == ([], ["PEN5315"])
    assert f"waits for partitions that have had no record: `{topic}-1`" in result.warnings[0].message
    for minute in range(0, 131, 10):
        kafka.send(topic, [record(1, minute)], partition=1)
    kafka.send(topic, [record(2, 300)], partition=0)
    kafka.send(topic, [record(2, 300)], partition=1)
    assert codes(run(spark, tmp_path, text)) == []
    kafka.send(topic, [record(3, 301)], partition=0)  # the watermark of a run is known to the next one
    assert codes(run(spark, tmp_path, text)) == []
    assert sorted(minute_of(row["start"]) for row in rows(tmp_path)) == list(range(0, 131, 10))
    assert {row["n"] for row in rows(tmp_path)} == {2}


def test_a_join_goes_on_while_a_topic_is_silent(spark, tmp_path, kafka):
    """Of two topics, one has no record; without `idle.timeout` its partition is waited for."""
    silent, talking = kafka.topic(), kafka.topic()
    sources = "\n".join(
        source(kafka, name, topic, 'idle.timeout = "2 seconds"') for name, topic in (("a", talking), ("b", silent))
    )
    plan, name = compiled(tmp_path, job(tmp_path, sources, JOINED, "200 milliseconds", "a, b")), new_run_id()
    ended = []
    thread = threading.Thread(target=lambda: ended.append(run_stream(spark, plan, RunRequest(name))))
    thread.start()
    kafka.send(talking, [record(1, 0), record(2, 300)])
    until = time.monotonic() + 120
    while not (found := rows(tmp_path) if (tmp_path / "out").exists() else []) and time.monotonic() < until:
        time.sleep(0.1)
    request_stop(layout_at(spark, str(tmp_path / "state")), name)
    thread.join()
    assert found == [{"a": 1, "b": None}]
    assert [result.state for result in ended] == [State.FINISHED]


@dataclass
class Reference:
    """What a stream of windows of ten minutes must do, in plain Python, by the micro-batches that Spark has made."""

    partitions: int
    delay: int
    watermark: int | None = None
    late_rows: list = field(default_factory=list)

    @property
    def late(self):
        return len(self.late_rows)

    def batches(self, records, ends):
        """`records`: minutes by partition; `ends`: offsets by micro-batch. Gives the rows of all windows by start."""
        latest, begins, windows = {}, [0] * self.partitions, {}
        for end in ends:
            arrived = [(p, m) for p in range(self.partitions) for m in records[p][begins[p] : end[p]]]
            for partition, minute in arrived:
                if self.watermark is not None and minute < self.watermark:
                    self.late_rows.append((partition, minute))
                else:
                    windows[minute // 10 * 10] = windows.get(minute // 10 * 10, 0) + 1
                latest[partition] = max(latest.get(partition, minute), minute)
            if len(latest) == self.partitions:
                self.watermark = max(self.watermark or -(10**6), min(latest.values()) - self.delay)
            begins = end
        return windows


class Schedule:
    """Random times in random partitions, in micro-batches of a random size."""

    def __init__(self, kafka, seed):
        draw = random.Random(seed)
        self.count, self.name = draw.randint(1, 3), f"k{seed}"
        self.topic = kafka.topic(self.count)
        self.records = [[] for _ in range(self.count)]
        now = 0
        for _ in range(draw.randint(20, 60)):
            now += draw.randint(0, 12)
            late = draw.choice([0, 0, 3, 15, 40, 130])
            self.records[draw.randrange(self.count)].append(max(0, now - late))
        for number, minutes in enumerate(self.records):
            kafka.send(self.topic, [record(number, minute) for minute in minutes], partition=number)
        self.source = source(kafka, self.name, self.topic, "late = sink", f"max_offsets = {draw.randint(6, 15)}")

    def ends(self, folder):
        """The offsets at which Spark's micro-batches have ended."""
        offsets = folder / f"state/streams/times/{self.name}_out/checkpoint/offsets"
        paths = sorted(offsets.glob("[0-9]*"), key=lambda path: int(path.name))
        ends = (json.loads(path.read_text().splitlines()[2])[self.topic] for path in paths)
        return [[end[str(number)] for number in range(self.count)] for end in ends]


@pytest.mark.parametrize(
    "seeds", [range(1), *(pytest.param(range(at, at + 20), marks=pytest.mark.soak) for at in range(0, 200, 20))]
)
def test_late_rows_are_counted_exactly(spark, tmp_path, kafka, seeds):
    """As a reference in Python counts them, which has nothing but the records and the ends of the micro-batches."""
    schedules = [Schedule(kafka, seed) for seed in seeds]
    blocks = [("source", "\n".join(each.source for each in schedules)), ("transform", ""), ("sink", "")]
    for each in schedules:
        query = COUNTED.replace(" k ", f" {each.name} ")
        blocks.append(
            (
                "transform",
                f'Sql {{ plugin_input = {each.name}, plugin_output = {each.name}_out, query = """{query}""" }}',
            )
        )
        for output in ("out", "late"):
            path = f'path = "{tmp_path}/{each.name}_{output}", file_format_type = json'
            blocks.append(("sink", f"LocalFile {{ plugin_input = {each.name}_{output}, {path} }}"))
    text = "\n".join(
        f"{kind} {{ {chr(10).join(block for of, block in blocks if of == kind)} }}"
        for kind in ("source", "transform", "sink")
    )
    result = run(spark, tmp_path, f"{ENV.format(trigger='available_now')}\n{text}")
    said = {warning.message for warning in result.warnings if warning.code == "PEN5314"}
    counts = {}
    for each in schedules:
        expected = Reference(each.count, 10)
        ends = each.ends(tmp_path)
        windows = expected.batches(each.records, ends)
        counts[each.name] = sum(map(len, each.records))
        named = "1 row" if expected.late == 1 else f"{expected.late} rows"
        message = f"{named} of `{each.name}_out` came later than the watermark allows, and were left out"
        assert (message in said) == bool(expected.late), each.name
        late = [(row["id"], minute_of(row["at"])) for row in rows(tmp_path, f"{each.name}_late")]
        assert sorted(late) == sorted(expected.late_rows), each.name
        found = {minute_of(row["start"]): row["n"] for row in rows(tmp_path, f"{each.name}_out")}
        assert found.items() <= windows.items(), each.name
        assert len(ends) > 1, each.name
    assert {read.source: read.rows for read in result.reads} == counts


def test_a_watermark_that_needs_pyarrow_says_so(spark, tmp_path, kafka, monkeypatch):
    monkeypatch.setattr("engine.spark.streaming.open_stream.find_spec", lambda name: None)
    with pytest.raises(RunError) as refused:
        run(spark, tmp_path, job(tmp_path, source(kafka, "k", kafka.topic()), COUNTED))
    (said,) = refused.value.diagnostics
    assert (said.code, said.help) == ("PEN9003", "pip install pyarrow, also where Spark's executors are")
    assert said.message == "the watermark of `k` follows the partitions of its source, which needs pyarrow"


def test_the_watermark_is_that_of_the_slowest_partition_which_is_not_silent():
    followed = (FollowedWatermark("a", 10, None), FollowedWatermark("b", 0, 5.0))
    times = {
        "a": {"a-0": PartitionTime(100, 0.0), "a-1": PartitionTime(50, 0.0)},
        "b": {"b-0": PartitionTime(80, 0.0), "b-1": PartitionTime(None, 0.0)},
    }
    for silent, is_fastest, expected in (
        ({}, False, None),
        ({"b": ["b-1"]}, False, 40),
        ({"b": ["b-1"]}, True, 80),
        ({}, True, 40),
        ({"b": ["b-0", "b-1"]}, False, 40),
        ({"a": ["a-1"], "b": ["b-1"]}, False, 80),
        ({"a": ["a-0", "a-1"], "b": ["b-0", "b-1"]}, False, 90),
    ):
        assert watermark_of(followed, times, silent, is_fastest=is_fastest) == expected, silent
