"""Time a job whose three Parquet sinks share one CSV beside the same written by hand, as whole processes in turn.

    python benchmarks/running/shared.py [aggregate|source …] [--rows 5000000] [--runs 1]

    aggregate   the sinks read one aggregation of the CSV
    source      the sinks read the CSV: one an aggregation, two a filter each

By hand twice: `naive` computes for each sink what is shared, `persist` calls `persist(DISK_ONLY)` on it. Printed are
the best wall-clock and CPU seconds of RUNS, the JVM's with them, and the ratios to the better of both. Linux.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from measure import PENSTOCK, Cost, best, cost, reap_grandchildren

SCHEMA = "id bigint, customer int, amount double, note string"
TOTALS = "select customer, count(*) as orders, sum(amount) as total, max(note) as last from rows group by customer"
QUERIES = {
    "aggregate": {
        "all": "select * from totals",
        "large": "select customer, total from totals where total > 5000000",
        "few": "select customer, orders, last from totals where customer < 5000",
    },
    "source": {
        "all": "select * from totals",
        "large": "select id, customer, amount from rows where amount > 90000",
        "few": "select id, note from rows where customer % 10 = 3",
    },
}


def job(what: str, data: Path, out: Path) -> str:
    fields = ", ".join(" = ".join(column.split()) for column in SCHEMA.split(", "))
    steps = "".join(
        f'Sql {{ plugin_input = "{_read(query)}", plugin_output = "{name}", query = "{query}" }}\n'
        for name, query in {"totals": TOTALS, **QUERIES[what]}.items()
    )
    sinks = "".join(
        f'LocalFile {{ plugin_input = "{name}", path = "{out}/{name}", file_format_type = parquet, '
        "data_save_mode = DROP_DATA }\n"
        for name in QUERIES[what]
    )
    return f"""
    source {{ LocalFile {{ plugin_output = "rows", path = "{data}", file_format_type = csv,
                          schema {{ fields {{ {fields} }} }} }} }}
    transform {{ {steps} }}
    sink {{ {sinks} }}"""


def _read(query: str) -> str:
    return "totals" if " from totals" in query else "rows"


def by_hand(what: str, how: str, data: str, out: str) -> None:
    from by_hand import session
    from pyspark import StorageLevel

    spark = session()
    rows = spark.read.schema(SCHEMA).option("mode", "FAILFAST").csv(data)
    if how == "persist" and what == "source":
        rows = rows.persist(StorageLevel.DISK_ONLY)
    rows.createOrReplaceTempView("rows")
    totals = spark.sql(TOTALS)
    if how == "persist" and what == "aggregate":
        totals = totals.persist(StorageLevel.DISK_ONLY)
    totals.createOrReplaceTempView("totals")
    for name, query in QUERIES[what].items():
        spark.sql(query).write.mode("overwrite").parquet(f"{out}/{name}")
    spark.stop()


def write_rows(data: Path, rows: int) -> None:
    with data.open("w") as file:
        file.writelines(f"{id},{id * 7919 % 50_000},{id % 99_991}.25,note {id % 1000} of it\n" for id in range(rows))


def main() -> None:
    if sys.argv[1:2] == ["by-hand"]:
        by_hand(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", type=shape, default=list(QUERIES))
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    reap_grandchildren()
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        write_rows(work / "rows.csv", given.rows)
        for what in given.what:
            compare(what, given.runs, work)


def shape(name: str) -> str:
    if name not in QUERIES:
        raise argparse.ArgumentTypeError(f"choose from {', '.join(QUERIES)}")
    return name


def compare(what: str, runs: int, work: Path) -> None:
    data, out, file = work / "rows.csv", work / "out", work / f"{what}.conf"
    file.write_text(job(what, data, out))
    hand = [sys.executable, __file__, "by-hand", what]
    commands = {how: [*hand, how, str(data), str(out)] for how in ("naive", "persist")}
    commands["penstock"] = [*PENSTOCK, str(file)]
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(runs):  # in turn, so that a busy moment hits all
        for name, command in commands.items():
            costs[name].append(cost(command, work))
            shutil.rmtree(out)
    found = {name: best(own) for name, own in costs.items()}
    wall = found["penstock"].wall / min(found["naive"].wall, found["persist"].wall)
    cpu = found["penstock"].cpu / min(found["naive"].cpu, found["persist"].cpu)
    shown = "; ".join(f"{name} {own.wall:.1f} s, CPU {own.cpu:.1f} s" for name, own in found.items())
    print(f"{what}: {shown}; ratio {wall:.2f}, CPU {cpu:.2f}", flush=True)


if __name__ == "__main__":
    main()
