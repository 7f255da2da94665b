"""Reading databases: types, keys and comments, partitions, and what is pushed down."""

import datetime
from decimal import Decimal

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.jdbc.connector import connector
from engine.cli import main
from tests.connectors.given_options import options_of
from tests.services.databases import PASSWORD

pytestmark = pytest.mark.spark


def scan(database, fields=None, **given):
    schema = {"schema": {"fields": fields}} if fields else {}
    options = options_of(connector.source_options, **database.options, **schema, **given)
    diagnostics = Diagnostics()
    (table,) = connector.tables(options, diagnostics)
    assert list(diagnostics) == []
    return ScanTask(options, table)


def read(spark, database, fields=None, **given):
    return connector.read(spark.newSession(), scan(database, fields, **given))


def described(spark, database, **given):
    return connector.describe(spark, scan(database, **given).options)


def plan(df):
    return df._jdf.queryExecution().executedPlan().toString()


# column, literal, type, value; every one is read by a described schema
POSTGRES_TYPES = [
    ("smallint", "3", "smallint", 3),
    ("bigint", "9223372036854775807", "bigint", 9223372036854775807),
    ("numeric", "4.5", "decimal(38,18)", Decimal("4.5")),
    ("numeric(38,18)", "12345678901234567890.123456789012345678", "decimal(38,18)",
     Decimal("12345678901234567890.123456789012345678")),
    ("numeric(50,2)", "123456789012345678901234567890123456789012345678.12", "string",
     "123456789012345678901234567890123456789012345678.12"),
    ("real", "'Infinity'", "float", float("inf")),
    ("double precision", "-1.5", "double", -1.5),
    ("text", "'ü \U0001f600'", "string", "ü \U0001f600"),
    ("varchar(10)", "'ab'", "string", "ab"),
    ("boolean", "true", "boolean", True),
    ("bytea", r"'\x00ff'", "binary", b"\x00\xff"),
    ("date", "'2024-02-29'", "date", datetime.date(2024, 2, 29)),
    ("timestamp", "'2024-03-31 02:30:00.123456'", "timestamp_ntz", datetime.datetime(2024, 3, 31, 2, 30, 0, 123456)),
    ("timestamptz", "'2024-03-31 02:30:00.123456+05:45'", "timestamp",
     datetime.datetime(2024, 3, 30, 20, 45, 0, 123456)),
    ("time", "'12:30:01.5'", "string", "12:30:01.5"),
    ("uuid", "'9b2b7b3e-0000-4000-8000-000000000001'", "string", "9b2b7b3e-0000-4000-8000-000000000001"),
    ("jsonb", """'{"a": [1]}'""", "string", '{"a": [1]}'),
    ("int[]", "'{1,null,3}'", "array<int>", [1, None, 3]),
    ("text[]", """'{a,"b,c"}'""", "array<string>", ["a", "b,c"]),
    ("interval", "'1 day 02:00:00'", "string", "1 day 02:00:00"),
    ("inet", "'10.0.0.1'", "string", "10.0.0.1"),
    ("bit(8)", "'10000001'", "string", "10000001"),
]  # fmt: skip
MARIADB_TYPES = [
    ("int unsigned", "4294967295", "bigint", 4294967295),
    ("tinyint", "-1", "tinyint", -1),
    ("tinyint unsigned", "255", "smallint", 255),
    ("mediumint", "8388607", "int", 8388607),
    ("bigint unsigned", "18446744073709551615", "decimal(20,0)", Decimal("18446744073709551615")),
    ("decimal(38,18)", "12345678901234567890.123456789012345678", "decimal(38,18)",
     Decimal("12345678901234567890.123456789012345678")),
    ("decimal(65,5)", "123456789012345678901234567890123456789012345678.12345", "string",
     "123456789012345678901234567890123456789012345678.12345"),
    ("float", "1.5", "float", 1.5),
    ("double", "2.5", "double", 2.5),
    ("text", "'ü \U0001f600'", "string", "ü \U0001f600"),
    ("boolean", "true", "boolean", True),
    ("longblob", "x'00ff'", "binary", b"\x00\xff"),
    ("date", "'2024-02-29'", "date", datetime.date(2024, 2, 29)),
    ("datetime(6)", "'2024-03-31 02:30:00.123456'", "timestamp_ntz",
     datetime.datetime(2024, 3, 31, 2, 30, 0, 123456)),
    ("timestamp(6)", "'2024-03-31 02:30:00.123456'", "timestamp", datetime.datetime(2024, 3, 30, 20, 45, 0, 123456)),
    ("time(6)", "'-12:30:01.5'", "string", "-12:30:01.500000"),
    ("year", "2024", "int", 2024),
    ("json", """'{"a": 1}'""", "string", '{"a": 1}'),
    ("enum('a','longest')", "'a'", "string", "a"),
    ("bit(1)", "b'1'", "boolean", True),
    ("bit(8)", "b'10000001'", "decimal(20,0)", Decimal(129)),
]  # fmt: skip
SQLITE_TYPES = [
    ("integer", "9223372036854775807", "bigint", 9223372036854775807),
    ("int", "7", "int", 7),
    ("decimal_text(38,18)", "'12345678901234567890.123456789012345678'", "decimal(38,18)",
     Decimal("12345678901234567890.123456789012345678")),
    ("double", "2.5", "double", 2.5),
    ("text", "'ü \U0001f600'", "string", "ü \U0001f600"),
    ("boolean", "1", "boolean", True),
    ("blob", "x'00ff'", "binary", b"\x00\xff"),
    ("date", "'2024-02-29'", "date", datetime.date(2024, 2, 29)),
    ("datetime", "'2024-03-31 02:30:00.123456'", "timestamp_ntz", datetime.datetime(2024, 3, 31, 2, 30, 0, 123456)),
    ("timestamp", "'2024-03-31 02:30:00.123456'", "timestamp", datetime.datetime(2024, 3, 31, 2, 30, 0, 123456)),
]  # fmt: skip
TYPES = {"postgres": POSTGRES_TYPES, "mariadb": MARIADB_TYPES, "sqlite": SQLITE_TYPES}


