"""Time jobs by hand in PySpark, by Penstock, and by Penstock with Comet, as whole processes in turn.

    python benchmarks/running/accelerated.py [join|spill|tpch|flights|csv|delta|iceberg …] [--scale 1] [--runs 3]

    join      two Parquet tables joined, grouped by two keys, to Parquet
    spill     a sort of the larger of them by a wide row, to Parquet
    tpch      the 22 queries of TPC-H over Parquet, each to Parquet (DuckDB makes the data)
    flights   the example, from CSV
    csv       ten million rows of CSV times SCALE to Parquet
    delta     a filtered append to a Delta table, `iceberg` to an Iceberg table; by hand and by Penstock

SCALE 1 is 6,000,000 lines and 1,500,000 orders. Printed are the median of RUNS in wall-clock and CPU seconds, the
spread, the ratios to by hand, and the most memory of all processes of a run at once. A fixed loop says how fast the
machine is, and the load what else it does. Linux.
"""

import argparse
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from measure import BY_HAND, JOBS, PENSTOCK, Cost, cost, reap_grandchildren

LINES = """
    select id as line, id * 7919 % {orders} as order_key, cast(id % 50 + 1 as decimal(12, 2)) as quantity,
      cast(id % 99991 as decimal(12, 2)) as price, concat('note ', id % 1000) as note,
      date_add(date'1995-01-01', cast(id % 2500 as int)) as shipped
    from range(0, {lines}, 1, 8)
"""
ORDERS = """
    select id as key, id % 1000 as customer, date_add(date'1995-01-01', cast(id % 2400 as int)) as day,
      cast(id % 5 as string) as priority
    from range(0, {orders}, 1, 4)
"""
QUERIES = {
    "join": "select day, priority, sum(quantity * price) as revenue, count(*) as n from lines join orders "
    "on order_key = key where shipped > date'1996-06-01' group by day, priority",
    "spill": "select * from lines order by note, price desc, line",
    "delta": "select line, price, note from lines where quantity > 30",
    "iceberg": "select line, price, note from lines where quantity > 30",
    "csv": "select line, price * quantity as total, upper(note) as note from rows where quantity > 10",
}
CSV = "line bigint, order_key bigint, quantity decimal(12,2), price decimal(12,2), note string, shipped date"
CASES = ("join", "spill", "tpch", "flights", "csv", "delta", "iceberg")
WAYS = ("by hand", "penstock", "comet")


def tpch(work: Path) -> list[tuple[int, str]]:
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    connection.execute("load tpch")
    return [(number, text.rstrip(";\n ").replace('"', "`")) for number, text in
            connection.execute("select query_nr, query from tpch_queries()").fetchall()]  # fmt: skip


def generate(work: Path, scale: float, cases: list[str]) -> None:
    from by_hand import session

    spark = session()
    sizes = {"lines": int(6_000_000 * scale), "orders": int(1_500_000 * scale)}
    for name, query in (("lines", LINES), ("orders", ORDERS)):
        spark.sql(query.format(**sizes)).write.parquet(f"{work}/data/{name}")
    if "csv" in cases:
        rows = LINES.format(lines=int(10_000_000 * scale), orders=sizes["orders"])
        spark.sql(rows).write.csv(f"{work}/data/rows")
    spark.stop()
    if "tpch" in cases:
        import duckdb

        connection = duckdb.connect(config={"autoinstall_known_extensions": False})
        connection.execute("load tpch")
        connection.execute(f"call dbgen(sf={scale})")
        for (table,) in connection.execute("select table_name from information_schema.tables").fetchall():
            connection.execute(f"copy {table} to '{work}/data/{table}.parquet' (format parquet)")


def job(case: str, work: Path) -> Path:
    """The job file of a case."""
    file = work / f"{case}.conf"
    if case == "tpch":
        names = [path.stem for path in sorted((work / "data").glob("*.parquet"))]
        sources = "".join(_source(name, f"{work}/data/{name}.parquet") for name in names)
        queries = tpch(work)
        steps = "".join(_step(f"q{n}", [name for name in names if re.search(rf"\b{name}\b", text)], text)
                        for n, text in queries)  # fmt: skip
        sinks = "".join(_sink(f"q{n}", "${out}/" + f"q{n}") for n, _ in queries)
        file.write_text(f"source {{ {sources} }}\ntransform {{ {steps} }}\nsink {{ {sinks} }}\n")
        return file
    inputs = [name for name in ("lines", "orders", "rows") if re.search(rf"(?:from|join) {name}\b", QUERIES[case])]
    source = "".join(_source(name, f"{work}/data/{name}") for name in inputs)
    if case == "csv":
        fields = ", ".join(f'{n} = "{t}"' for n, t in (column.split(" ") for column in CSV.split(", ")))
        source = _source("rows", f"{work}/data/rows", "csv", f", schema {{ fields {{ {fields} }} }}")
    sink = _sink("q", "${out}")
    if case == "delta":
        sink = 'Delta { plugin_input = q, path = "${out}" }'
    if case == "iceberg":
        sink = 'Iceberg { plugin_input = q, warehouse = "${out}", table = "db.t" }'
    step = _step("q", inputs, QUERIES[case])
    file.write_text(f"source {{ {source} }}\ntransform {{ {step} }}\nsink {{ {sink} }}\n")
    return file


