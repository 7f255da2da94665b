"""Rows of an INSERT are stored in the declared types without loss, by default."""

import pytest

from engine.cli import main

SCRIPT = """
CREATE TABLE s (id INT, amount DOUBLE) WITH (
  'connector' = 'FakeSource', 'rows' = '[{{"kind": "INSERT", "fields": [1, {value}]}}]');
CREATE TABLE o (id INT, amount DECIMAL(10,2)) WITH ('connector' = 'LocalFile', 'path' = '{folder}/o',
  'file_format_type' = 'parquet'{options});
INSERT INTO o SELECT id, amount FROM s;
"""


def written(tmp_path, monkeypatch, value, options=""):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job = tmp_path / "job.sql"
    job.write_text(SCRIPT.format(folder=tmp_path, value=value, options=options))
    return str(job)


def test_a_column_whose_declared_type_may_lose_something_is_a_warning(tmp_path, monkeypatch, capsys):
    job = written(tmp_path, monkeypatch, 9.709)
    assert main(["validate", job]) == 0
    shown = capsys.readouterr().out
    assert "warning[PEN4501]: `amount` is double, and decimal(10,2) in the target" in shown
    assert "job.sql:6:26" in shown
    assert "cast it in the query: `CAST(amount AS decimal(10,2))`" in shown
    assert main(["validate", "--strict", job]) == 2
    assert "error[PEN4501]" in capsys.readouterr().out


def test_strict_refuses_a_type_that_is_not_wider(tmp_path, monkeypatch, capsys):
    assert main(["validate", written(tmp_path, monkeypatch, 9.5, ", 'store_assignment' = 'strict'")]) == 2
    assert "error[PEN4003]: `amount` is double, and decimal(10,2) in the target" in capsys.readouterr().out


def test_ansi_and_a_cast_in_the_query_need_no_warning(tmp_path, monkeypatch, capsys):
    job = written(tmp_path, monkeypatch, 9.709, ", 'store_assignment' = 'ansi'")
    assert main(["validate", "--strict", job]) == 0
    assert "PEN4501" not in capsys.readouterr().out


def test_a_plan_shows_the_check_by_its_cast(tmp_path, monkeypatch, capsys):
    assert main(["explain", written(tmp_path, monkeypatch, 9.709)]) == 0
    assert "lossless_cast(`amount` as decimal(10,2)) AS `amount`" in capsys.readouterr().out


@pytest.mark.spark
def test_a_value_that_does_not_fit_fails_the_run(spark, tmp_path, monkeypatch, capsys):
    assert main(["run", written(tmp_path, monkeypatch, 9.709)]) == 1
    shown = capsys.readouterr().err
    assert "error[PEN5501]: the value 9.709 of `amount` is double, and does not fit decimal(10,2) without loss" in shown
    assert not (tmp_path / "o").exists()
    assert main(["run", written(tmp_path, monkeypatch, 9.7)]) == 0
    assert main(["run", written(tmp_path, monkeypatch, 9.709, ", 'store_assignment' = 'ansi'")]) == 0
    stored = [str(row.amount) for row in spark.read.parquet(f"{tmp_path}/o").collect()]
    assert sorted(stored) == ["9.70", "9.71"]


@pytest.mark.spark
def test_validate_warns_of_a_target_that_exists(spark, tmp_path, monkeypatch, capsys):
    spark.sql("select 1 id, 1 amount").write.parquet(f"{tmp_path}/o")
    job = tmp_path / "job.conf"
    job.write_text(f"""
source {{ FakeSource {{ plugin_output = s, row.num = 1, schema {{ fields {{ id = int, amount = double }} }} }} }}
sink {{ LocalFile {{ path = "{tmp_path}/o", file_format_type = parquet }} }}
""")
    assert main(["validate", "--strict", str(job)]) == 2
    assert "error[PEN4501]: `amount` is double, and int in the target" in capsys.readouterr().out


DATABASE = 'url = "jdbc:postgresql://db/shop", user = u, password = p'


@pytest.mark.parametrize(
    ("source", "sink", "codes"),
    [
        ('schema { fields { id = int, amount = "decimal(10,2)" } }', "", (0, 2)),
        ("schema { fields { id = int, amount = int } }", "", (0, 2)),
        ("", "", (0, 2)),  # the schema lock has it
        ('schema { fields { id = int, amount = "decimal(10,2)" } }', ", store_assignment = ansi", (0, 0)),
        ("schema { fields { id = int, amount = double } }", "", (0, 0)),
        ('schema { fields { id = int, amount = "decimal(10,2)" } }', ", schema_save_mode = RECREATE_SCHEMA", (0, 0)),
    ],
    ids=["declared", "declared as int", "locked", "ansi", "wide enough", "made anew"],
)
def test_validate_warns_of_a_database_table_that_the_same_job_reads(
    tmp_path, monkeypatch, capsys, source, sink, codes
):  # fmt: skip
    """An incremental load from a table into itself, say: its columns are declared, or in the schema lock."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penstock.lock").write_text("[job.conf] o\n  id int\n  amount decimal(10,2)\n")
    (tmp_path / "job.conf").write_text(f"""
source {{
  FakeSource {{ plugin_output = s, row.num = 1, schema {{ fields {{ id = int, amount = double }} }} }}
  Jdbc {{ plugin_output = o, {DATABASE}, table_path = "public.o", {source} }}
}}
transform {{ Sql {{ plugin_input = [s, o], plugin_output = n
  query = "select s.id, s.amount from s left anti join o on s.id = o.id" }} }}
sink {{ Jdbc {{ plugin_input = n, {DATABASE}, table = "public.o"{sink} }} }}
""")
    assert (main(["validate", "job.conf"]), main(["validate", "--strict=types", "job.conf"])) == codes
    shown = capsys.readouterr().out
    assert ("`amount` is double, and " in shown) == (codes == (0, 2))
    if codes == (0, 2):
        assert "warning[PEN4501]" in shown
        assert "error[PEN4501]" in shown
        assert "job.conf:7:25" in shown
        assert "as `o` declares it" in shown
