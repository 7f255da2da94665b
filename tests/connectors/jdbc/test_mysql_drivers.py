"""MariaDB by its own driver and by MySQL's, which is how MySQL is tested: rows of tables and queries, and writes."""

from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from connectors.interface.source import ScanTask
from connectors.jdbc.connector import connector
from connectors.jdbc.known_dialects import MYSQL
from engine.compile import Settings, compile_job
from engine.spark.starting.jars import add_alone
from tests.connectors.given_options import options_of

pytestmark = pytest.mark.spark

TYPES = [
    ("bit(1)", "b'1'", "boolean", True),
    ("bit(8)", "b'10000001'", "decimal(20,0)", Decimal(129)),
    ("bit(64)", "b'1' << 63", "decimal(20,0)", Decimal(2**63)),
    ("year", "2024", "int", 2024),
    ("tinyint(1)", "1", "boolean", True),
    ("tinyint(4)", "-7", "tinyint", -7),
    ("tinyint unsigned", "255", "smallint", 255),
    ("mediumint unsigned", "16777215", "int", 16777215),
    ("int unsigned", "4294967295", "bigint", 4294967295),
    ("bigint unsigned", "18446744073709551615", "decimal(20,0)", Decimal(2**64 - 1)),
    ("decimal(30,2) unsigned", "1.25", "decimal(30,2)", Decimal("1.25")),
    ("double unsigned", "1.5", "double", 1.5),
    ("time", "'-12:30:01'", "string", "-12:30:01"),
    ("varchar(20)", "'Ab '", "string", "Ab "),
    ("varbinary(9)", "x'00ff'", "binary", b"\x00\xff"),
]


@pytest.fixture(params=["mariadb", "mysql"])
def database(spark, request, mariadb):
    mariadb.clear()
    if request.param == "mysql":
        add_alone(spark, MYSQL.maven)
        return replace(mariadb, url=mariadb.url.replace("jdbc:mariadb:", "jdbc:mysql:"))
    return mariadb


def read(spark, database, **given):
    options = options_of(connector.source_options, **database.options, **given)
    (table,) = connector.tables(options, Diagnostics())
    described = connector.describe(spark, options)
    return described, connector.read(spark.newSession(), ScanTask(options, table))


def run(spark, folder, text, monkeypatch):
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest, new_run_id

    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(folder / "state"))
    (folder / "job.conf").write_text(text)
    diagnostics = Diagnostics()
    job = compile_job(folder / "job.conf", Settings(compat=Compat.SEATUNNEL_2, reads_secrets=True), diagnostics)
    assert job is not None, list(diagnostics)
    result = run_job(spark.newSession(), job, RunRequest(new_run_id()))
    assert str(result.state).endswith("FINISHED"), result.diagnostics


def test_a_query_has_the_types_of_its_table(spark, database):
    columns = ", ".join(f"c{place} {type} null" for place, (type, *_) in enumerate(TYPES))
    nulls = ", ".join("null" for _ in TYPES)
    literals = ", ".join(literal for _, literal, *_ in TYPES)
    database.run(f"create table t (id int primary key, {columns})", f"insert into t values (1, {literals})",
                 f"insert into t values (2, {nulls})")  # fmt: skip
    for given in ({"table_path": "t"}, {"query": "select * from t;"}):
        table, df = read(spark, database, **given)
        assert [str(column.type) for column in table.columns[1:]] == [type for _, _, type, _ in TYPES], given
        first, second = df.orderBy("id").collect()
        assert list(first[1:]) == [value for *_, value in TYPES], given
        assert set(second[1:]) == {None}


def test_a_split_query_has_them_too(spark, database):
    """By ranges that Spark makes, and by predicates."""
    database.run("create table t (id int, many decimal(30), y year, b bit(9), at timestamp)",
                 "insert into t values (1, 1, 2024, 300, '2024-03-31 02:30:00'), (2, 9, 1999, 1, null)")  # fmt: skip
    moment = datetime(2024, 3, 30, 20, 45, tzinfo=timezone.utc)
    for column in ("id", "many"):
        _, df = read(spark, database, query="select * from t", partition_column=column, partition_num=2)
        rows = sorted(map(tuple, df.selectExpr("id", "y", "b", "unix_seconds(at)").collect()))
        assert rows == [(1, 2024, Decimal(300), int(moment.timestamp())), (2, 1999, Decimal(1), None)]


def test_texts_are_compared_by_their_bytes(spark, database):
    database.run("create table t (name varchar(9))", "insert into t values ('a'), ('A'), ('a ')")
    _, df = read(spark, database, table_path="t")
    assert [row.name for row in df.where("name = 'a'").collect()] == ["a"]


def test_rows_of_a_query_go_into_columns_of_those_types(spark, database, tmp_path, monkeypatch):
    columns = "id int primary key, flag bit(1), bits bit(16), y year, at time, doc json, name varchar(9)"
    database.run(f"create table t ({columns})", f"create table u ({columns})",
                 "insert into t values (1, 1, b'101', 2024, '01:02:03', '{}', 'a')",
                 "insert into t values (2, 0, 65535, null, null, null, '')")  # fmt: skip
    connection = "\n".join(f'{name} = "{value}"' for name, value in database.options.items())
    run(spark, tmp_path, f"""
    source {{ Jdbc {{ {connection}
      query = "select * from t;" }} }}
    sink {{ Jdbc {{ {connection}
      query = "insert into u (id, flag, bits, y, at, doc, name) values (?, ?, ?, ?, ?, ?, ?)" }} }}
    """, monkeypatch)  # fmt: skip
    of = "select id, cast(flag as unsigned), cast(bits as unsigned), y, cast(at as char), doc, name from {} order by id"
    assert database.rows(of.format("u")) == database.rows(of.format("t"))


def test_a_server_without_a_database_and_the_option_of_it(spark, database, tmp_path, monkeypatch):
    database.run("create table t (id int)", "insert into t values (1)")
    server = database.url.removesuffix("/test")
    connection = f'user = "{database.user}", password = "{database.password}"'
    run(spark, tmp_path, f"""
    source {{ Jdbc {{ url = "{server}", {connection}, query = "select * from test.t" }} }}
    sink {{ Jdbc {{ url = "{server}", {connection}, database = test, table = made, generate_sink_sql = true }} }}
    """, monkeypatch)  # fmt: skip
    assert database.rows("select * from made") == [(1,)]