def _step(name: str, inputs: list[str], query: str) -> str:
    return f'Sql {{ plugin_input = [{", ".join(inputs)}], plugin_output = "{name}", query = """{query}""" }}\n'


def _source(name: str, path: str, kind: str = "parquet", more: str = "") -> str:
    return f'LocalFile {{ plugin_output = "{name}", path = "{path}", file_format_type = {kind}{more} }}\n'


def _sink(name: str, path: str) -> str:
    return (
        f'LocalFile {{ plugin_input = "{name}", path = "{path}", file_format_type = parquet, '
        "data_save_mode = DROP_DATA }\n"
    )


def by_hand(case: str, data: str, out: str) -> None:
    from by_hand import session

    if case in ("delta", "iceberg"):
        _lakehouse(case, out)
    spark = session()
    if case == "csv":
        spark.read.schema(CSV).option("mode", "FAILFAST").csv(f"{data}/rows").createOrReplaceTempView("rows")
    elif case == "tpch":
        for path in Path(data).glob("*.parquet"):
            spark.read.parquet(str(path)).createOrReplaceTempView(path.stem)
        for number, text in tpch(Path(data)):
            spark.sql(text).write.parquet(f"{out}/q{number}")
    else:
        for name in ("lines", "orders"):
            spark.read.parquet(f"{data}/{name}").createOrReplaceTempView(name)
    if case == "delta":
        spark.sql(QUERIES[case]).write.format("delta").save(out)
    elif case == "iceberg":
        spark.sql(QUERIES[case]).writeTo("ice.db.t").create()
    elif case != "tpch":
        spark.sql(QUERIES[case]).write.parquet(out)
    spark.stop()


def _lakehouse(case: str, out: str) -> None:
    """The settings of a session that writes Delta or Iceberg, before Java starts."""
    from connectors.delta.connector import connector as delta
    from connectors.iceberg.connector import connector as iceberg

    settings = {"spark.jars.packages": ",".join((delta if case == "delta" else iceberg).maven)}
    if case == "delta":
        settings |= delta.session_settings
    else:
        settings |= {
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop", "spark.sql.catalog.ice.warehouse": out,
        }  # fmt: skip
    options = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{options} pyspark-shell"


def command(case: str, way: str, work: Path, out: Path) -> list[str]:
    if case == "flights":
        data = str(JOBS["flights"].parent / "data")
        own = [*PENSTOCK, str(JOBS["flights"]), "-i", f"data={data}", "-i", f"out={out}"]
        hand = [*BY_HAND, "flights", data, str(out)]
    else:
        own = [*PENSTOCK, str(work / f"{case}.conf"), "-i", f"out={out}", "--allow-outside"]
        hand = [sys.executable, __file__, "by-hand", case, f"{work}/data", str(out)]
    return hand if way == "by hand" else [*own, "--accelerator", "comet" if way == "comet" else "none"]


def measure(case: str, work: Path, runs: int) -> None:
    if case != "flights":
        job(case, work)
    costs: dict[str, list[Cost]] = {way: [] for way in WAYS}
    memory = dict.fromkeys(WAYS, 0)
    for _ in range(runs):  # in turn, so that a busy moment hits all
        for way in WAYS:
            out = work / f"out-{way.replace(' ', '-')}"
            with Memory() as seen:
                costs[way].append(cost(command(case, way, work, out), work))
            memory[way] = max(memory[way], seen.most)
            shutil.rmtree(out, ignore_errors=True)
    hand = statistics.median(each.wall for each in costs["by hand"])
    cpu = statistics.median(each.cpu for each in costs["by hand"])
    for way, found in costs.items():
        walls = sorted(each.wall for each in found)
        wall, own_cpu = statistics.median(walls), statistics.median(each.cpu for each in found)
        print(
            f"{case}, {way}: {wall:.1f} s ({walls[0]:.1f} to {walls[-1]:.1f}), ratio {wall / hand:.2f}; "
            f"CPU {own_cpu:.1f} s, ratio {own_cpu / cpu:.2f}; memory {memory[way] >> 20} MiB",
            flush=True,
        )


class Memory:
    """The most bytes that all processes below this one had at once, looked at ten times a second during the block."""

    def __init__(self) -> None:
        self.most = 0
        self._ended = Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.1):
            self.most = max(self.most, sum(map(_resident, _below(os.getpid()))))


def _below(process: int) -> Iterator[int]:
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from _below(child)


def _resident(process: int) -> int:
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def machine() -> float:
    """Seconds of a fixed loop in Python: about 1 on a calm machine of two cores of 2024."""
    started = time.perf_counter()
    sum(number * number for number in range(12_000_000))
    return time.perf_counter() - started


def main() -> None:
    if sys.argv[1:2] == ["by-hand"]:
        by_hand(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=CASES, default=list(CASES), metavar="CASE")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    reap_grandchildren()
    print(f"loop {machine():.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
        work = Path(directory)
        if set(given.cases) - {"flights"}:
            generate(work, given.scale, given.cases)
        for case in given.cases:
            measure(case, work, given.runs)
    print(f"loop {machine():.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
