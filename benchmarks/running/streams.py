"""Time a stream from Kafka to Parquet or Delta beside hand-written Structured Streaming, as whole processes in turn.

    python benchmarks/running/streams.py [RECORDS] [RUNS] [WHAT ...]

A broker is started, RECORDS (default 2,000,000) are sent, and both sides read them in micro-batches of a quarter, with
the same query. The rows of both are counted. Printed are records a second of whole processes, and those without the
start: the seconds of a stream over four records are subtracted, by the clock and of CPU time. `latency`: 1,000 records
a second are sent for a minute to streams that run a micro-batch every second; printed is the 99th percentile of the
time from a record's timestamp to the commit of its row in Delta. WHAT: `parquet`, `delta`, `latency`; by default all.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from measure import PENSTOCK, ROOT, Cost, best, cost, reap_grandchildren

sys.path.insert(0, str(ROOT))
from tests.services.kafka import _running

RATE = 1000
WARM_UP = 20
"""Records a second, and the seconds of which none is counted."""
STREAM_BY_HAND = [sys.executable, str(ROOT / "benchmarks" / "running" / "stream_by_hand.py")]
JOB = '''
env { job.mode = STREAMING, stream.trigger = "%(trigger)s", job.name = "%(name)s" }
source {
  Kafka {
    plugin_output = events, bootstrap.servers = "%(servers)s", topic = "%(topic)s", start_mode = earliest
    metadata_columns = [timestamp]
    max_offsets = %(batch)d
    schema { fields { id = bigint, customer = bigint, amount = "decimal(10,2)", word = string } }
  }
}
transform {
  Sql {
    plugin_input = events, plugin_output = large
    query = """
      select id, customer, amount * 2 as double_amount, upper(word) as word, _timestamp from events where amount > 10
    """
  }
}
sink { %(sink)s }
'''
SINKS = {
    "parquet": 'LocalFile { plugin_input = large, path = "%s", file_format_type = parquet }',
    "delta": 'Delta { plugin_input = large, path = "%s" }',
}


@contextmanager
def broker(folder: Path) -> Iterator[Any]:
    found = subprocess.run([str(ROOT / ".ci" / "kafka")], capture_output=True, text=True, check=True)
    folder.mkdir()
    running = _running(folder, found.stdout.strip())
    try:
        yield next(running)
    finally:
        running.close()


def send(servers: str, topic: str, ids: Iterable[int]) -> None:
    from kafka import KafkaProducer

    with closing(KafkaProducer(bootstrap_servers=servers, linger_ms=50, batch_size=262_144)) as producer:
        for id in ids:
            producer.send(topic, record(id), partition=id % 4)
        producer.flush()


def record(id: int) -> bytes:
    return f'{{"id":{id},"customer":{id % 1000},"amount":{id % 500}.25,"word":"word{id % 77}"}}'.encode()


def latencies(command: list[str], servers: str, topic: str, out: str, work: Path) -> list[float]:
    """Seconds from each record's timestamp to the commit of its row, over a minute of records at a steady rate."""
    from kafka import KafkaProducer

    with open(work / "log", "w") as log, closing(KafkaProducer(bootstrap_servers=servers)) as producer:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        producer.send(topic, record(499))
        wait_for(lambda: len(committed(out)) > 0)
        started, sent = time.time(), 0
        while sent < 60 * RATE:
            producer.send(topic, record(499), partition=sent % 4)
            sent += 1
            if sent % 50 == 0:
                time.sleep(max(0.0, started + sent / RATE - time.time()))
        producer.flush()
        wait_for(lambda: len(committed(out)) == sent + 1)
        process.terminate()  # SIGINT is ignored where a script started this in the background
        process.wait()
    return [committed_at - sent_at for sent_at, committed_at in committed(out) if sent_at > started + WARM_UP]


