"""Time writes to Delta and PostgreSQL beside plain PySpark, as whole processes in turn.

    python -m benchmarks.lake.measure [ROWS] [RUNS]

ROWS (default 10 million for Delta, half of that for PostgreSQL) and RUNS (default 3). Printed are the median
wall-clock and CPU seconds of the process with its JVM (not those of the database server), and the ratios. Linux.
"""

import ctypes
import inspect
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from benchmarks.running.measure import PENSTOCK, PR_SET_CHILD_SUBREAPER, ROOT, Cost, cost
from tests.services.databases import Database, postgres

BY_HAND = [sys.executable, "-m", "benchmarks.lake.by_hand"]
SOURCE = 'source {{ LocalFile {{ path = "{source}", file_format_type = parquet }} }}\n'
DELTA = SOURCE + 'sink {{ Delta {{ path = "{target}", data_save_mode = {mode} }} }}\n'
JDBC = SOURCE + (
    'sink {{ Jdbc {{ url = "{url}", user = "{user}", password = "{password}", table = "{table}", '
    "data_save_mode = DROP_DATA }} }}\n"
)


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # so that the JVM becomes ours to wait for
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        for name, number in (("rows", rows), ("half", rows // 2), ("one", 1)):
            cost([*BY_HAND, "generate", str(work / name), str(number)], work)
        delta(work, f"Delta, append of {rows:,}", "rows", "append", runs)
        delta(work, f"Delta, replace of {rows:,}", "rows", "replace", runs)
        delta(work, "Delta, append of 1", "one", "append", runs)
        with running(postgres) as database:
            load(work, database, rows // 2, runs)


def delta(work: Path, title: str, source: str, what: str, runs: int) -> None:
    """Each target holds rows before: a first write of each is not counted."""
    ours, theirs = work / "ours", work / "theirs"
    mode = {"append": "APPEND_DATA", "replace": "DROP_DATA"}[what]
    job = work / "delta.conf"
    job.write_text(DELTA.format(source=work / source, target=ours, mode=mode))
    by_hand = [*BY_HAND, what, str(work / source), str(theirs)]
    compare(title, work, [*PENSTOCK, str(job)], {"plain PySpark": by_hand}, runs)
    shutil.rmtree(ours)
    shutil.rmtree(theirs)


def load(work: Path, database: Database, rows: int, runs: int) -> None:
    login = [database.url, str(database.user), str(database.password)]
    url, user, password = login
    job = work / "jdbc.conf"
    job.write_text(JDBC.format(source=work / "half", url=url, user=user, password=password, table="ours"))
    others = {
        "Spark's JDBC writer": [*BY_HAND, "load", str(work / "half"), "theirs", *login],
        "with rewritten batches": [*BY_HAND, "load-rewritten", str(work / "half"), "rewritten", *login],
    }
    compare(f"PostgreSQL, replace of {rows:,}", work, [*PENSTOCK, str(job)], others, runs)
    held = {database.rows(f"select count(*), sum(id) from {table}")[0] for table in ("ours", "theirs", "rewritten")}
    assert len(held) == 1, held


def compare(title: str, work: Path, ours: list[str], others: dict[str, list[str]], runs: int) -> None:
    """Runs in turn, so that a busy moment hits all of them."""
    costs: dict[str, list[Cost]] = {name: [] for name in ("penstock", *others)}
    for number in range(runs + 1):
        for name, command in (("penstock", ours), *others.items()):
            found = cost(command, work)
            costs[name] += [found] if number else []  # the first makes the target
    mine = middle(costs["penstock"])
    for name in others:
        other = middle(costs[name])
        print(
            f"{title}: penstock {mine.wall:.1f} s, {name} {other.wall:.1f} s, ratio {mine.wall / other.wall:.2f}; "
            f"CPU {mine.cpu:.1f} s, {other.cpu:.1f} s, ratio {mine.cpu / other.cpu:.2f}",
            flush=True,
        )


def middle(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(each.wall for each in costs), statistics.median(each.cpu for each in costs))


@contextmanager
def running(fixture: Callable[[], object]):  # type: ignore[no-untyped-def]
    """A service of the tests, outside of pytest."""
    function = inspect.unwrap(getattr(fixture, "_get_wrapped_function", lambda: fixture)())
    yield from function()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