def test_every_type_is_read_whole(spark, database):
    cases = TYPES[database.kind]
    columns = ", ".join(f"c{index} {type} null" for index, (type, *_) in enumerate(cases))
    values = ", ".join(literal for _, literal, *_ in cases)
    nulls = ", ".join("null" for _ in cases)
    database.run(f"create table t (id int primary key, {columns})", f"insert into t values (1, {values}), (2, {nulls})")
    table = described(spark, database, table_path="t")
    assert [str(column.type) for column in table.columns[1:]] == [type for _, _, type, _ in cases]
    first, second = read(spark, database, table_path="t").orderBy("id").collect()
    assert list(first[1:]) == [value for *_, value in cases]
    assert list(second[1:]) == [None for _ in cases]


def test_keys_and_comments_are_described(spark, postgres, mariadb):
    postgres.clear()
    postgres.run(
        "create table t (a int, b text not null unique, primary key (a, b))",
        "comment on table t is 'The table'", "comment on column t.a is 'The key'",
    )  # fmt: skip
    mariadb.clear()
    mariadb.run("create table t (a int comment 'The key', b varchar(9) not null unique, primary key (a, b)) "
                "comment 'The table'")  # fmt: skip
    for database in (postgres, mariadb):
        table = described(spark, database, table_path="t")
        assert table.schema.primary_key.columns == ("a", "b")
        assert (table.comment, table.columns[0].comment, table.columns[0].nullable) == ("The table", "The key", False)
        assert ("b",) in [tuple(name for name, _ in key.columns) for key in table.schema.constraint_keys]


@pytest.mark.parametrize("column", ["id", "day", "price", "name", "at"])
def test_partitions_hold_every_row_once(spark, database, column):
    if (database.kind, column) == ("sqlite", "name"):
        with pytest.raises(RunError, match="no function by which a string column"):
            partitioned(spark, database, column)
        return
    df = partitioned(spark, database, column)
    sizes = [len(rows) for rows in df.rdd.glom().collect()]
    assert len(sizes) == 4
    assert sum(sizes) == 60
    assert max(sizes) < 40
    assert sorted(row.id for row in df.collect()) == list(range(60))