def committed(out: str) -> list[tuple[float, float]]:
    """When each record was sent, and when its row was committed to the Delta table."""
    import pyarrow.parquet

    found = []
    for commit in Path(out, "_delta_log").glob("*.json"):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for path in (action["add"]["path"] for action in actions if "add" in action):
            times = pyarrow.parquet.read_table(f"{out}/{path}", columns=["_timestamp"])["_timestamp"]
            found += [(moment.timestamp(), commit.stat().st_mtime) for moment in times.to_pylist()]
    return found


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 300
    while not holds():
        if time.monotonic() > until:
            sys.exit("the stream has not committed all records within five minutes")
        time.sleep(1)


def percentile_99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


def compare_latencies(kafka: Any, work: Path) -> None:
    found = {}
    for name in ("by-hand", "penstock"):
        topic, out = kafka.create(f"latency-{name}", 4), f"{work}/latency-{name}"
        command = [*STREAM_BY_HAND, "delta", kafka.servers, out, "1000000", topic, "1 second"]
        if name == "penstock":
            job = work / "latency.conf"
            values = {"name": "latency", "servers": kafka.servers, "sink": SINKS["delta"] % out, "topic": topic}
            job.write_text(JOB % {**values, "trigger": "1 second", "batch": 1_000_000})
            command = [*PENSTOCK, str(job), "--state-dir", str(work / "state")]
        found[name] = percentile_99(latencies(command, kafka.servers, topic, out, work))
    ours, theirs = found["penstock"], found["by-hand"]
    print(f"latency (p99): penstock {ours:.2f} s, by hand {theirs:.2f} s, ratio {theirs / ours:.2f}")


def show(name: str, records: int, whole: tuple[Cost, Cost], start: tuple[Cost, Cost]) -> None:
    """`whole`, `start`: Penstock's costs and those by hand, of all records and of four."""
    (ours, theirs), net = whole, [of_all - of_start for of_all, of_start in zip(whole, start, strict=True)]
    print(
        f"{name}: whole processes {records / ours.wall:,.0f} and by hand {records / theirs.wall:,.0f} records/s, ratio "
        f"{theirs.wall / ours.wall:.2f}; without the start {records / net[0].wall:,.0f} and "
        f"{records / net[1].wall:,.0f}, ratio {net[1].wall / net[0].wall:.2f}; by CPU {records / net[0].cpu:,.0f} and "
        f"{records / net[1].cpu:,.0f}, ratio {net[1].cpu / net[0].cpu:.2f}",
        flush=True,
    )


def costs(name: str, kafka: Any, topic: str, *, batch: int, work: Path, runs: int) -> tuple[Cost, Cost]:
    """Penstock's best run, and the best by hand: in turn, over all records of the topic."""
    ours: list[Cost] = []
    theirs: list[Cost] = []
    for number in range(runs):
        out = f"{work}/{topic}-{name}{number}"
        by_hand = [name, kafka.servers, f"{out}-by-hand", str(batch), topic]
        theirs.append(cost([*STREAM_BY_HAND, *by_hand], work))
        values = {"name": f"{topic}-{name}{number}", "servers": kafka.servers, "topic": topic, "batch": batch}
        job = work / f"{topic}-{name}{number}.conf"
        job.write_text(JOB % {**values, "sink": SINKS[name] % out, "trigger": "available_now"})
        ours.append(cost([*PENSTOCK, str(job)], work))
        if rows(out) != rows(f"{out}-by-hand"):
            sys.exit(f"{name}: {rows(out)} rows, by hand {rows(f'{out}-by-hand')}")
    return best(ours), best(theirs)


def rows(folder: str) -> int:
    import pyarrow.parquet

    return sum(pyarrow.parquet.read_metadata(path).num_rows for path in Path(folder).glob("*.parquet"))


def main() -> None:
    reap_grandchildren()
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    wanted = sys.argv[3:] or [*SINKS, "latency"]
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        with broker(work / "broker") as kafka:
            for topic, ids in (("events", range(records)), ("start", range(496, 500))):
                kafka.create(topic, 4)
                send(kafka.servers, topic, ids)
            for name in filter(wanted.__contains__, SINKS):
                whole, start = (
                    costs(name, kafka, topic, batch=records // 4, work=work, runs=runs) for topic in ("events", "start")
                )
                show(name, records, whole, start)
            if "latency" in wanted:
                compare_latencies(kafka, work)


if __name__ == "__main__":
    main()
