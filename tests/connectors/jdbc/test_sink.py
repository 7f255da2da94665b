"""What a Jdbc sink does beside the shared suite: types, keys, changes, its own SQL, several sinks of one database."""

import datetime
from dataclasses import replace
from decimal import Decimal

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.jdbc.connector import connector
from engine.runtime.transient import is_transient
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from engine.state.journal import RunOutcome, journal_in
from engine.state.layout import layout_at
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, stage_writes, write

pytestmark = pytest.mark.spark


def sink(database, select, *columns, id="w", table="t", **given):
    return write(connector, rows(select, *columns), id, **database.options, table=table, **given)


def read(spark, database, schema=None, table="t"):
    fields = {"schema": {"fields": schema}} if schema else {}
    options = options_of(connector.source_options, **database.options, table_path=table, **fields)
    (known,) = connector.tables(options, Diagnostics())
    return connector.read(spark.newSession(), ScanTask(options, known if schema else CatalogTable.unknown("t")))


# name, Spark SQL, type, value as collected
TYPES = [
    ("boolean", "true", "boolean", True),
    ("tinyint", "cast(-128 as tinyint)", "tinyint", -128),
    ("smallint", "cast(32767 as smallint)", "smallint", 32767),
    ("int", "-2147483648", "int", -2147483648),
    ("bigint", "9223372036854775807L", "bigint", 9223372036854775807),
    ("float", "cast(1.5 as float)", "float", 1.5),
    ("double", "1.7976931348623157e308D", "double", 1.7976931348623157e308),
    ("decimal", "12345678901234567890.123456789012345678BD", "decimal(38,18)",
     Decimal("12345678901234567890.123456789012345678")),
    ("whole", "cast('99999999999999999999999999999999999999' as decimal(38,0))", "decimal(38,0)",
     Decimal("99999999999999999999999999999999999999")),
    ("string", r"'ü 😀 \' " + r'" \\ \t'  + "'", "string", "ü 😀 ' \" \\ \t"),
    ("empty", "''", "string", ""),
    ("binary", "x'00ff10'", "binary", b"\x00\xff\x10"),
    ("date", "date'0001-01-01'", "date", datetime.date(1, 1, 1)),
    ("timestamp", "timestamp'2024-03-31 02:30:00.123456Z'", "timestamp",
     datetime.datetime(2024, 3, 31, 2, 30, 0, 123456)),
    ("timestamp_ntz", "timestamp_ntz'2024-03-31 02:30:00.123456'", "timestamp_ntz",
     datetime.datetime(2024, 3, 31, 2, 30, 0, 123456)),
    ("ints", "array(1, null, 3)", "array<int>", [1, None, 3]),
    ("texts", "array('a', 'b,c', '\"')", "array<string>", ["a", "b,c", '"']),
    ("struct", "named_struct('a', 1, 'b', array('x'))", "struct<a:int,b:array<string>>", (1, ["x"])),
    ("map", "map('k', 1.5D)", "map<string,double>", {"k": 1.5}),
    ("select", "'a reserved name'", "string", "a reserved name"),
    ("Or'der \"x\" `y`", "1", "int", 1),
]  # fmt: skip


def test_every_type_comes_back(spark, database, tmp_path):
    listed = ", ".join(f"{value} as `{name.replace('`', '``')}`" for name, value, *_ in TYPES)
    nulls = ", ".join(f"cast(null as {type})" for _, _, type, _ in TYPES)
    query = f"select 1 id, {listed} union all select 2, {nulls}"
    columns = ("id int", *(f"{name.replace(' ', '_')} {type}" for name, _, type, _ in TYPES))
    job = sink(database, query, "id int")
    table = CatalogTable.of("t", spark_columns(spark, query))
    run_writes(spark, [replace(job, input=replace(job.input, table=table))], str(tmp_path), "run")
    schema = {"id": "int"} | {name: type for name, _, type, _ in TYPES}
    assert len(columns) == len(schema)
    first, second = read(spark, database, schema).orderBy("id").collect()
    assert dict(zip(schema, first, strict=True)) == {"id": 1} | {name: value for name, _, _, value in TYPES}
    assert list(second[1:]) == [None] * len(TYPES)


def spark_columns(spark, query):
    from connectors.shared.spark_types import columns_of

    return columns_of(spark.sql(query).schema)


