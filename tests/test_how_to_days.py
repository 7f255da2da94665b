"""The how-to pages on a day without rows, without a variable, and with a renamed column: all by their commands."""

from pathlib import Path

import pytest

from engine.cli import main
from tests.test_how_to import branch, page, workflow_commands  # noqa: F401 (fixtures)


def edit(file: str, *changes: tuple[str, str]) -> None:
    text = Path(file).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, (file, old)
        text = text.replace(old, new)
    Path(file).write_text(text, encoding="utf-8")


@pytest.fixture
def said(capsys):
    """Runs a command, and returns its exit code and all that it prints."""

    def said(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(words))
        written = capsys.readouterr()
        return code, written.out + written.err

    return said


@pytest.mark.spark
def test_environments_with_an_empty_day_a_missing_variable_and_a_renamed_column(spark, page, said):  # noqa: F811
    page("environments")
    run = ("run", "jobs/orders.conf", "--quiet")
    assert said(*run, "--vars", "env/dev.vars")[0] == 0
    assert spark.read.parquet("out/dev/orders").count() == 2
    assert said(*run, "--vars", "env/dev.vars", "-i", "least=1000")[0] == 0  # no row is left
    written = spark.read.parquet("out/dev/orders")
    assert (written.count(), written.columns) == (0, ["id", "amount"])
    code, text = said(*run, "-i", "lake=out/dev")
    assert code == 2
    assert "error[PEN1003]: the variable `least` is not defined" in text
    code, text = said(*run, "--vars", "env/dev.vars", "-i", "lst=5")
    assert code == 2
    assert "error[PEN1501]" in text
    edit("jobs/orders.conf", ("amount = ", "total = "))
    code, text = said("validate", "jobs", "--vars", "env/dev.vars")
    assert code == 2
    assert "error[PEN3004]" in text
    assert "`amount`" in text


@pytest.mark.spark
def test_postgresql_with_an_empty_day_a_missing_variable_and_a_renamed_column(
    spark, postgres, page, said, monkeypatch  # noqa: F811
):  # fmt: skip
    page("postgresql")
    postgres.clear()
    run = ("run", "jobs/load_customers.conf", "--quiet")
    code, text = said(*run)
    assert code == 2
    assert "error[PEN1003]: the variable `SHOP_URL` is not defined" in text
    monkeypatch.setenv("SHOP_URL", postgres.url)
    monkeypatch.setenv("SHOP_USER", postgres.user)
    monkeypatch.setenv("SHOP_PASSWORD", postgres.password)
    assert said(*run)[0] == 0
    rows = [(1, "Ada", "London"), (2, "Grace", "New York")]
    Path("data/customers.csv").write_text("id,name,city\n")
    assert said(*run)[0] == 0
    assert sorted(postgres.rows("select id, name, city from customers")) == rows
    Path("data/customers.csv").write_text("id,fullname,city\n1,Ida,Paris\n")
    code, text = said(*run)
    assert code == 2
    assert "error[PEN3004]: the declared column `name` is not in `data/customers.csv`" in text
    assert sorted(postgres.rows("select id, name, city from customers")) == rows

    assert said("schema", "sync", "jobs/export_customers.conf")[0] == 0
    postgres.run("delete from customers")
    assert said("run", "jobs/export_customers.conf", "--quiet")[0] == 0
    assert spark.read.parquet("out/londoners").count() == 0
    postgres.run("alter table customers rename column name to fullname")
    code, text = said("run", "jobs/export_customers.conf", "--quiet")
    assert code == 1
    assert "`name`" in text
    assert "PEN9001" not in text
    assert said("schema", "sync", "jobs/export_customers.conf")[0] == 0
    code, text = said("validate", "jobs/export_customers.conf")
    assert code == 2
    assert "error[PEN3004]" in text


@pytest.mark.spark
@pytest.mark.delta
def test_a_delta_job_with_an_empty_day_and_a_renamed_column(spark, page, said):  # noqa: F811
    page("delta-cluster")
    job = "jobs/events.conf"
    edit(job, ("row.num = 1000", "row.num = 0"))
    assert said("run", job, "--quiet")[0] == 0
    assert said("run", job, "--quiet")[0] == 0
    assert spark.read.format("delta").load("out/lake/events").count() == 0
    edit(job, ("row.num = 0", "row.num = 3"))
    assert said("run", job, "--quiet")[0] == 0
    assert spark.read.format("delta").load("out/lake/events").count() == 3
    edit(job, ("user = string", "account = string"))
    code, text = said("run", job, "--quiet")  # the query takes all columns: the table has none of this name
    assert code == 1
    assert "error[PEN4003]" in text
    assert "`account`" in text
    edit(job, ("at = timestamp", "at_time = timestamp"))
    code, text = said("validate", job)
    assert code == 2
    assert "error[PEN3004]" in text
    assert "known: `account`, `at_time`, `id`" in text


@pytest.mark.spark
def test_a_failed_run_with_an_empty_day_and_a_renamed_column(spark, page, said):  # noqa: F811
    page("failed-run")
    job = "jobs/ratio.conf"
    code, text = said("run", job, "--quiet")
    assert code == 1
    assert "error[PEN5001]: Division by zero (in `averages`)" in text
    edit(
        job,
        ('{ kind = INSERT, fields = ["north", 100, 4] }', ""),
        ('{ kind = INSERT, fields = ["south", 80, 0] }', ""),
    )
    code, text = said("run", job, "--quiet")
    assert (code, "PEN9001" in text) == (0, False), text
    edit(job, ("orders = int", "order_count = int"))
    code, text = said("validate", job)
    assert code == 2
    assert "error[PEN3004]" in text


def test_the_github_workflow_on_a_day_without_rows_or_files(branch, said):  # noqa: F811
    """The files of the day are there without rows, and then not at all: neither is an error of the change."""
    (data,) = Path("data").glob("*01.csv")
    data.write_text("id,amount\n")
    branch.write_text("# a comment\n" + branch.read_text())
    assert [main(command) for command in workflow_commands()] == [0, 0]
    data.write_text("")
    codes = [main(command) for command in workflow_commands()]
    assert codes == [0, 0]
    data.unlink()
    assert [main(command) for command in workflow_commands()] == [0, 0]