def partitioned(spark, database, column):
    database.run("create table t (id int, day date, price decimal(10,2), name varchar(20), at datetime)"
                 .replace("datetime", "timestamp" if database.kind == "postgres" else "datetime"))  # fmt: skip
    rows = [
        f"({i}, '2024-01-{i % 28 + 1:02}', {i}.25, 'n{i}', '2024-01-01 00:{i:02}:00')"
        if i % 7
        else f"({i}, null, null, null, null)"
        for i in range(60)
    ]
    database.run(f"insert into t values {', '.join(rows)}")
    return read(spark, database, table_path="t", partition_column=column, partition_num=4)


def test_split_size_counts_rows(spark, postgres):
    postgres.clear()
    postgres.run("create table t as select generate_series(1, 100) id")
    df = read(spark, postgres, table_path="t", partition_column="id", split__size=30)
    assert (df.rdd.getNumPartitions(), df.count()) == (4, 100)


def test_a_read_of_more_partitions_than_connections_shares_them(spark, postgres, tmp_path):
    postgres.clear()
    postgres.run("create table t as select generate_series(1, 100) id")
    options = ", ".join(f'{name} = "{value}"' for name, value in postgres.options.items())
    options += ", table_path = t, partition_column = id, partition_num = 8, max_connections = 2"
    job = tmp_path / "job.conf"
    job.write_text(f"""
    source {{ Jdbc {{ {options}, schema {{ fields {{ id = int }} }} }} }}
    sink {{ LocalFile {{ path = "{tmp_path}/out", file_format_type = "parquet" }} }}""")
    assert main(["run", str(job)]) == 0
    written = spark.read.parquet(f"{tmp_path}/out")
    assert written.count() == 100
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 2


def test_filters_limits_and_aggregates_are_pushed(spark, postgres):
    postgres.clear()
    postgres.run("create table t as select id, 'n' || id as name from generate_series(1, 9) id")
    df = read(spark, postgres, table_path="t")
    limited = df.select("id").where("id > 3").limit(2)
    assert "PushedFilters: [id IS NOT NULL, id > 3], PushedLimit: LIMIT 2, ReadSchema: struct<id:int>" in plan(limited)
    counted = df.groupBy("name").count()
    assert "PushedAggregates: [COUNT(*)]" in plan(counted)
    assert limited.count() == 2
    assert counted.count() == 9


def test_text_is_compared_as_spark_compares_it(spark, database):
    database.run("create table t (id int, name varchar(20))", "insert into t values (1, 'a'), (2, 'A'), (3, 'a ')")
    df = read(spark, database, table_path="t")
    assert [row.id for row in df.where("name = 'a'").collect()] == [1]
    assert df.groupBy("name").count().count() == 3


def test_declared_types_win(spark, database):
    database.run(
        "create table t (id int, at date, tags varchar(50))", "insert into t values (1, '2024-02-29', '[1,2]')"
    )
    df = read(spark, database, {"at": "timestamp", "id": "string", "tags": "array<int>"}, table_path="t")
    assert df.dtypes == [("at", "timestamp"), ("id", "string"), ("tags", "array<int>")]
    assert [tuple(row) for row in df.collect()] == [(datetime.datetime(2024, 2, 29), "1", [1, 2])]


def test_queries_conditions_and_odd_names(spark, database):
    quote = "`" if database.kind == "mariadb" else '"'
    table = f"{quote}Sel ect{quote}"
    database.run(f"create table {table} (id int, {quote}Or'der{quote} int)")
    database.run(f"insert into {table} values (1, 10), (2, 20)")
    df = read(spark, database, table_path='"Sel ect"', where_condition="where id > 1")
    assert [tuple(row) for row in df.collect()] == [(2, 20)]
    df = read(spark, database, {"n": "bigint"}, query=f"select count(*) as n from {table};")
    assert [tuple(row) for row in df.collect()] == [(2,)]
    assert read(spark, database, table_path='"Sel ect"').select("`Or'der`").where("id = 1").collect()[0][0] == 10