def test_not_a_number(spark, database, tmp_path):
    job = [sink(database, "select 1 id, double('NaN') x", "id int", "x double")]
    if database.kind == "postgres":
        run_writes(spark, job, str(tmp_path), "run")
        assert str(read(spark, database).first().x) == "nan"
        return
    with pytest.raises(RunError, match="column `x` is NaN or infinite"):
        run_writes(spark, job, str(tmp_path), "run")
    assert "t" not in database.tables()


COLUMNS = ("id int", "name string", "at int")


def values(*rows):
    listed = ", ".join(f"({', '.join(repr(value) if value is not None else 'null' for value in row)})" for row in rows)
    return f"select * from values {listed} as v(id, name, at)"


def test_names_in_upper_case(spark, database, tmp_path):
    given = {"field_ide": "UPPERCASE", "write_mode": "upsert", "primary_keys": ["id"], "sequence_field": "at",
             "table_prefix": "ods_", "table_suffix": "_di"}  # fmt: skip
    for run, name in (("one", "old"), ("two", "new")):  # the first run makes the table, the second finds it
        job = sink(database, values((1, name, len(run))), *COLUMNS, table="t_cased", **given)
        run_writes(spark, [job], str(tmp_path), run)
    df = read(spark, database, table="ODS_T_CASED_DI")
    assert df.columns == ["ID", "NAME", "AT"]
    assert [tuple(row) for row in df.collect()] == [(1, "new", 3)]


@pytest.mark.parametrize("keyed", ["primary key", "no index"])
def test_upsert(spark, database, tmp_path, keyed):
    key = ", primary key (id)" if keyed == "primary key" else ""
    database.run(f"create table t (id int, name varchar(20), at int, kept int default 7{key})")
    database.run("insert into t (id, name, at) values (1, 'same', 1), (2, 'old', 5), (3, 'newer', 9), (9, 'other', 1)")
    given = {"write_mode": "upsert", "primary_keys": ["id"], "sequence_field": "at"}
    late_and_double = values((1, "same", 1), (2, "first", 6), (2, "new", 7), (3, "late", 8), (4, "added", 1))
    for run in ("one", "two"):
        run_writes(spark, [sink(database, late_and_double, *COLUMNS, **given)], str(tmp_path), run)
        assert sorted(database.rows("select id, name, at, kept from t")) == [
            (1, "same", 1, 7), (2, "new", 7, 7), (3, "newer", 9, 7), (4, "added", 1, 7), (9, "other", 1, 7),
        ]  # fmt: skip


def test_postgresql_writes_the_rows_of_a_new_table_once(spark, postgres, tmp_path):
    """The commit renames the loaded table."""
    postgres.clear()
    for run, mode in (("one", "CREATE_SCHEMA_WHEN_NOT_EXIST"), ("two", "RECREATE_SCHEMA")):
        given = {"schema_save_mode": mode, "write_mode": "upsert", "primary_keys": ["id"]}
        job = [sink(postgres, f"select 1 id, '{run}' name", "id int", "name string", table="new", **given)]
        staged = stage_writes(spark, job, str(tmp_path), run)
        [loaded] = [name for name in postgres.tables() if name.startswith("penstock_stg_")]
        [(oid,)] = postgres.rows(f"select '{loaded}'::regclass::oid")
        commit_all(spark, staged)
        assert postgres.rows("select * from new") == [(1, run)]
        assert postgres.rows("select 'new'::regclass::oid") == [(oid,)]
        keys = "select conname from pg_constraint where conrelid = 'new'::regclass and contype = 'p'"
        assert postgres.rows(keys) == [("new_pkey",)]
        assert postgres.tables() == ["new", "penstock_commits", "penstock_staging"]


def test_a_new_table_with_two_rows_of_a_key_is_not_made(spark, postgres, tmp_path):
    postgres.clear()
    postgres.run("create table new (id int)", "insert into new values (7)")
    given = {"schema_save_mode": "RECREATE_SCHEMA", "enable_upsert": False, "primary_keys": ["id"]}
    job = [sink(postgres, "select explode(array(1, 1)) id", "id int", table="new", **given)]
    staged = stage_writes(spark, job, str(tmp_path), "run")
    with pytest.raises(RunError, match="new_pkey"):
        commit_all(spark, staged)
    assert not staged.journal.is_decided
    assert abort_all(spark, staged) == ()
    assert postgres.rows("select * from new") == [(7,)]
    assert postgres.tables() == ["new", "penstock_commits", "penstock_staging"]


