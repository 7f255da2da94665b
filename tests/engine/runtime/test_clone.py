"""`clone` copies what another environment has, changes nothing there, and replaces nothing that is here."""

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main
from tests.engine.project.test_clone_refused import PROJECT

pytestmark = pytest.mark.spark

INPUT = "1,2024-02-01\n2,2024-02-01\n3,2024-02-02\n"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("PENSTOCK_ENV", "PENSTOCK_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, text in {**PROJECT, "in/orders.csv": INPUT}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def files(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def count(spark, format: str, path: str, **options: str) -> int:
    return spark.read.format(format).options(**options).load(path).count()


def test_targets_are_cloned_once_and_belong_to_their_environment(spark, folder, capsys):
    lake = folder / "lake"
    assert main(["run", "--env", "prod", "--quiet"]) == 0, capsys.readouterr().err
    before = files(lake / "prod")
    assert main(["clone", "--from", "prod", "--rows", "1"]) == 0, capsys.readouterr().err
    assert "orders: lake/dev/orders: shallow clone of lake/prod/orders" in capsys.readouterr().out
    assert count(spark, "delta", f"{lake}/dev/orders") == 3
    assert not list((lake / "dev/orders").glob("*.parquet")), "its rows are the files of the original"
    assert count(spark, "parquet", f"{lake}/dev/days") == 1, "a sample"
    assert count(spark, "iceberg", f"{lake}/warehouse/db/log", branch="dev") == 3
    assert main(["clone", "orders", "days", "--from", "prod"]) == 1
    shown = capsys.readouterr().err
    assert shown.count("PEN1667") == 2
    assert main(["run", "--quiet"]) == 0, capsys.readouterr().err
    assert count(spark, "delta", f"{lake}/dev/orders") == 6
    assert count(spark, "iceberg", f"{lake}/warehouse/db/log", branch="dev") == 9
    assert count(spark, "iceberg", f"{lake}/warehouse/db/log") == 3
    assert main(["clone", "--from", "prod", "--replace", "--quiet"]) == 0, capsys.readouterr().err
    assert count(spark, "delta", f"{lake}/dev/orders") == 3
    assert count(spark, "parquet", f"{lake}/dev/days") == 2
    assert count(spark, "iceberg", f"{lake}/warehouse/db/log", branch="dev") == 3
    assert files(lake / "prod") == before
