"""What `penstock show` prints: nodes of a job, conditions and queries over them, data without a job."""

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main

pytestmark = pytest.mark.spark

JOB = """
source {{ LocalFile {{ plugin_output = orders, path = "{0}/orders.csv", file_format_type = csv
  csv_use_header_line = true, schema {{ fields {{ id = int, customer = string }} }}, {1} }} }}
transform {{ Sql {{ plugin_output = big, query = "select id, customer from orders where id > 1" }} }}
sink {{ LocalFile {{ path = "{0}/out", file_format_type = parquet }} }}
"""


@pytest.fixture
def shown(spark, tmp_path, monkeypatch, capsys):
    """Runs `penstock show` in a folder with a job and a file, and returns its exit code, rows and messages."""
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("id,customer\n1,ann\n2,bob\n3,cy\n")
    Path("job.conf").write_text(JOB.format(tmp_path, ""))

    def show(*arguments):
        code = main(["show", *arguments])
        written = capsys.readouterr()
        rows = [line.split() for line in written.out.splitlines()]
        return code, rows, written.err

    return show


def test_show_where(shown):
    assert shown("job.conf", "--where", "customer like 'b%' -- those with b")[1] == [
        ["id", "customer"], ["2", "bob"], ["1", "row", "of", "`big`"]
    ]  # fmt: skip
    assert shown("job.conf", "orders", "--where", "id = 1 or id = 3")[1][1:3] == [["1", "ann"], ["3", "cy"]]
    code, _, err = shown("job.conf", "--where", "custmer = 'bob'")
    assert code == 2
    assert "error[PEN3004]" in err
    assert "--where:1:1" in err
    assert "did you mean `customer`?" in err


def test_show_sql(shown):
    code, rows, _ = shown(
        "job.conf", "--sql", "select count(*) n, max(o.id) m from orders o left anti join big using (id)"
    )
    assert (code, rows) == (0, [["n", "m"], ["1", "1"], ["1", "row", "of", "`query`"]])
    code, _, err = shown("job.conf", "--sql", "select * from ordres")
    assert code == 2
    assert "error[PEN3002]" in err
    assert "`orders`" in err
    code, rows, _ = shown("job.conf", "--sql", "select id from orders", "--where", "id > 2")
    assert (code, rows[1:]) == (0, [["3"], ["1", "row", "of", "`query`"]])
    assert shown("job.conf", "orders", "--sql", "select 1")[0] == 2


def test_show_path(spark, shown, tmp_path):
    code, rows, err = shown("orders.csv", "--where", "id >= 2", "--limit", "1")
    assert (code, rows) == (0, [["id", "customer"], ["2", "bob"], ["1", "row", "of", "`orders`,", "and", "more"]]), err
    spark.range(3).write.parquet(str(tmp_path / "lake"))
    assert shown("lake", "--sql", "select sum(id) s from lake")[1][1] == ["3"]
    Path("rows.json").write_text('{"a": 1}\n{"a": 2}\n')
    assert shown("rows.json")[1][1:3] == [["1"], ["2"]]
    code, _, err = shown("order.csv")
    assert code == 2
    assert "error[PEN4030]" in err
    assert "did you mean `orders.csv`?" in err


def test_show_and_run_of_an_incremental_source_agree_on_rows(spark, shown, tmp_path):
    Path("job.conf").write_text(JOB.format(tmp_path, "incremental { column = id }"))
    state = ("--state-dir", str(tmp_path / "state"))
    _, rows, err = shown("job.conf", "orders", *state)
    assert len(rows) == 5, err
    assert "`orders` is incremental: the next run reads from the start, and so does this" in err
    assert main(["run", "job.conf", "--quiet", *state]) == 0
    Path("orders.csv").write_text("id,customer\n1,ann\n2,bob\n3,cy\n4,di\n")
    _, rows, err = shown("job.conf", "orders", *state)
    assert rows[1:] == [["4", "di"], ["1", "row", "of", "`orders`"]]
    assert "the next run reads what is past 3, and so does this; `--full-refresh` shows all rows" in err
    assert len(shown("job.conf", "orders", "--full-refresh", *state)[1]) == 6
    assert main(["run", "job.conf", "--run-id", "next", "--quiet", *state]) == 0
    assert spark.read.parquet(str(tmp_path / "out")).count() == 3
