"""The how-to pages on other days than those they show: a day without rows, a missing variable, a renamed column."""

from pathlib import Path

import pytest

from engine.cli import main
from tests.test_pages import ROOT, in_folder, write_files

HOW_TO = ROOT / "docs" / "how-to"


@pytest.fixture
def page(spark, tmp_path, monkeypatch):
    """Writes the files of a page into the current directory."""
    monkeypatch.chdir(tmp_path)
    leave = in_folder(spark, tmp_path)
    yield lambda name: write_files(HOW_TO / f"{name}.md", tmp_path)
    leave()


@pytest.mark.spark
def test_backfill_with_an_empty_day_a_missing_variable_and_a_renamed_column(spark, page, capsys):
    page("backfill")
    job, data = "jobs/orders.conf", "data/orders_2024-02-0{}.csv".format

    def days():
        rows = spark.read.parquet("out/orders").groupBy("day").count().collect()
        return {str(row["day"]): row["count"] for row in rows}

    assert main(["run", job, "-i", "day=2024-02-03", "--quiet"]) == 0
    assert spark.read.parquet("out/orders").columns == ["id", "amount", "day"]
    assert days() == {}
    for day in (1, 2):
        assert main(["run", job, "-i", f"day=2024-02-0{day}", "--quiet"]) == 0
    assert days() == {"2024-02-01": 2, "2024-02-02": 1}

    Path(data(1)).write_text("id,amount\n")
    assert main(["run", job, "-i", "day=2024-02-01", "--quiet"]) == 0
    assert days() == {"2024-02-02": 1}
    assert main(["run", job, "-i", "day=2024-02-02", "--quiet"]) == 0
    assert days() == {"2024-02-02": 1}
    assert not list(Path("out/orders").glob("*.parquet"))

    capsys.readouterr()
    assert main(["run", job, "--quiet"]) == 2
    assert "error[PEN1003]" in capsys.readouterr().err
    assert main(["validate", job]) == 2
    assert "error[PEN1003]" in capsys.readouterr().out

    Path(data(2)).write_text("id,total\n3,240.00\n")
    assert main(["run", job, "-i", "day=2024-02-02", "--quiet"]) == 2
    err = capsys.readouterr().err
    assert "error[PEN3004]: the declared column `amount` is not in `data/orders_2024-02-02.csv`" in err
    assert "known: `id`, `total`" in err
    assert days() == {"2024-02-02": 1}