def test_rows_of_one_key_need_an_order(spark, database, tmp_path):
    job = [sink(database, values((1, "a", 1), (1, "b", 2)), *COLUMNS, write_mode="upsert", primary_keys=["id"])]
    with pytest.raises(RunError, match="several rows, id = 1 among them") as caught:
        run_writes(spark, job, str(tmp_path), "run")
    assert not is_transient(caught.value)
    assert "t" not in database.tables()


def test_deletes_by_condition_and_row_kind(spark, database, tmp_path):
    database.run("create table t (id int primary key, name varchar(20), at int)")
    database.run("insert into t values (1, 'a', 1), (2, 'b', 1), (3, 'c', 1)")
    given = {"primary_keys": ["id"], "write_mode": "upsert", "delete_condition": "name = 'gone'"}
    job = [sink(database, values((1, "gone", 2), (2, "B", 2), (4, "d", 2)), *COLUMNS, **given)]
    run_writes(spark, job, str(tmp_path), "one")
    assert sorted(database.rows("select * from t")) == [(2, "B", 2), (3, "c", 1), (4, "d", 2)]
    query = "select *, kind as __row_kind from values (2, 'B', 2, '-U'), (2, 'BB', 3, '+U'), (3, 'c', 1, '-D'), "
    query += "(5, 'e', 1, '+I') as v(id, name, at, kind)"
    job = sink(database, query.replace("*, kind", "id, name, at, kind"), *COLUMNS, primary_keys=["id"],
               write_mode="changelog")  # fmt: skip
    table = replace(job.input.table, has_row_kind=True)
    run_writes(spark, [replace(job, input=replace(job.input, table=table))], str(tmp_path), "two")
    assert sorted(database.rows("select * from t")) == [(2, "BB", 3), (4, "d", 2), (5, "e", 1)]


def test_custom_sql_and_own_insert(spark, database, tmp_path):
    database.run("create table t (id int, name varchar(20))", "insert into t values (1, 'a;b'), (2, 'x')")
    custom = "delete from t where name = 'a;b'; -- a comment; with a semicolon\nupdate t set name = 'kept'"
    own = "insert into t (name, id) values (upper(?), ? + 1)"
    job = [sink(database, "select 'n' name, 1 id", "name string", "id int", table=None, query=own,
                data_save_mode="CUSTOM_PROCESSING", custom_sql=custom)]  # fmt: skip
    run_writes(spark, job, str(tmp_path), "run")
    assert sorted(database.rows("select id, name from t")) == [(2, "N"), (2, "kept")]


def test_custom_sql_that_no_database_can_parse_leaves_no_table(spark, database, tmp_path):
    """MariaDB commits the CREATE TABLE before it at once: the run may not have decided by then."""
    sql = {"data_save_mode": "CUSTOM_PROCESSING", "custom_sql": "delete form t where name = 'it''s'"}
    staged = None
    with pytest.raises(RunError) as caught:  # noqa: PT012 (staging or committing may refuse it)
        staged = stage_writes(spark, [sink(database, "select 1 id", "id int", **sql)], str(tmp_path), "run")
        commit_all(spark, staged)
    (found,) = caught.value.diagnostics
    assert (found.code, found.notes) == ("PEN5013", (f"the statement was: {sql['custom_sql']}",))
    assert found.span is not None
    if staged is not None:
        assert not staged.journal.is_decided
        assert abort_all(spark, staged) == ()
    assert database.tables() == ["penstock_commits", "penstock_staging"]
    right = {**sql, "custom_sql": "delete from t"}
    run_writes(spark, [sink(database, "select 1 id", "id int", **right)], str(tmp_path), "right")


def test_a_column_that_the_target_needs_is_named(spark, database, tmp_path):
    database.run("create table t (id int, needed int not null)")
    with pytest.raises(RunError) as caught:
        run_writes(spark, [sink(database, "select 1 id", "id int")], str(tmp_path), "run")
    (found,) = caught.value.diagnostics
    assert (found.code, found.help) == (
        "PEN4003",
        "add `needed` to the query, or give the column a default in the target",
    )


