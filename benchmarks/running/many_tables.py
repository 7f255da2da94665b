"""Time jobs of many tables beside the same written by hand in PySpark, as whole processes in turn.

    python benchmarks/running/many_tables.py [small|tables|routed|explain …] [--rows N] [--tables N] [--runs N]
        [--tuned]

    small     10 rows of one table
    tables    50 tables of 1,000 rows, by hand one after another
    routed    one JSON file of 3,000,000 rows of 20 tables to 20 Parquet targets, by hand as 20 filtered writes
    explain   `penstock explain` of a job of 500 nodes, alone

`--tuned`: with `tuning { hadoop = true, late_compiler = true }`.

For each the best of RUNS (default 1) is printed: wall-clock and CPU seconds with the JVM's. Linux.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measure import PENSTOCK, Cost, best, cost, reap_grandchildren

ROWS = {"small": 10, "tables": 1_000, "routed": 3_000_000}
TABLES = {"small": 1, "tables": 50, "routed": 20}
COLUMNS = "id = bigint, name = string, amount = double"


def fake_job(tables: int, rows: int, out: Path) -> str:
    entries = "\n".join(f'{{ schema {{ table = "d.t{n}", fields {{ {COLUMNS} }} }} }}' for n in range(tables))
    return f"""
    source {{ FakeSource {{ plugin_output = "crm", row.num = {rows}, tables_configs = [{entries}] }} }}
    {sink(out)}"""


def sink(out: Path) -> str:
    options = 'file_format_type = "parquet", data_save_mode = DROP_DATA'
    return f'sink {{ LocalFile {{ path = "{out}/${{table_name}}", {options} }} }}'


def routed_job(tables: int, data: Path, out: Path) -> str:
    entries = "\n".join(
        f'{{ schema {{ table = "d.t{n}", fields {{ id = bigint, v{n % 4} = string, amount = double }} }} }}'
        for n in range(tables)
    )
    fields = "t = string, id = bigint, v0 = string, v1 = string, v2 = string, v3 = string, amount = double"
    return f"""
    source {{ LocalFile {{ plugin_output = "stream", path = "{data}", file_format_type = "json",
                          schema {{ fields {{ {fields} }} }} }} }}
    transform {{ TableRoute {{ plugin_output = "crm", table_column = "t", tables_configs = [{entries}] }} }}
    {sink(out)}"""


def chain_job(nodes: int) -> str:
    steps = "\n".join(
        f'Sql {{ plugin_input = "n{n}", plugin_output = "n{n + 1}", query = "select id, x + {n} as x from n{n}" }}'
        for n in range(nodes - 2)
    )
    return f"""
    source {{ FakeSource {{ plugin_output = "n0", schema {{ fields {{ id = bigint, x = bigint }} }} }} }}
    transform {{ {steps} }}
    sink {{ Console {{ plugin_input = "n{nodes - 2}" }} }}"""


def write_stream(data: Path, rows: int, tables: int) -> None:
    with data.open("w") as file:
        for number in range(rows):
            table = number % tables
            record = {"t": f"d.t{table}", "id": number, f"v{table % 4}": f"value {number}", "amount": number / 7}
            file.write(json.dumps(record) + "\n")


def by_hand(what: str, tables: int, rows: int, data: str, out: str) -> None:
    from by_hand import session

    spark = session()
    if what == "routed":
        schema = "t string, id bigint, v0 string, v1 string, v2 string, v3 string, amount double"
        for number in range(tables):
            df = spark.read.schema(schema).option("mode", "FAILFAST").json(data).where(f"t = 'd.t{number}'")
            df.select("id", f"v{number % 4}", "amount").write.mode("overwrite").parquet(f"{out}/t{number}")
    else:
        for number in range(tables):
            df = spark.range(rows).selectExpr("id", "sha2(cast(id as string), 256) as name", "rand(1) as amount")
            df.write.mode("overwrite").parquet(f"{out}/t{number}")
    spark.stop()


TUNED = "env { tuning { hadoop = true, late_compiler = true } }\n"


def compare(what: str, rows: int, tables: int, runs: int, work: Path, *, tuned: bool) -> None:
    job, data, out = work / f"{what}.conf", work / "stream.json", work / "out"
    if what == "routed":
        write_stream(data, rows, tables)
    text = routed_job(tables, data, out) if what == "routed" else fake_job(tables, rows, out)
    job.write_text((TUNED if tuned else "") + text)
    hand = [sys.executable, __file__, "by-hand", what, str(tables), str(rows), str(data), str(work / "hand")]
    ours: list[Cost] = []
    theirs: list[Cost] = []
    for _ in range(runs):  # in turn, so that a busy moment hits both
        theirs.append(cost(hand, work))
        ours.append(cost([*PENSTOCK, str(job)], work))
    mine, other = best(ours), best(theirs)
    print(
        f"{what}, {tables} tables, {rows:,} rows: penstock {mine.wall:.1f} s, by hand {other.wall:.1f} s, "
        f"ratio {mine.wall / other.wall:.2f}; "
        f"CPU {mine.cpu:.1f} s, {other.cpu:.1f} s, ratio {mine.cpu / other.cpu:.2f}",
        flush=True,
    )


def main() -> None:
    if sys.argv[1:2] == ["by-hand"]:
        what, tables, rows, data, out = sys.argv[2:]
        by_hand(what, int(tables), int(rows), data, out)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["small", "tables", "routed", "explain"])
    for name in ("--rows", "--tables"):
        parser.add_argument(name, type=int)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--tuned", action="store_true")
    given = parser.parse_args()
    reap_grandchildren()
    for what in given.what:
        with tempfile.TemporaryDirectory() as directory:
            work = Path(directory)
            if what == "explain":
                (work / "chain.conf").write_text(chain_job(500))
                command = [sys.executable, "-m", "engine.cli", "explain", str(work / "chain.conf")]
                found = best([cost(command, work) for _ in range(given.runs)])
                print(f"explain of 500 nodes: {found.wall:.2f} s, CPU {found.cpu:.2f} s", flush=True)
            else:
                compare(
                    what, given.rows or ROWS[what], given.tables or TABLES[what], given.runs, work, tuned=given.tuned
                )


if __name__ == "__main__":
    main()
