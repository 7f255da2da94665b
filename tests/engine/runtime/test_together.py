"""Jobs that are run together are committed as one: all targets change, or none."""

import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import connectors
from engine.cli import main
from engine.state.journal import Journal
from tests.connectors.killed_commits import Killed
from tests.engine.runtime.killed_steps import Step, kill, processes_are_gone

pytestmark = pytest.mark.spark

READ = """source { LocalFile { plugin_output = "read", path = "in", file_format_type = "csv"
  schema { fields { id = int, amount = int } } } }
"""
PROJECT = {
    "penstock.conf": """
name = "shop"
jobs = ["jobs"]
groups { night { select = "*", publish = together } }
""",
    "jobs/orders.conf": READ + 'sink { Delta { plugin_input = "read", path = "lake/orders" } }\n',
    "jobs/sums.conf": """
source { Delta { plugin_output = "orders", path = "lake/orders" } }
transform { Sql { plugin_input = "orders", plugin_output = "sums"
  query = "select count(*) as n, sum(amount) as amount from orders" } }
sink { LocalFile { plugin_input = "sums", path = "lake/sums", file_format_type = parquet
  data_save_mode = DROP_DATA, expectations = [{ condition = "amount < 1000", on_violation = FAIL }] } }
""",
    "jobs/stock.conf": READ
    + """transform { Sql { plugin_input = "read", plugin_output = "stock"
  query = "select id % 3 as id, amount from read" } }
sink { Iceberg { plugin_input = "stock", warehouse = "lake/warehouse", table = "db.stock"
  write_mode = upsert, primary_keys = [id] } }
""",
    "jobs/copy.conf": """
source { Iceberg { plugin_output = "stock", warehouse = "lake/warehouse", table = "db.stock" } }
sink { Jdbc { plugin_input = "stock", table = "stock", data_save_mode = DROP_DATA, LOGIN } }
""",
}


@pytest.fixture
def folder(tmp_path, monkeypatch, postgres):
    postgres.clear()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PENSTOCK_STATE_DIR", raising=False)
    login = ", ".join(f'{name} = "{value}"' for name, value in postgres.options.items())
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("LOGIN", login))
    return tmp_path


def orders(folder: Path, *rows: tuple[int, int]) -> None:
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "orders.csv").write_text("".join(f"{id},{amount}\n" for id, amount in rows))


def found(spark, folder: Path, postgres) -> list[object]:
    """The rows of orders, of sums, of the stock and of its copy."""
    lake = folder / "lake"
    readers = [
        (lake / "orders", lambda path: spark.read.format("delta").load(path)),
        (lake / "sums", spark.read.parquet),
        (lake / "warehouse" / "db" / "stock", lambda path: spark.read.format("iceberg").load(path)),
    ]
    rows = [sorted(map(tuple, read(str(path)).collect())) if path.exists() else [] for path, read in readers]
    return [*rows, sorted(postgres.rows("select id, amount from stock")) if "stock" in postgres.tables() else []]


def expected(batches: Sequence[tuple[tuple[int, int], ...]]) -> list[object]:
    """What all four hold after the runs of these batches of orders: each reads what another one has not committed."""
    rows = [row for batch in batches for row in batch]
    if not rows:
        return [[], [], [], []]
    stock = sorted({id % 3: amount for id, amount in rows}.items())
    return [sorted(rows), [(len(rows), sum(amount for _, amount in rows))], stock, stock]


def test_all_jobs_are_committed_or_none(spark, folder, postgres, capsys, monkeypatch):
    first, second, third = ((1, 10), (2, 20)), ((3, 5000),), ((4, 40),)
    orders(folder, *first)
    assert main(["run", "--quiet"]) == 0, capsys.readouterr().err
    assert found(spark, folder, postgres) == expected([first])
    orders(folder, *second)
    assert main(["run", "--together", "--quiet"]) == 1  # an expectation of one of them is violated
    assert "PEN6001" in capsys.readouterr().err
    assert found(spark, folder, postgres) == expected([first])
    orders(folder, *third)
    processes_are_gone(monkeypatch)
    committed, real = [], Journal.committed

    def killed_later(journal, write_id):
        real(journal, write_id)
        committed.append(write_id)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "committed", killed_later)
        with pytest.raises(Killed):
            main(["run", "--run-id", "killed", "--quiet"])
    assert len(committed) == 1
    assert found(spark, folder, postgres) not in (expected([first]), expected([first, third]))
    assert main(["run", "--resume", "killed"]) == 0, capsys.readouterr().err
    assert found(spark, folder, postgres) == expected([first, third])


STEPS = [
    Step(owner, name, is_after)
    for owner, names in (
        (Journal, ("staged", "decide", "committed", "end")),
        *((type(connectors.sink(name)), ("stage", "commit")) for name in ("Delta", "Iceberg", "LocalFile")),
        (type(connectors.sink("Jdbc")), ("stage", "begin_commit", "commit_all", "commit")),
    )
    for name in names
    for is_after in (False, True)
]


@pytest.mark.parametrize(
    ("seed", "kills"),
    [
        (int(os.environ.get("PENSTOCK_TEST_SEED", "1")), 1),
        pytest.param(int(os.environ.get("PENSTOCK_TEST_SEED", "2")), 50, marks=pytest.mark.soak),
    ],
)
def test_a_killed_run_of_delta_iceberg_postgresql_and_files_is_all_or_nothing(
    spark, folder, postgres, capsys, monkeypatch, seed, kills
):
    processes_are_gone(monkeypatch)
    chance, killed, number = random.Random(seed), 0, 0
    done: list[tuple[tuple[int, int], ...]] = []
    while killed < kills:
        number += 1
        batch = ((number, chance.randint(0, 1)), (number + 1, chance.randint(0, 1)))
        orders(folder, *batch)
        step = chance.choice(STEPS)
        count = chance.randint(1, 4) if step.owner is Journal else 1  # each connector has one write here
        run = ["run", "--run-id", f"run{number}", "--quiet"]
        if kill(monkeypatch, step, count, lambda run=run: main(run)):
            killed += 1
            main(["run", "--resume", f"run{number}"])
            is_done = found(spark, folder, postgres)[0] != expected(done)[0]
        else:
            is_done = True
        done = [*done, batch] if is_done else done
        assert found(spark, folder, postgres) == expected(done), (step, capsys.readouterr())
