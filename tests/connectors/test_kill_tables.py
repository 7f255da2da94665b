"""Kill -9 of a job that appends twenty tables to three kinds of sink: no table is half written, and after the rerun
with the same id every row of every table is there exactly once."""

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.connectors.killed_runs import Run
from tests.connectors.stored_rows import Rows, delta_rows, parquet_rows

KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "1"))
"""How often the job is killed; `make soak` kills it 30 times."""

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.soak]
TABLES = 20
ROWS = 3
KINDS = ("parquet", "delta", "jdbc")


def job(folder: Path, version: int, database) -> Path:
    """Each table has a column of its own type beside the others."""
    for table in range(TABLES):
        (folder / "in" / f"t{table}").mkdir(parents=True, exist_ok=True)
        lines = [f"{id},{version},{table}" for id in range(ROWS)]
        text = "\n".join([f"id,version,own{table}", *lines]) + "\n"
        (folder / "in" / f"t{table}" / "rows.csv").write_text(text)
    login = "".join(f'{name} = "{value}", ' for name, value in database.options.items())
    path = folder / "job.conf"
    path.write_text(f"""
    env {{ job.name = "killed", job.retry.times = 0, parallelism = 4 }}
    source {{ LocalFile {{ plugin_output = in, path = "{folder}/in/{{table}}", file_format_type = csv,
                          csv_use_header_line = true, infer_schema = true }} }}
    sink {{
      LocalFile {{ path = "{folder}/parquet/${{table_name}}", file_format_type = parquet }}
      Delta {{ path = "{folder}/delta/${{table_name}}" }}
      Jdbc {{ {login} table = "${{table_name}}" }}
    }}""")
    return path


def held(folder: Path, kind: str, table: int, database) -> Rows:
    columns = ["id", "version", f"own{table}"]
    if kind == "jdbc":
        rows = database.rows(f"select {', '.join(columns)} from t{table}")
        return Counter(tuple(map(int, row)) for row in rows)
    return {"delta": delta_rows, "parquet": parquet_rows}[kind](folder / kind / f"t{table}", columns)


def expected(table: int, versions: int) -> Counter[tuple[int, ...]]:
    return Counter((id, version, table) for id in range(ROWS) for version in range(1, versions + 1))


def check(folder: Path, database, *versions: int, log: str) -> None:
    for kind in KINDS:
        for table in range(TABLES):
            found = held(folder, kind, table, database)
            assert found in [expected(table, version) for version in versions], (kind, table, found, log)


def test_twenty_tables_of_a_killed_run_are_finished_exactly_once(tmp_path, postgres):
    postgres.clear()
    chance = random.Random("kill tables")
    first = Run(job(tmp_path, 1, postgres), "v1")
    assert first.finish() == 0, first.text()
    check(tmp_path, postgres, 1, log=first.text())
    for version in range(2, KILLS + 2):
        killed = Run(job(tmp_path, version, postgres), f"v{version}")
        was_running = killed.at_some_instant(chance, killed.kill)
        killed.finish()
        steps = Counter(name.rpartition(".")[0].rpartition(".")[2] for name in killed.steps())
        print(f"v{version}: {'killed' if was_running else 'ended before'}", dict(steps), flush=True)
        check(tmp_path, postgres, version - 1, version, log=killed.text())
        rerun = Run(tmp_path / "job.conf", f"v{version}")
        assert rerun.finish() == 0, rerun.text()
        check(tmp_path, postgres, version, log=rerun.text())
