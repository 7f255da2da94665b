"""Kill -9 of the driver, and of the database servers, per write mode and kind of sink: no old row is lost, no target is
half written, and after the rerun with the same id every row is there exactly once.

One job has a target of each kind for each mode, so that one kill tests all of them. What the kills met is printed.
"""

import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.connectors.killed_runs import Instant, Runner
from tests.connectors.stored_rows import Rows, delta_rows, iceberg_rows, paimon_rows, parquet_rows

KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "1"))
"""How often each job is killed; `make soak` kills it 30 times."""

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.soak]
ROWS = 20
MODES = {
    "replace": "data_save_mode = DROP_DATA",
    "append": "data_save_mode = APPEND_DATA",
    "upsert": "write_mode = upsert, primary_keys = [id]",
    "recreate": "schema_save_mode = RECREATE_SCHEMA, data_save_mode = DROP_DATA",
}
WITHOUT = {("LocalFile", "upsert"), *((kind, "recreate") for kind in ("Delta", "Iceberg", "Paimon", "LocalFile"))}
"""Sinks that have no such mode, or replace whole tables in any case."""
LEDGERS = ["penstock_commits", "penstock_staging"]


class Targets:
    """One job that writes the same rows to a target of each kind in each mode, and what these hold."""

    def __init__(self, folder: Path, kinds: Sequence[str], databases: Sequence[Any]) -> None:
        self.folder = folder
        self.databases = {database.kind: database for database in databases}
        for database in databases:
            database.clear()
        all = product((*self.databases, *kinds), MODES)
        self.names = [name for name in all if name not in WITHOUT]

    def job(self, version: int) -> Path:
        (self.folder / "in").mkdir(exist_ok=True)
        (self.folder / "in" / "rows.csv").write_text("".join(f"{id},{version}\n" for id in range(ROWS)))
        path = self.folder / "job.conf"
        path.write_text(
            f'env {{ job.name = "killed", job.retry.times = {version % 2 * 2}, job.retry.interval.seconds = 1 }}\n'
            f'source {{ LocalFile {{ path = "{self.folder}/in", file_format_type = csv, '
            "schema { fields { id = int, version = int } } } }\n"
            f"sink {{\n{chr(10).join(self._sink(kind, mode) for kind, mode in self.names)}\n}}\n"
        )
        return path

    def _sink(self, kind: str, mode: str) -> str:
        match kind:
            case "Delta":
                return f'Delta {{ path = "{self.folder}/Delta/{mode}", {MODES[mode]} }}'
            case "LocalFile":
                path = f"{self.folder}/LocalFile/{mode}"
                return f'LocalFile {{ path = "{path}", file_format_type = parquet, {MODES[mode]} }}'
            case "Iceberg" | "Paimon":
                return f'{kind} {{ warehouse = "{self.folder}/{kind}", table = "db.{mode}", {MODES[mode]} }}'
        login = "".join(f'{name} = "{value}", ' for name, value in self.databases[kind].options.items())
        return f'Jdbc {{ {login} table = "t_{mode}", {MODES[mode]} }}'

    def check(self, *versions: int, log: str = "") -> None:
        """Every target holds wholly one of these versions."""
        for kind, mode in self.names:
            held = self._held(kind, mode)
            allowed = [self._expected(mode, version) for version in versions]
            assert held in allowed, f"{kind}, {mode}: not the rows of {versions}: {sorted(held.items())}; {log}"

    def check_nothing_is_left(self) -> None:
        """What killed runs have staged is gone."""
        for kind, database in self.databases.items():
            assert database.tables() == sorted([*LEDGERS, *(f"t_{mode}" for mode in MODES)]), kind
            assert database.rows("select count(*) from penstock_staging") == [(0,)], kind

    def _expected(self, mode: str, version: int) -> Rows:
        versions = range(1, version + 1) if mode == "append" else [version]
        return Counter(product(range(ROWS), versions))

    def _held(self, kind: str, mode: str) -> Rows:
        columns = ["id", "version"]
        match kind:
            case "Delta":
                return delta_rows(self.folder / kind / mode, columns)
            case "LocalFile":
                return parquet_rows(self.folder / kind / mode, columns)
            case "Iceberg":
                return iceberg_rows(self.folder / kind / "db" / mode, columns)
            case "Paimon":
                return paimon_rows(self.folder / kind, f"db.{mode}", columns)
        return Counter(self.databases[kind].rows(f"select id, version from t_{mode}"))


