"""All tables of a PostgreSQL database through one source block to sinks with placeholders, one block of each kind."""

import os
from datetime import date
from decimal import Decimal

import pytest

from engine.cli import main

pytestmark = [pytest.mark.spark, pytest.mark.delta]
TABLES = int(os.environ.get("PENSTOCK_TEST_TABLES", "4"))
"""How many tables the database has; `make soak` copies 100."""

VALUES = [
    ("text", ["a", None, "it's\n\u00e9"]),
    ("numeric(12,3)", [Decimal("1.500"), None, Decimal("-999999999.125")]),
    ("date", [date(1999, 12, 31), None, date(2024, 2, 29)]),
    ("boolean", [True, None, False]),
]
JOB = """
env {{ job.name = "copy", job.retry.times = 0, parallelism = 4 }}
source {{ Jdbc {{ plugin_output = shop, {login}, table_path = "shop.\\\\.*", use_regex = true }} }}
sink {{
  LocalFile {{ path = "parquet/${{schema_name}}.${{table_name}}", file_format_type = parquet }}
  Delta {{ path = "delta/${{table_name}}", write_mode = upsert, primary_keys = ["${{primary_key:line}}"] }}
  Jdbc {{ {login}, table = "copied.${{table_name}}", primary_keys = ["${{primary_key:line}}"] }}
}}
"""


def key(table: int) -> str:
    """Each second table has a primary key, of its own name; the others are keyed by the placeholder's default."""
    return f"key{table}" if table % 2 else "line"


def expected(table: int) -> list[tuple]:
    _, values = VALUES[table % len(VALUES)]
    return [(number, value) for number, value in enumerate(values[: 1 + table % 3])]


def create(database, table: int) -> None:
    kind, _ = VALUES[table % len(VALUES)]
    primary = " primary key" if table % 2 else ""
    with database.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(f"create table shop.t{table} ({key(table)} int not null{primary}, own{table} {kind})")
        cursor.executemany(f"insert into shop.t{table} values (%s, %s)", expected(table))


@pytest.fixture
def shop(postgres):
    postgres.run("create schema shop", "create schema copied", "create table public.other (id int)")
    for table in range(TABLES):
        create(postgres, table)
    yield postgres
    postgres.run("drop schema shop cascade", "drop schema copied cascade", "drop table public.other")


def test_every_table_is_copied_with_its_own_schema(spark, shop, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    login = ", ".join(f'{name} = "{value}"' for name, value in shop.options.items())
    (tmp_path / "copy.conf").write_text(JOB.format(login=login))
    assert main(["schema", "sync", "copy.conf"]) == 0, capsys.readouterr().err
    assert main(["validate", "copy.conf"]) == 0, capsys.readouterr().err
    for run_id in ("first", "first"):  # the second writes nothing
        assert main(["run", "copy.conf", "--run-id", run_id]) == 0, capsys.readouterr().err
        for table in range(TABLES):
            check(spark, tmp_path, shop, table)
    for folder in ("parquet", "delta"):
        assert len(list((tmp_path / folder).iterdir())) == TABLES


def check(spark, folder, database, table: int) -> None:
    columns = [key(table), f"own{table}"]
    files = {"parquet": folder / "parquet" / f"shop.t{table}", "delta": folder / "delta" / f"t{table}"}
    for kind, path in files.items():
        df = spark.read.format(kind).load(str(path))
        assert df.columns == columns
        assert sorted(map(tuple, df.collect()), key=lambda row: row[0]) == expected(table)
    assert database.rows(f"select {', '.join(columns)} from copied.t{table} order by 1") == expected(table)
