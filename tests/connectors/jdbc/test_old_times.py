"""Times before 1582-10-15, of which the drivers of databases make others: they are refused, or read as texts."""

import re

import pytest

from engine.cli import main
from tests.connectors.jdbc.test_source import plan, read

pytestmark = pytest.mark.spark

OLD = ("0001-01-01", "1000-01-01", "1500-02-28", "1582-10-04", "1582-10-10", "1582-10-20")
"""The last one is read as it is, and cannot be told from the one before it."""
NEW = ("1582-10-25", "1850-06-01", "9999-12-31")
SELECT = ("cast(d as string) d", "cast(n as string) n")


def make(database, days):
    moments = ", ".join(f"({i}, '{day}', '{day} 12:00:00.000001')" for i, day in enumerate(days))
    kind = "datetime(6)" if database.kind == "mariadb" else "timestamp"
    database.clear()
    database.run(f"create table t (id int, d date, n {kind})", f"insert into t values {moments}")


def stored(df):
    rows = df.orderBy("id").selectExpr(*SELECT).collect()
    assert all(row.n == f"{row.d} 12:00:00.000001" for row in rows), rows
    return [row.d for row in rows]


@pytest.mark.parametrize("given", [{"table_path": "t"}, {"query": "select id, d, n from t"}])
def test_times_before_1582_are_not_read_as_those_of_another_calendar(spark, mariadb, given):
    for day in OLD:
        make(mariadb, [day])
        with pytest.raises(Exception, match="makes another time of it"):
            read(spark, mariadb, **given).collect()
    make(mariadb, NEW)
    df = read(spark, mariadb, **given)
    assert stored(df) == list(NEW)
    recent = df.where("n > timestamp_ntz'2000-01-01'")
    assert stored(recent) == [NEW[-1]]
    assert re.search("n ?[>,] ?(2000-01-01|946684800000000)", plan(recent).partition("PushedFilters: ")[2])


@pytest.mark.parametrize("given", [{"table_path": "t"}, {"query": "select id, d, n from t"}])
def test_times_that_are_read_as_texts_are_those_of_the_database(spark, mariadb, postgres, given):
    for database in (mariadb, postgres):
        make(database, (*OLD, *NEW))
        assert stored(read(spark, database, read_times_as_text=True, **given)) == [*OLD, *NEW], database.kind


def test_the_message_of_an_old_time_names_the_option(spark, mariadb, tmp_path, capsys):
    make(mariadb, OLD[:1])
    options = ", ".join(f'{name} = "{value}"' for name, value in mariadb.options.items())
    (tmp_path / "job.conf").write_text(
        f"source {{ Jdbc {{ {options}, table_path = t, ROWS }} }}\n"
        f'sink {{ LocalFile {{ path = "{tmp_path}/out", file_format_type = parquet }} }}\n'
    )
    job = (tmp_path / "job.conf").read_text()
    (tmp_path / "job.conf").write_text(job.replace("ROWS", "fetch_size = 10"))
    assert main(["run", str(tmp_path / "job.conf"), "--quiet"]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert "error[PEN5463]: a value of `n` is before 1582-10-25, where MariaDB's driver makes another time" in error
    assert "`read_times_as_text = true` reads what the database has" in error
    (tmp_path / "job.conf").write_text(job.replace("ROWS", "read_times_as_text = true"))
    assert main(["run", str(tmp_path / "job.conf"), "--quiet"]) == 0, capsys.readouterr().err
    assert stored(spark.read.parquet(f"{tmp_path}/out")) == [OLD[0]]


def test_a_time_of_a_year_before_christ_is_refused_where_it_is_read_as_text(spark, postgres):
    make(postgres, ["0044-03-15 BC"[:10]])
    postgres.run("update t set n = '0044-03-15 12:00:00 BC'")
    with pytest.raises(Exception, match="0044-03-15 12:00:00 BC"):
        read(spark, postgres, read_times_as_text=True, table_path="t").collect()
