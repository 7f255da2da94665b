"""Time a stream from Kafka to Parquet or Delta beside hand-written Structured Streaming, as whole processes in turn.

    python benchmarks/running/streams.py [RECORDS] [RUNS]

A broker is started, RECORDS (default 2,000,000) are sent, and both sides read them in micro-batches of a quarter, with
the same query. Printed are records a second of wall-clock time, and of CPU time net of a session, with their ratios.
The rows of both are counted.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from measure import BY_HAND, PENSTOCK, ROOT, Cost, best, cost, reap_grandchildren

sys.path.insert(0, str(ROOT))
from tests.services.kafka import _running

STREAM_BY_HAND = [sys.executable, str(ROOT / "benchmarks" / "running" / "stream_by_hand.py")]
JOB = """
env { job.mode = STREAMING, stream.trigger = available_now, job.name = "%(name)s" }
source {
  Kafka {
    plugin_output = events, bootstrap.servers = "%(servers)s", topic = events, start_mode = earliest
    max_offsets = %(batch)d
    schema { fields { id = bigint, customer = bigint, amount = "decimal(10,2)", word = string } }
  }
}
transform {
  Sql {
    plugin_input = events, plugin_output = large
    query = "select id, customer, amount * 2 as double_amount, upper(word) as word from events where amount > 10"
  }
}
sink { %(sink)s }
"""
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


def send(servers: str, count: int) -> None:
    from kafka import KafkaProducer

    with closing(KafkaProducer(bootstrap_servers=servers, linger_ms=50, batch_size=262_144)) as producer:
        for id in range(count):
            value = f'{{"id":{id},"customer":{id % 1000},"amount":{id % 500}.25,"word":"word{id % 77}"}}'
            producer.send("events", value.encode(), partition=id % 4)
        producer.flush()


def show(name: str, records: int, ours: Cost, theirs: Cost, session: Cost) -> None:
    mine, other = records / (ours - session).cpu, records / (theirs - session).cpu
    print(
        f"{name}: penstock {records / ours.wall:,.0f} records/s, by hand {records / theirs.wall:,.0f}, ratio "
        f"{theirs.wall / ours.wall:.2f}; net CPU {mine:,.0f} and {other:,.0f} records/s, ratio {mine / other:.2f}"
    )


def rows(folder: str) -> int:
    import pyarrow.parquet

    return sum(pyarrow.parquet.read_metadata(path).num_rows for path in Path(folder).glob("*.parquet"))


def main() -> None:
    reap_grandchildren()
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        with broker(work / "broker") as kafka:
            kafka.create("events", 4)
            send(kafka.servers, records)
            session = best([cost([*BY_HAND, "session"], work) for _ in range(runs)])
            for name, sink in SINKS.items():
                ours: list[Cost] = []
                theirs: list[Cost] = []
                for number in range(runs):
                    out = f"{work}/{name}{number}"
                    by_hand = [name, kafka.servers, f"{out}-by-hand", str(records // 4)]
                    theirs.append(cost([*STREAM_BY_HAND, *by_hand], work))
                    values = {"name": f"{name}{number}", "servers": kafka.servers, "sink": sink % out}
                    job = work / f"{name}{number}.conf"
                    job.write_text(JOB % {**values, "batch": records // 4})
                    ours.append(cost([*PENSTOCK, str(job)], work))
                    if rows(out) != rows(f"{out}-by-hand"):
                        sys.exit(f"{name}: {rows(out)} rows, by hand {rows(f'{out}-by-hand')}")
                show(name, records, best(ours), best(theirs), session)


if __name__ == "__main__":
    main()