def test_a_user_without_privileges_learns_which_are_needed(spark, postgres, tmp_path):
    postgres.clear()
    postgres.run("drop role if exists reader", "create role reader login password 'secret'")
    login = {"url": postgres.url, "user": "reader", "password": "secret"}
    job = write(connector, rows("select 1 id", "id int"), "w", **login, table="t")
    with pytest.raises(RunError) as caught:
        run_writes(spark, [job], str(tmp_path), "run")
    (found,) = caught.value.diagnostics
    assert found.code == "PEN5013"
    assert "`penstock_commits` and `penstock_staging`" in found.help


def test_columns_are_added_on_request(spark, database, tmp_path):
    database.run("create table t (id int)", "insert into t values (1)")
    query, columns = "select 2 id, 'x' name", ("id int", "name string")
    with pytest.raises(RunError, match="PEN4003"):
        run_writes(spark, [sink(database, query, *columns)], str(tmp_path), "one")
    run_writes(spark, [sink(database, query, *columns, schema_evolution="add_columns")], str(tmp_path), "two")
    assert sorted(database.rows("select * from t")) == [(1, None), (2, "x")]


def test_types_are_widened_on_request(spark, database, tmp_path):
    database.run(
        "create table t (id int not null primary key, n int, d decimal(5,2))", "insert into t values (1, 1, 1.25)"
    )
    columns = ("id bigint", "n bigint", "d decimal(12,4)")
    query = "select 5000000000L id, 6000000000L n, cast(12345678.1234 as decimal(12,4)) d"
    if database.kind == "sqlite":
        diagnostics = Diagnostics()
        refused = sink(database, query, *columns, schema_evolution="widen")
        connector.validate(refused.options, refused.table, diagnostics)
        assert [each.message for each in diagnostics] == ["SQLite cannot change the type of a column"]
        return
    with pytest.raises(RunError, match="the value 5000000000 of `id` in row 1 is bigint, and does not fit int"):
        run_writes(spark, [sink(database, query, *columns)], str(tmp_path), "one")
    run_writes(spark, [sink(database, query, *columns, schema_evolution="widen")], str(tmp_path), "two")
    expected = [(1, 1, Decimal("1.25")), (5000000000, 6000000000, Decimal("12345678.1234"))]
    assert sorted(database.rows("select * from t")) == expected
    found = connector.describe(spark, options_of(connector.source_options, **database.options, table_path="t"))
    assert [str(column.type) for column in found.columns] == ["bigint", "bigint", "decimal(12,4)"]
    assert [column.nullable for column in found.columns] == [False, True, True]


def test_new_tables_have_keys_lengths_and_comments(spark, postgres, tmp_path):
    postgres.clear()
    job = sink(postgres, "select 1 id, 'x' name", "id int", "name string", primary_keys=["id"])
    id, name = job.input.table.columns
    schema = replace(job.input.table.schema, columns=(id, replace(name, length=5, comment="it's")))
    table = replace(job.input.table, schema=schema)
    run_writes(spark, [replace(job, input=replace(job.input, table=table))], str(tmp_path), "run")
    found = connector.describe(spark, options_of(connector.source_options, **postgres.options, table_path="t"))
    assert found.schema.primary_key.columns == ("id",)
    assert (found.columns[1].length, found.columns[1].comment) == (5, "it's")


def test_what_the_target_refuses_is_rolled_back(spark, database, tmp_path):
    database.run("create table t (id int primary key, name varchar(3) not null)", "insert into t values (1, 'a')")
    for run, query, code in (
        ("double", "select 1 id, 'b' name", "PEN5013"),
        ("long", "select 2 id, 'long name' name", "PEN5001"),
        ("null", "select 2 id, cast(null as string) name", "PEN5001"),
    ):
        staged = None
        with pytest.raises(RunError) as caught:  # noqa: PT012 (staging or committing may refuse it)
            staged = stage_writes(spark, [sink(database, query, "id int", "name string")], str(tmp_path), run)
            commit_all(spark, staged)
        assert [each.code for each in caught.value.diagnostics] == [code]
        if staged is not None:
            assert not staged.journal.is_decided
            assert abort_all(spark, staged) == ()
        assert database.rows("select * from t") == [(1, "a")]
        assert database.tables() == ["penstock_commits", "penstock_staging", "t"]
    run_writes(spark, [sink(database, "select 2 id, 'b' name", "id int", "name string")], str(tmp_path), "good")
    assert sorted(database.rows("select * from t")) == [(1, "a"), (2, "b")]


