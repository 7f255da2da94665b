"""Kill -9 of the driver, and of the database servers, per write mode and kind of sink: no old row is lost, no target is
half written, and after the rerun with the same id every row is there exactly once.

One job has a target of each kind, so that one kill tests all of them. Each test prints what its kills met.
"""

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.connectors.killed_runs import Run

KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "1"))
"""How often each job is killed, a kill and a rerun about half a minute; `make soak` kills it 30 times."""

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.soak]
ROWS = 40
MODES = {
    "replace": "data_save_mode = DROP_DATA",
    "append": "",
    "upsert": "write_mode = upsert, primary_keys = [id]",
}


class Targets:
    """One job that writes the same rows to a target of each kind, and what these hold."""

    def __init__(self, spark, folder: Path, mode: str, databases) -> None:
        self.spark, self.folder, self.mode = spark, folder, mode
        self.databases = {database.kind: database for database in databases}
        for database in databases:
            database.clear()

    def job(self, version: int) -> Path:
        lines = [f"{id},{version}" for id in range(ROWS)]
        (self.folder / "in").mkdir(exist_ok=True)
        (self.folder / "in" / "rows.csv").write_text("\n".join(lines) + "\n")
        sinks = [f'Delta {{ path = "{self.folder}/delta", {MODES[self.mode]} }}']
        for kind in ("Iceberg", "Paimon"):
            sinks.append(f'{kind} {{ warehouse = "{self.folder}/{kind}", table = "db.t", {MODES[self.mode]} }}')
        if self.mode != "upsert":
            sinks.append(
                f'LocalFile {{ path = "{self.folder}/parquet", file_format_type = parquet, {MODES[self.mode]} }}'
            )
        for database in self.databases.values():
            login = "".join(f'{name} = "{value}", ' for name, value in database.options.items())
            sinks.append(f'Jdbc {{ {login} table = "t", {MODES[self.mode]} }}')
        path = self.folder / "job.conf"
        path.write_text(
            'env { job.name = "killed", job.retry.times = 0, spark.ui.enabled = "false" }\n'
            f'source {{ LocalFile {{ path = "{self.folder}/in", file_format_type = csv, '
            "schema { fields { id = int, version = int } } } }\n"
            f"sink {{ {chr(10).join(sinks)} }}\n"
        )
        return path

    def expected(self, version: int) -> Counter[tuple[int, int]]:
        versions = range(1, version + 1) if self.mode == "append" else [version]
        return Counter((id, each) for id in range(ROWS) for each in versions)

    def found(self) -> dict[str, Counter[tuple[int, int]]]:
        held = {}
        for kind in ("delta", "parquet"):
            path = self.folder / kind
            if path.exists():
                df = self.spark.read.format(kind).load(str(path)).select("id", "version")
                held[kind] = Counter(map(tuple, df.collect()))
        iceberg = self.spark.read.format("iceberg").load(f"{self.folder}/Iceberg/db/t").select("id", "version")
        held["iceberg"] = Counter(map(tuple, iceberg.collect()))
        held["paimon"] = Counter((row["id"], row["version"]) for row in paimon_rows(f"{self.folder}/Paimon", "db.t"))
        for kind, database in self.databases.items():
            held[kind] = Counter(database.rows("select id, version from t"))
        return held

    def check(self, *versions: int, log: str = "") -> None:
        """Every target holds wholly one of these versions."""
        allowed = [self.expected(version) for version in versions]
        for kind, held in self.found().items():
            assert held in allowed, f"{kind} holds {sorted(held.items())[:5]}…, {sum(held.values())} rows; {log}"


def paimon_rows(warehouse: str, name: str) -> list[dict[str, int]]:
    from pypaimon import CatalogFactory

    builder = CatalogFactory.create({"warehouse": warehouse}).get_table(name).new_read_builder()
    return builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist()


class Kills:
    """Counts what kills meet, and what they take."""

    def __init__(self, what: str) -> None:
        self.what, self.met, self.started = what, Counter[str](), time.monotonic()

    def at_some_instant(self, running: Run, chance: random.Random, act) -> None:
        is_running, steps = running.at_some_instant(chance, act), running.steps()
        is_over = not is_running or "end.json" in steps
        self.met["after the end" if is_over else "committing" if "commit.json" in steps else "staging"] += 1

    def report(self) -> None:
        seconds = (time.monotonic() - self.started) / max(self.met.total(), 1)
        met = ", ".join(f"{count} {when}" for when, count in sorted(self.met.items()))
        print(f"\n{self.what}: {self.met.total()} kills ({met}), nothing lost, half or twice; {seconds:.0f} s a kill")


