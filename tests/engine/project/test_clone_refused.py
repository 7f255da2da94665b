"""`clone` says without Spark what it would do, and refuses to write the environment that it copies."""

from pathlib import Path

import pytest

from engine.cli import main

PROJECT = {
    "penstock.conf": """
name = "shop"
environments {
  dev { default = true, variables { lake = "lake/dev", to = dev } }
  prod { variables { lake = "lake/prod", to = main } }
}
""",
    "jobs/orders.conf": """
source { LocalFile { plugin_output = "read", path = "in", file_format_type = "csv"
  schema { fields { id = int, day = date } } } }
sink { Delta { plugin_input = "read", path = "${lake}/orders" } }
""",
    "jobs/days.conf": """
source { Delta { plugin_output = "orders", path = "${lake}/orders" } }
transform { Sql { plugin_input = "orders", plugin_output = "days"
  query = "select day, count(*) as n from orders group by 1" } }
sink { LocalFile { plugin_input = "days", path = "${lake}/days", file_format_type = parquet } }
""",
    "jobs/log.conf": """
source { Delta { plugin_output = "orders", path = "${lake}/orders" } }
sink { Iceberg { plugin_input = "orders", warehouse = "lake/warehouse", table = "db.log", to_branch = "${to}" } }
""",
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PENSTOCK_ENV", raising=False)
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_dry_run_shows_how_each_target_is_cloned(folder, capsys):
    assert main(["clone", "--from", "prod", "--dry-run", "--rows", "100"]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.splitlines() == [
        "orders: lake/dev/orders: shallow clone of lake/prod/orders",
        "days: lake/dev/days: at most 100 rows of lake/prod/days",
        "log: lake/warehouse/db/log: branch `dev` of lake/warehouse/db/log",
    ]


def test_a_name_that_is_no_job_is_an_error(folder, capsys):
    assert main(["clone", "ordrs", "--from", "prod", "--dry-run"]) == 2
    assert "did you mean `orders`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "edit", "code", "message"),
    [
        (["--from", "dev"], ("", ""), "PEN1666", "is the environment that would be written"),
        (["--from", "test"], ("", ""), "PEN2704", "there is no environment `test`"),
        (["--from", "prod"], ('"${lake}/days"', '"lake/days"'), "PEN1666", "which the other environment writes, too"),
        (["--from", "prod"], ("parquet", "csv"), "PEN1663", "do not come back"),
    ],
)
def test_a_clone_that_would_not_be_one_is_refused(folder, capsys, arguments, edit, code, message):
    days = folder / "jobs/days.conf"
    days.write_text(days.read_text().replace(*edit))
    assert main(["clone", "days", "--dry-run", *arguments]) == 2
    shown = capsys.readouterr().err
    assert f"error[{code}]" in shown
    assert message in shown