def test_sinks_of_one_database_commit_together(spark, database, tmp_path):
    database.run("create table a (id int)", "create table b (id int primary key)", "insert into b values (1)")
    job = [sink(database, f"select {id} id", "id int", id=name, table=name) for name, id in (("a", 5), ("b", 1))]
    staged = stage_writes(spark, job, str(tmp_path), "run")
    with pytest.raises(RunError, match="PEN5013"):
        commit_all(spark, staged)
    assert database.rows("select * from a") == []
    abort_all(spark, staged)
    assert journal_in(layout_at(spark, str(tmp_path)), "run").read().outcome is RunOutcome.ROLLED_BACK


def test_sinks_of_different_kinds_end_exactly_once(spark, postgres, mariadb, tmp_path):
    """The fourth of five fails at its commit; the next run finishes what was decided."""
    for database in (postgres, mariadb):
        database.clear()
    files, delta = connectors.sink("LocalFile"), connectors.sink("Delta")
    scan = rows("select id from range(3)", "id bigint")
    job = [
        write(connector, scan, "p", **postgres.options, table="t"),
        write(delta, scan, "d", path=str(tmp_path / "delta")),
        write(connector, scan, "m", **mariadb.options, table="t"),
        write(files, scan, "f", path=str(tmp_path / "files"), file_format_type="parquet"),
        write(connector, scan, "q", **postgres.options, table="u"),
    ]
    staged = stage_writes(spark, job, str(tmp_path / "state"), "run")
    hidden = tmp_path / ".files.penstock"
    hidden.rename(tmp_path / "away")
    with pytest.raises(RunError):
        commit_all(spark, staged)
    staged.release()
    (tmp_path / "away").rename(hidden)
    for _ in range(2):
        run_writes(spark, job, str(tmp_path / "state"), "run")
    assert postgres.rows("select count(*) from t") == mariadb.rows("select count(*) from t") == [(3,)]
    assert postgres.rows("select count(*) from u") == [(3,)]
    assert spark.read.parquet(str(tmp_path / "files")).count() == 3
    assert spark.read.format("delta").load(str(tmp_path / "delta")).count() == 3
    assert not [name for name in postgres.tables() + mariadb.tables() if "stg" in name]


def test_a_table_that_foreign_keys_refer_to_is_replaced(spark, database, tmp_path):
    """PostgreSQL refuses to truncate it, also where no row refers to any of its rows."""
    database.run(
        "create table t (id int primary key, parent int references t (id))",
        "create table orders (id int, customer int references t (id))",
        "insert into t values (1, null)",
    )
    job = sink(database, "select 2 id, cast(null as int) parent", "id int", "parent int", data_save_mode="DROP_DATA")
    run_writes(spark, [job], str(tmp_path), "run")
    assert database.rows("select id from t") == [(2,)]
    if database.kind == "postgres":
        database.run("insert into orders values (1, 2)")
        with pytest.raises(RunError, match="foreign key"):
            run_writes(spark, [job], str(tmp_path), "again")
        assert database.rows("select id from t") == [(2,)]


@pytest.mark.parametrize(
    ("database", "type"), [("postgres", "timestamp(3)"), ("mariadb", "datetime")], indirect=["database"]
)
def test_a_column_with_fewer_digits_of_seconds_cuts_no_timestamp(spark, tmp_path, database, type):
    database.clear()
    database.run(f"create table t (id int, at {type})")
    state, columns = str(tmp_path / "state"), ("id int", "at timestamp_ntz")
    whole = sink(database, "select 1 id, timestamp_ntz'2024-03-31 02:30:07' at", *columns)
    run_writes(spark, [whole], state, "whole")
    cut = sink(database, "select 2 id, timestamp_ntz'2024-03-31 02:30:07.000123' at", *columns)
    with pytest.raises(
        RunError, match=r"2024-03-31 02:30:07.000123 of `at` in row 1 .* timestamp_ntz\(\d\) without loss"
    ):
        stage_writes(spark, [cut], state, "cut")
    assert database.rows("select id, at from t") == [(1, datetime.datetime(2024, 3, 31, 2, 30, 7))]