class Kills:
    """Counts what kills meet at each target, and what they take."""

    def __init__(self, what: str, targets: Targets) -> None:
        self.what, self.targets, self.started, self.count = what, targets, time.monotonic(), 0
        self.survived = 0
        self.met: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def note(self, steps: set[str], writes: Sequence[str]) -> None:
        """`writes`: the ids of the job's writes, in its order."""
        self.count += 1
        unstaged = [write for write in writes if f"{write}.staged.json" not in steps]
        for name, write in zip(self.targets.names, writes, strict=True):
            if f"{write}.committed.json" in steps:
                met = "committed"
            elif "commit.json" in steps:
                met = "in the commit"
            elif write in unstaged:
                met = "being staged" if write == unstaged[0] and "begin.json" in steps else "before"
            else:
                met = "staged"
            self.met[name][met] += 1

    def report(self) -> None:
        seconds = (time.monotonic() - self.started) / max(self.count, 1)
        print(
            f"\n{self.what}: {self.count} kills, nothing lost, half or twice; {self.survived} runs ended well "
            f"before the rerun; {seconds:.0f} s a kill"
        )
        for (kind, mode), met in self.met.items():
            print(f"  {kind:10} {mode:8}", ", ".join(f"{count} {when}" for when, count in sorted(met.items())))


def until_it_answers(database: Any, seconds: float = 60.0) -> None:
    """PostgreSQL accepts connections, and refuses them, while it recovers."""
    until = time.monotonic() + seconds
    while True:
        try:
            database.rows("select 1")
        except Exception:  # a driver's own
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def begun(runner: Runner, targets: Targets) -> list[str]:
    """There is always an old version. Returns the ids of the job's writes."""
    runner.run(targets.job(1), "v1")
    targets.check(1)
    return runner.writes("v1")


def start_and_wait(runner: Runner, targets: Targets, version: int, chance: random.Random, writes: int) -> None:
    """Start to write this version, and wait for some instant of the run."""
    runner.start(targets.job(version), f"v{version}")
    Instant.some(chance, writes).wait(runner, f"v{version}")


