"""Many small tables in one job, by Penstock and by Apache SeaTunnel's engine, as whole processes in turn.

    python -m benchmarks.seatunnel.many_tables [--tables 50] [--rows 1000] [--runs 1] [pairs|block …]

    pairs     a FakeSource and a LocalFile for each table
    block     one FakeSource with `tables_configs`, one LocalFile with a placeholder

Each table has a column of its own: Penstock would read equal sources once. Both engines read the same file and run as
they do by default, in local mode. The best of RUNS is printed: wall-clock
and CPU seconds with the JVM's. The rows of every table are counted after each run. Linux.
"""

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.running.measure import PENSTOCK, Cost, best, cost, reap_grandchildren
from benchmarks.seatunnel.measure import WORK, compiled


def fields(number: int) -> str:
    return f"fields {{ id = bigint, name{number} = string, amount = double }}"


def pairs(tables: int, rows: int, out: Path) -> str:
    numbers = range(tables)
    sources = (
        f"FakeSource {{ result_table_name = t{number}, row.num = {rows}, schema {{ {fields(number)} }} }}"
        for number in numbers
    )
    sinks = (
        f'LocalFile {{ source_table_name = t{number}, path = "{out}/t{number}", file_format_type = parquet }}'
        for number in numbers
    )
    return job("\n".join(sources), "\n".join(sinks))


def block(tables: int, rows: int, out: Path) -> str:
    entries = "\n".join(
        f'{{ row.num = {rows}, schema {{ table = "d.t{number}", {fields(number)} }} }}' for number in range(tables)
    )
    source = f"FakeSource {{ result_table_name = crm, tables_configs = [{entries}] }}"
    sink = f'LocalFile {{ source_table_name = crm, path = "{out}/${{table_name}}", file_format_type = parquet }}'
    return job(source, sink)


def job(sources: str, sinks: str) -> str:
    return f'env {{ job.mode = "BATCH" }}\nsource {{\n{sources}\n}}\nsink {{\n{sinks}\n}}\n'


JOBS = {"pairs": pairs, "block": block}


def measured(name: str, tables: int, rows: int, runs: int, classpath: str) -> None:
    out, file = WORK / "out", WORK / f"{name}.conf"
    file.write_text(JOBS[name](tables, rows, out), encoding="utf-8")
    java = shutil.which("java")
    assert java is not None, "Java is missing"
    commands = {
        "seatunnel": [java, "-Xmx4g", "-cp", classpath, "RunJobs", str(file)],
        "penstock": [*PENSTOCK, "--compat", "seatunnel", str(file)],
    }
    costs: dict[str, list[Cost]] = {engine: [] for engine in commands}
    for _ in range(runs):  # in turn, so that a busy moment hits both
        for engine, command in commands.items():
            shutil.rmtree(out, ignore_errors=True)
            costs[engine].append(cost(command, WORK))
            check(engine, out, tables, rows)
            one = costs[engine][-1]
            print(f"  {engine}: {one.wall:.1f} s, CPU {one.cpu:.1f} s", flush=True)
    theirs, ours = best(costs["seatunnel"]), best(costs["penstock"])
    print(
        f"{name}, {tables} tables of {rows:,} rows: penstock {ours.wall:.1f} s, seatunnel {theirs.wall:.1f} s, "
        f"ratio {ours.wall / theirs.wall:.2f}; "
        f"CPU {ours.cpu:.1f} s, {theirs.cpu:.1f} s, ratio {ours.cpu / theirs.cpu:.2f}",
        flush=True,
    )


def check(engine: str, out: Path, tables: int, rows: int) -> None:
    found = [sum(row_counts(out / f"t{number}")) for number in range(tables)]
    if found != [rows] * tables:
        print(f"  {engine} wrote other rows than {tables} times {rows:,}: {sum(found):,} in all", flush=True)


def row_counts(folder: Path) -> Iterator[int]:
    import pyarrow.parquet

    for file in folder.rglob("*.parquet"):
        yield pyarrow.parquet.read_metadata(file).num_rows


def of_jobs(name: str) -> str:
    if name not in JOBS:
        raise argparse.ArgumentTypeError(f"choose from {', '.join(JOBS)}")
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", type=of_jobs, default=list(JOBS))
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    reap_grandchildren()
    classpath = compiled()
    for name in given.jobs:
        measured(name, given.tables, given.rows, given.runs, classpath)


if __name__ == "__main__":
    main()
