"""Jobs that are run together are committed as one: all targets change, or none."""

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main
from engine.state.journal import Journal
from tests.connectors.killed_commits import Killed

pytestmark = pytest.mark.spark

PROJECT = {
    "penstock.conf": 'name = "shop"\njobs = ["jobs"]\n',
    "jobs/orders.conf": """
source { LocalFile { plugin_output = "read", path = "in", file_format_type = "csv"
  schema { fields { id = int, amount = int } } } }
sink { Delta { plugin_input = "read", path = "lake/orders", data_save_mode = DROP_DATA } }
""",
    "jobs/sums.conf": """
source { Delta { plugin_output = "orders", path = "lake/orders" } }
transform { Sql { plugin_input = "orders", plugin_output = "sums"
  query = "select count(*) as n, sum(LIMIT) as amount from orders" } }
sink { LocalFile { plugin_input = "sums", path = "lake/sums", file_format_type = parquet
  data_save_mode = DROP_DATA, expectations = [{ condition = "amount < 1000", on_violation = FAIL }] } }
""",
    "jobs/log.conf": """
source { LocalFile { plugin_output = "read", path = "in", file_format_type = "csv"
  schema { fields { id = int, amount = int } } } }
sink { Iceberg { plugin_input = "read", warehouse = "lake/warehouse", table = "db.log" } }
""",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("LIMIT", "amount"))
    return tmp_path


def orders(folder: Path, *rows: tuple[int, int]) -> None:
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "orders.csv").write_text("".join(f"{id},{amount}\n" for id, amount in rows))


def found(spark, folder: Path) -> list[object]:
    """The rows of orders, of sums and of the log."""
    lake = folder / "lake"
    found = [
        (lake / "orders", lambda path: spark.read.format("delta").load(path)),
        (lake / "sums", spark.read.parquet),
        (lake / "warehouse" / "db" / "log", lambda path: spark.read.format("iceberg").load(path)),
    ]
    return [sorted(map(tuple, read(str(path)).collect())) for path, read in found if path.exists()]


def test_all_jobs_are_committed_or_none(spark, folder, capsys, monkeypatch):
    orders(folder, (1, 10), (2, 20))
    assert main(["run", "--together", "--quiet"]) == 0, capsys.readouterr().err
    first = [[(1, 10), (2, 20)], [(2, 30)], [(1, 10), (2, 20)]]
    assert found(spark, folder) == first  # the sums are those of the orders that were not committed yet
    orders(folder, (3, 5000))
    assert main(["run", "--together", "--quiet"]) == 1  # an expectation of one of them is violated
    assert "PEN6001" in capsys.readouterr().err
    assert found(spark, folder) == first
    orders(folder, (3, 30))
    monkeypatch.setattr("connectors.commits.run_owner.is_alive", lambda mark: False)
    monkeypatch.setattr("connectors.commits.run_owner.has_died", lambda mark: True)
    committed, real = [], Journal.committed

    def killed_later(journal, write_id):
        real(journal, write_id)
        committed.append(write_id)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "committed", killed_later)
        with pytest.raises(Killed):
            main(["run", "--together", "--run-id", "killed", "--quiet"])
    assert len(committed) == 1
    assert found(spark, folder) != first
    assert main(["run", "--resume", "killed"]) == 0, capsys.readouterr().err
    assert found(spark, folder) == [[(3, 30)], [(1, 30)], [(1, 10), (2, 20), (3, 30)]]