def run_again(runner: Runner, targets: Targets, version: int) -> None:
    """Each target has the version before or this one; after the same run once more, all have this one."""
    targets.check(version - 1, version, log=runner.text())
    runner.run(targets.job(version), f"v{version}")
    targets.check(version, log=runner.text())
    targets.check_nothing_is_left()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_killed_driver_loses_nothing(tmp_path, postgres, mariadb, sqlite, seed):
    targets = Targets(tmp_path, ("Delta", "Iceberg", "Paimon", "LocalFile"), (postgres, mariadb, sqlite))
    chance, kills = random.Random(f"driver {seed}"), Kills("driver", targets)
    runner = Runner(tmp_path)
    try:
        writes = begun(runner, targets)
        for version in range(2, (KILLS + 1) // 2 + 2):
            start_and_wait(runner, targets, version, chance, len(writes))
            runner.kill(java=chance.random() < 0.75)
            kills.note(runner.steps(f"v{version}"), writes)
            runner = Runner(tmp_path)  # starts while the targets are read
            run_again(runner, targets, version)
    finally:
        runner.kill()
    kills.report()


@pytest.mark.parametrize("kind", ["postgres", "mariadb"])
def test_a_killed_server_loses_nothing(request, tmp_path, kind):
    database = request.getfixturevalue(kind)
    targets = Targets(tmp_path, ("LocalFile",), (database,))
    chance, kills = random.Random(f"server {kind}"), Kills(f"server {kind}", targets)
    runner = Runner(tmp_path, separate=True)
    try:
        writes = begun(runner, targets)
        for version in range(2, KILLS + 2):
            start_and_wait(runner, targets, version, chance, len(writes))
            database.restart()
            until_it_answers(database)
            kills.note(runner.steps(f"v{version}"), writes)
            kills.survived += runner.result() == 0
            run_again(runner, targets, version)
    finally:
        runner.kill()
    kills.report()


def test_ten_incremental_runs_with_kills_equal_one_full_load(tmp_path, postgres):
    """A growing table of PostgreSQL and a change feed of Delta, in one job, each run killed at some instant."""
    postgres.clear()
    postgres.run("create table events (id int primary key, at timestamp not null)")
    job, feed = incremental_job(tmp_path, postgres), feeding_job(tmp_path)
    chance, kills = random.Random("incremental"), 0
    runner = Runner(tmp_path)
    try:
        for number in range(10):
            rows = range(number * ROWS, number * ROWS + ROWS)
            at = ", ".join(f"({id}, timestamp '2026-01-01' + interval '{id} seconds')" for id in rows)
            postgres.run(f"insert into events values {at}")
            gone = [id for id in range(number * ROWS) if id % 7 == number % 7]
            changes = [*(f"{id},{number},false" for id in rows), *(f"{id},{number},true" for id in gone)]
            (tmp_path / "changes" / "rows.csv").write_text("\n".join(changes) + "\n")
            runner.run(feed, f"feed{number}")
            runner.start(job, f"r{number}")
            Instant.some(chance, 3).wait(runner, f"r{number}")
            kills += "end.json" not in runner.steps(f"r{number}")
            runner.kill()
            runner = Runner(tmp_path)
            if chance.random() < 0.3:  # else the next run has more to read
                runner.run(job, f"r{number}")
        runner.run(job, "last")
    finally:
        runner.kill()
    print(f"\nincremental: {kills} of 10 runs killed before their end")
    assert kills >= 5
    copied = postgres.rows("select id from copied")
    assert sorted(copied) == postgres.rows("select id from events order by id")
    assert parquet_rows(tmp_path / "out", ["id"]) == Counter(copied)
    assert delta_rows(tmp_path / "target", ["id", "v"]) == delta_rows(tmp_path / "source", ["id", "v"])


def feeding_job(folder: Path) -> Path:
    """Appends to and deletes from a Delta table that records its changes."""
    (folder / "changes").mkdir()
    job = folder / "feed.conf"
    job.write_text(
        'env { job.name = "feed", job.retry.times = 0 }\n'
        f'source {{ LocalFile {{ path = "{folder}/changes", file_format_type = csv, '
        "schema { fields { id = bigint, v = int, gone = boolean } } } }\n"
        f'sink {{ Delta {{ path = "{folder}/source", write_mode = changelog, primary_keys = [id], '
        'delete_condition = "gone", table_properties = { "delta.enableChangeDataFeed" = true } } }\n'
    )
    return job


def incremental_job(folder: Path, postgres: Any) -> Path:
    login = "".join(f'{name} = "{value}", ' for name, value in postgres.options.items())
    job = folder / "job.conf"
    job.write_text(
        'env { job.name = "grow", job.retry.times = 0 }\nsource {\n'
        f'Jdbc {{ plugin_output = a, {login} table_path = "events", incremental {{ column = at }}, '
        "schema { fields { id = int, at = timestamp_ntz } } }\n"
        f'Delta {{ plugin_output = b, path = "{folder}/source", read_change_feed = true, incremental {{}} }}\n'
        "}\nsink {\n"
        f'Jdbc {{ plugin_input = a, {login} table = "copied" }}\n'
        f'LocalFile {{ plugin_input = a, path = "{folder}/out", file_format_type = parquet }}\n'
        f'Delta {{ plugin_input = b, path = "{folder}/target", write_mode = changelog, primary_keys = [id], '
        "sequence_field = _commit_version }\n}\n"
    )
    return job
