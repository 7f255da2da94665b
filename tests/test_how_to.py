"""The how-to pages on other days than those they show: a day without rows, a missing variable, a renamed column."""

import re
import shlex
import shutil
import subprocess
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
def test_backfill_with_an_empty_day_and_a_renamed_column(spark, page, capsys):
    page("backfill")
    job, data = "jobs/orders.conf", "data/orders_2024-02-0{}.csv".format

    def days():
        rows = spark.read.parquet("out/orders").groupBy("day").count().collect()
        return {str(row["day"]): row["count"] for row in rows}

    assert main(["backfill", job, "--from", "2024-02-03", "--quiet"]) == 0
    assert spark.read.parquet("out/orders").columns == ["id", "amount", "day"]
    assert days() == {}
    assert main(["run", job, "--quiet"]) == 0
    assert days() == {"2024-02-01": 2, "2024-02-02": 1}

    Path(data(1)).write_text("id,amount\n")
    restate = ["restate", job, "--quiet", "--from", "2024-02-01", "--to"]
    assert main([*restate, "2024-02-02"]) == 0
    assert days() == {"2024-02-02": 1}
    assert main([*restate, "2024-02-03"]) == 0
    assert days() == {"2024-02-02": 1}
    assert not list(Path("out/orders").glob("*.parquet"))

    capsys.readouterr()
    Path(data(2)).write_text("id,total\n3,240.00\n")
    assert main([*restate, "2024-02-03", "--keep-going"]) == 1
    err = capsys.readouterr().err
    assert "error[PEN3004]: the declared column `amount` is not in `data/orders_2024-02-02.csv`" in err
    assert "known: `id`, `total`" in err
    assert days() == {"2024-02-02": 1}


def workflow_commands() -> list[list[str]]:
    """The commands of the GitHub workflow that need no Spark, against `origin/main`."""
    text = (ROOT / "docs" / "github-action.yml").read_text(encoding="utf-8").replace("${{ github.base_ref }}", "main")
    commands = [shlex.split(line) for line in re.findall(r"run: penstock (.*)", text)]
    assert [command[0] for command in commands] == ["validate", "schema", "test"]
    return commands[:2]


@pytest.fixture
def branch(tmp_path, monkeypatch):
    """A clone with the job of the backfill page, its day a variable with a default; changes of it are on a branch."""
    monkeypatch.chdir(tmp_path)
    write_files(HOW_TO / "backfill.md", tmp_path)
    job = tmp_path / "jobs" / "orders.conf"
    text = re.sub(r"  interval .*\n", "", job.read_text()).replace("${interval_date}", "${day:2024-02-01}")
    job.write_text(text)
    (tmp_path / "penstock.conf").write_text("name = shop\n")
    identity = ["-c", "user.name=ci", "-c", "user.email=ci@localhost"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "base"],
                    ["update-ref", "refs/remotes/origin/main", "HEAD"]):  # fmt: skip
        subprocess.run(["git", *command], check=True)
    return job


@pytest.mark.parametrize(
    ("old", "new", "codes", "said"),
    [
        ("", "", [0, 0], []),
        ("${day:2024-02-01}", "${day}", [2, 1], ["::error", "PEN1003", "the variable `day` is not defined"]),
        ("amount = ", "total = ", [0, 1], ["amount", "total"]),
    ],
    ids=["nothing", "a missing variable", "a renamed column"],
)
def test_the_github_workflow(branch, capsys, old, new, codes, said):
    """Neither gate needs the files of a day, which CI does not have; the header of one is read where it is there."""
    shutil.rmtree("data")
    branch.write_text("# a comment\n" + branch.read_text().replace(old, new) if old else branch.read_text())
    assert [main(command) for command in workflow_commands()] == codes, capsys.readouterr()
    out, err = capsys.readouterr()
    for word in said:
        assert word in out + err