def test_errors_name_the_cause_and_no_password(spark, database):
    database.run("create table t (id int)")
    with pytest.raises(RunError, match=r"PEN5004.*no table `missing`"):
        read(spark, database, table_path="missing")
    with pytest.raises(RunError, match=r"PEN5004.*no column `name`"):
        read(spark, database, {"name": "string"}, table_path="t")
    if database.kind != "sqlite":
        options = options_of(
            connector.source_options, **{**database.options, "password": "wrong" + PASSWORD}, table_path="t"
        )
        with pytest.raises(RunError, match="PEN5012") as caught:
            connector.read(spark, ScanTask(options, CatalogTable.unknown("t")))
        assert PASSWORD not in str(caught.value)


def test_a_driver_that_the_session_lacks_is_named(spark):
    options = options_of(connector.source_options, url="jdbc:oracle:thin:@//localhost:1521/none", table_path="t")
    with pytest.raises(RunError, match=r"PEN5033.*oracle\.jdbc\.OracleDriver"):
        connector.read(spark, ScanTask(options, CatalogTable.unknown("t")))


DECLARED = {"id": "int", "price": "int", "day": "date", "rate": "decimal(4,1)"}
DECLARED_JOB = """
source {{ Jdbc {{ plugin_output = t, {connection}, table_path = "public.t"
  schema {{ fields {{ id = int, price = int, day = date, rate = "decimal(4,1)" }} }} }} }}
sink {{ LocalFile {{ path = "{out}", file_format_type = parquet }} }}
"""


def test_a_declared_type_changes_no_value(spark, postgres, tmp_path, capsys):
    """As a sink's does not: 1.37 declared int is not read as 1, nor a timestamp without its time."""
    postgres.clear()
    postgres.run(
        "create table t (id bigint, price numeric(10,2), day timestamp, rate numeric)",
        "insert into t values (1, 2.00, '2024-03-01 00:00:00', 1.5)",
    )
    (row,) = read(spark, postgres, DECLARED, table_path="t").collect()
    assert tuple(row) == (1, 2, datetime.date(2024, 3, 1), Decimal("1.5"))
    connection = ", ".join(f'{name} = "{value}"' for name, value in postgres.options.items())
    (tmp_path / "job.conf").write_text(DECLARED_JOB.format(connection=connection, out=tmp_path / "out"))
    for changed, said in (
        ("price = 1.37", "the value 1.37 of `price` is decimal(10,2), and does not fit int without loss"),
        ("day = '2024-03-01 10:00:00'", "the value 2024-03-01 10:00:00 of `day` is timestamp_ntz"),
        ("rate = 1.55", "of `rate` is decimal(38,18), and does not fit decimal(4,1) without loss"),
        ("id = 3000000000", "the value 3000000000 of `id` is bigint, and does not fit int without loss"),
    ):
        postgres.run("truncate t", "insert into t values (1, 2.00, '2024-03-01', 1.5)", f"update t set {changed}")
        assert main(["run", str(tmp_path / "job.conf"), "--quiet", "--state-dir", str(tmp_path / "state")]) == 1
        err = capsys.readouterr().err
        assert "error[PEN5501]" in err, err
        assert said in err, err
        assert "in the `schema`, and cast it in the query if that is meant" in err


def test_columns_that_differ_only_in_case_are_named(spark, postgres):
    postgres.clear()
    postgres.run('create table t (id int, who text, "Who" text)')
    with pytest.raises(
        RunError, match="`t` has the columns `who` and `Who`: Spark takes names that differ only in case"
    ):
        read(spark, postgres, table_path="t")


def test_limits_of_lengths_are_no_constraints_of_what_is_written(spark, postgres, mariadb, sqlite):
    """Delta would make them constraints of a new table, which a wider column of the database breaks later."""
    for database in (postgres, mariadb, sqlite):
        if database is not sqlite:
            database.clear()
        database.run("create table t (v varchar(5), c char(4), s text)", "insert into t values ('abc', 'a', 'x')")
        df = read(spark, database, table_path="t")
        assert not any("__CHAR_VARCHAR_TYPE_STRING" in field.metadata for field in df.schema.fields), database.kind
        assert df.where("v = 'abc'").count() == 1
        assert "v = 'abc'" in plan(df.where("v = 'abc'")) or database is not postgres