@pytest.mark.parametrize("mode", MODES)
def test_a_killed_run_is_finished_exactly_once(spark, tmp_path, postgres, mariadb, sqlite, mode):
    targets = Targets(spark, tmp_path, mode, (postgres, mariadb, sqlite))
    chance, kills = random.Random(f"kill {mode}"), Kills(f"driver, {mode}")
    begun(targets)
    for version in range(2, KILLS + 2):
        job = targets.job(version)
        killed = Run(job, f"v{version}")
        kills.at_some_instant(killed, chance, killed.kill)
        killed.finish()
        targets.check(version - 1, version, log=killed.text())
        rerun = Run(job, f"v{version}")
        assert rerun.finish() == 0, rerun.text()
        targets.check(version, log=rerun.text())
    kills.report()


@pytest.mark.parametrize("mode", MODES)
def test_a_killed_server_loses_nothing(spark, tmp_path, postgres, mariadb, mode):
    targets = Targets(spark, tmp_path, mode, (postgres, mariadb))
    chance, kills = random.Random(f"server {mode}"), Kills(f"server, {mode}")
    begun(targets)
    for version in range(2, KILLS + 2):
        job = targets.job(version)
        running = Run(job, f"v{version}")
        kills.at_some_instant(running, chance, chance.choice((postgres, mariadb)).restart)
        running.finish()
        targets.check(version - 1, version, log=running.text())
        rerun = Run(job, f"v{version}")
        assert rerun.finish() == 0, rerun.text()
        targets.check(version, log=rerun.text())
    kills.report()


def begun(targets: Targets) -> None:
    """There is always an old version."""
    first = Run(targets.job(1), "v1")
    assert first.finish() == 0, first.text()
    targets.check(1)


def test_ten_incremental_runs_with_kills_equal_one_full_load(spark, tmp_path, postgres):
    """A growing table of PostgreSQL and a change feed of Delta, in one job, each run killed at some instant."""
    postgres.clear()
    postgres.run("create table events (id int primary key, at timestamp not null)")
    spark.sql(
        f"create table delta.`{tmp_path}/source` (id bigint, v int) using delta "
        "tblproperties (delta.enableChangeDataFeed = true)"
    )
    login = "".join(f'{name} = "{value}", ' for name, value in postgres.options.items())
    schema = "schema { fields { id = int, at = timestamp_ntz } }"
    job = tmp_path / "job.conf"
    job.write_text(
        'env { job.name = "grow", job.retry.times = 0 }\nsource {\n'
        f'Jdbc {{ plugin_output = a, {login} table_path = "events", incremental {{ column = at }}, {schema} }}\n'
        f'Delta {{ plugin_output = b, path = "{tmp_path}/source", read_change_feed = true, incremental {{}} }}\n'
        "}\nsink {\n"
        f'Jdbc {{ plugin_input = a, {login} table = "copied" }}\n'
        f'LocalFile {{ plugin_input = a, path = "{tmp_path}/out", file_format_type = parquet }}\n'
        f'Delta {{ plugin_input = b, path = "{tmp_path}/target", write_mode = changelog, primary_keys = [id], '
        "sequence_field = _commit_version }\n}\n"
    )
    chance = random.Random("incremental")
    kills = 0
    for number in range(10):
        rows = range(number * 20, number * 20 + 20)
        for id in rows:
            postgres.run(f"insert into events values ({id}, timestamp '2026-01-01' + interval '{id} seconds')")
        listed = ", ".join(f"({id}, {number})" for id in rows)
        spark.sql(f"insert into delta.`{tmp_path}/source` values {listed}")
        spark.sql(f"delete from delta.`{tmp_path}/source` where id % 7 = {number % 7} and id < {number * 20}")
        running = Run(job, f"r{number}")
        kills += running.at_some_instant(chance, running.kill)
        running.finish()
        if chance.random() < 0.3:  # else the next run has more to read
            assert Run(job, f"r{number}").finish() == 0, running.text()
    last = Run(job, "last")
    assert last.finish() == 0, last.text()
    assert kills >= 5
    copied = postgres.rows("select id from copied order by id")
    assert copied == postgres.rows("select id from events order by id")
    assert sorted(map(tuple, spark.read.parquet(f"{tmp_path}/out").select("id").collect())) == copied
    full = spark.read.format("delta").load(f"{tmp_path}/source").collect()
    held = spark.read.format("delta").load(f"{tmp_path}/target").select("id", "v").collect()
    assert sorted(map(tuple, held)) == sorted(map(tuple, full))
