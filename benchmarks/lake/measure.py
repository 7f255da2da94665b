"""Time writes to Delta, Iceberg, Paimon and PostgreSQL beside plain PySpark, as whole processes in turn.

    python -m benchmarks.lake.measure [--rows ROWS] [--runs RUNS] [WHAT …]

WHAT: `append`, `replace`, `one` (an append of one row) and `merge` of Delta, `iceberg` and `paimon` (appends, the
second beside pypaimon alone), `load` and `read` of PostgreSQL; by default all. ROWS: those of Delta (default 10
million); the others get half of them. RUNS: default 3. Printed are the median wall-clock and CPU seconds of the process
with its JVM (not those of the database server), and the ratios. Linux.
"""

import argparse
import inspect
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.running.measure import PENSTOCK, Cost, cost, reap_grandchildren
from tests.services.databases import Database, postgres

ALL = ("append", "replace", "one", "merge", "iceberg", "paimon", "load", "read")
DUPLICATES = 60
"""Changes of each key in the benchmark of merges."""
BY_HAND = [sys.executable, "-m", "benchmarks.lake.by_hand"]
SOURCE = 'source {{ LocalFile {{ path = "{source}", file_format_type = parquet }} }}\n'
DELTA = SOURCE + 'sink {{ Delta {{ path = "{target}", {mode} }} }}\n'
WAREHOUSES = {
    "Iceberg": (SOURCE + 'sink {{ Iceberg {{ warehouse = "{target}", table = "db.rows" }} }}\n', "plain PySpark"),
    "Paimon": (SOURCE + 'sink {{ Paimon {{ warehouse = "{target}", table = "db.rows" }} }}\n', "pypaimon alone"),
}
JDBC = SOURCE + 'sink {{ Jdbc {{ {login}, table = "{table}", data_save_mode = DROP_DATA }} }}\n'
READ = (
    'source {{ Jdbc {{ {login}, table_path = "{table}", partition_column = id, partition_num = 2, '
    'schema {{ fields {{ id = bigint, customer = int, name = string, price = "decimal(27, 6)", at = timestamp }} }} '
    "}} }}\n"
    'sink {{ LocalFile {{ path = "{target}", file_format_type = parquet, data_save_mode = DROP_DATA }} }}\n'
)
"""Both sides write Parquet: the `Spark` sink would stage the rows on its way to `noop`."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", type=part, default=ALL, metavar="WHAT")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    reap_grandchildren()
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        for what in given.what:
            match what:
                case "append" | "replace":
                    delta(work, f"Delta, {what} of {given.rows:,}", generated(work, given.rows), what, given.runs)
                case "one":
                    delta(work, "Delta, append of 1", generated(work, 1), "append", given.runs)
                case "merge":
                    merge(work, given.rows, given.runs)
                case "iceberg":
                    warehouse(work, "Iceberg", given.rows // 2, given.runs)
                case "paimon":
                    warehouse(work, "Paimon", given.rows // 2, given.runs)
        if {"load", "read"} & set(given.what):
            with running(postgres) as database:
                on_postgresql(work, database, given.rows // 2, given.runs, given.what)


def part(text: str) -> str:
    """Not `choices`, which argparse also asks for the default, a tuple."""
    if text not in ALL:
        raise argparse.ArgumentTypeError(f"no benchmark {text!r}: there are {', '.join(ALL)}")
    return text


def generated(work: Path, rows: int, *, keys: int = 0) -> Path:
    """Parquet files of so many rows; `keys`: of so many ids, each several times."""
    folder = work / f"rows-{rows}-{keys}"
    if not folder.exists():
        cost([*BY_HAND, "generate", str(folder), str(rows), *([str(keys)] if keys else [])], work)
    return folder


def delta(work: Path, title: str, source: Path, what: str, runs: int) -> None:
    """Each target holds rows before: a first write of each is not counted."""
    ours, theirs = work / "ours", work / "theirs"
    mode = {"append": "data_save_mode = APPEND_DATA", "replace": "data_save_mode = DROP_DATA"}[what]
    job = written(work / "delta.conf", DELTA, source=source, target=ours, mode=mode)
    compare(title, work, penstock(job), {"plain PySpark": [*BY_HAND, what, str(source), str(theirs)]}, runs)
    shutil.rmtree(ours)
    shutil.rmtree(theirs)


def warehouse(work: Path, kind: str, rows: int, runs: int) -> None:
    """Appends to a table of a warehouse."""
    template, theirs = WAREHOUSES[kind]
    source, name = generated(work, rows), kind.lower()
    folders = {side: work / f"{name}-{side}" for side in ("ours", "theirs")}
    job = written(work / f"{name}.conf", template, source=source, target=folders["ours"])
    by_hand = [*BY_HAND, name, str(source), str(folders["theirs"])]
    compare(f"{kind}, append of {rows:,}", work, penstock(job), {theirs: by_hand}, runs)
    for folder in folders.values():
        shutil.rmtree(folder)


def merge(work: Path, rows: int, runs: int) -> None:
    """A tenth as many changes as the table has rows, with `DUPLICATES` of each key."""
    changes = generated(work, rows // 10, keys=max(rows // 10 // DUPLICATES, 1))
    jobs = {}
    for local_merge in ("auto", "off"):
        target = work / f"merge-{local_merge}"
        cost([*BY_HAND, "replace", str(generated(work, rows)), str(target)], work)
        mode = f"write_mode = upsert, primary_keys = [id], sequence_field = at, local_merge = {local_merge}"
        jobs[local_merge] = penstock(
            written(work / f"{local_merge}.conf", DELTA, source=changes, target=target, mode=mode)
        )
    title = f"Delta, merge of {rows // 10:,} changes into {rows:,}, local_merge auto"
    compare(title, work, jobs["auto"], {"off": jobs["off"]}, runs)


def on_postgresql(work: Path, database: Database, rows: int, runs: int, what: Sequence[str]) -> None:
    source, login = generated(work, rows), [database.url, str(database.user), str(database.password)]
    named = ", ".join(f'{name} = "{value}"' for name, value in database.options.items())
    if "load" in what:
        job = written(work / "load.conf", JDBC, source=source, login=named, table="ours")
        others = {
            "Spark's JDBC writer": [*BY_HAND, "load", str(source), "theirs", *login],
            "with rewritten batches": [*BY_HAND, "load-rewritten", str(source), "rewritten", *login],
        }
        compare(f"PostgreSQL, replace of {rows:,}", work, penstock(job), others, runs)
        held = {database.rows(f"select count(*), sum(id) from {table}")[0] for table in ("ours", "theirs", "rewritten")}
        assert len(held) == 1, held
    if "read" in what:
        cost([*BY_HAND, "load-rewritten", str(source), "stored", *login], work)
        job = written(work / "read.conf", READ, login=named, table="stored", target=work / "read-ours")
        others = {"Spark's JDBC reader": [*BY_HAND, "read", str(rows), "stored", *login, str(work / "read-theirs")]}
        compare(f"PostgreSQL, read of {rows:,}", work, penstock(job), others, runs)


def written(path: Path, template: str, **values: object) -> Path:
    path.write_text(template.format(**values))
    return path


def penstock(job: Path) -> list[str]:
    return [*PENSTOCK, str(job)]


def compare(title: str, work: Path, ours: list[str], others: dict[str, list[str]], runs: int) -> None:
    """Runs in turn, so that a busy moment hits all of them."""
    costs: dict[str, list[Cost]] = {name: [] for name in ("penstock", *others)}
    for number in range(runs + 1):
        for name, command in (("penstock", ours), *others.items()):
            spent = cost(command, work)
            costs[name] += [spent] if number else []  # the first makes the target
    mine = middle(costs["penstock"])
    for name in others:
        other = middle(costs[name])
        print(
            f"{title}: penstock {mine.wall:.1f} s, {name} {other.wall:.1f} s, ratio {mine.wall / other.wall:.2f}; "
            f"CPU {mine.cpu:.1f} s, {other.cpu:.1f} s, ratio {mine.cpu / other.cpu:.2f}",
            flush=True,
        )


def middle(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


@contextmanager
def running(fixture: Callable[[], object]) -> Iterator[Database]:
    """A service of the tests, outside of pytest."""
    function = inspect.unwrap(getattr(fixture, "_get_wrapped_function", lambda: fixture)())
    yield from function()


if __name__ == "__main__":
    main()
