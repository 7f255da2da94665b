"""Incremental sources of each kind: growing tables of databases, change feeds of Delta, and what validation refuses."""

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BIGINT, DATE, DOUBLE, STRING, TIMESTAMP, Decimal
from connectors.interface.incremental import (
    INCREMENTAL,
    Incremental,
    ReadProgress,
    Since,
    check_incremental,
    conditions,
)
from engine.cli import main
from engine.compile import Settings, compile_job
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, write

EVENTS = CatalogTable.of(
    "events",
    [Column("id", BIGINT), Column("day", DATE), Column("at", TIMESTAMP), Column("name", STRING), Column("x", DOUBLE)],
)


def errors(given: dict[str, object], own: Column | None = None) -> list[str]:
    diagnostics = Diagnostics()
    check_incremental(options_of([INCREMENTAL], incremental=given), own, EVENTS, diagnostics)
    return [f"{each.code} {each.message}" for each in diagnostics]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "PEN2005 `incremental` needs `column`"),
        ({"column": "idd"}, "PEN4008 no column `idd` to read by"),
        ({"column": "x"}, "PEN4008 rows cannot be read by `x` of type double"),
        ({"column": "id", "legs": 1}, "PEN2003 `incremental` has no `legs`"),
        ({"column": "id", "initial": "a"}, "PEN2004 `initial` must be a value of `id` (bigint), found `a`"),
        ({"column": "at", "initial": "soon"}, "PEN2004 `initial` must be a value of `at` (timestamp), found `soon`"),
        ({"column": "at", "lag": 5}, "PEN2004 `lag` cannot be subtracted from `at` of type timestamp: `5`"),
        ({"column": "day", "lag": "1 hour"}, "PEN2004 `lag` cannot be subtracted from `day` of type date: `1 hour`"),
        ({"column": "name", "lag": "1"}, "PEN2004 `lag` cannot be subtracted from `name` of type string: `1`"),
        ({"column": "id", "lag": -1}, "PEN2004 `lag` cannot be subtracted from `id` of type bigint: `-1`"),
    ],
)
def test_what_cannot_be_meant_is_reported(given, told):
    assert errors(given) == [told]


@pytest.mark.parametrize(
    "given",
    [
        {"column": "id", "initial": 5, "lag": 3},
        {"column": "day", "initial": "2026-01-01", "lag": "1 week"},
        {"column": "at", "initial": "2026-01-01 10:00:00", "lag": "90 minutes"},
        {"column": "at", "lag": "0"},
        {"column": "day", "lag": 0},
        {"column": "NAME", "initial": "a"},
    ],
)
def test_what_can_be_meant_is_not_reported(given):
    assert errors(given) == []


def test_a_source_may_have_an_order_of_its_own():
    assert errors({"initial": 3}, Column("version", BIGINT)) == []


@pytest.mark.parametrize(
    ("asked", "since", "sql"),
    [
        (Incremental("v"), Since(), "`v` is not null"),
        (Incremental("v", initial="1.5"), Since(), "`v` >= cast('1.5' as decimal(3,1))"),
        (Incremental("v", initial="1.5"), Since(ReadProgress("2.5")), "`v` > cast('2.5' as decimal(3,1))"),
        (Incremental("v", lag="2"), Since(ReadProgress("9")), "`v` >= cast('9' as decimal(3,1)) - 2"),
        (
            Incremental("v"),
            Since(ReadProgress("2.5"), ReadProgress("9.5")),
            "`v` > cast('2.5' as decimal(3,1)) and `v` <= cast('9.5' as decimal(3,1))",
        ),
    ],
)
def test_the_condition_of_a_run(asked, since, sql):
    assert " and ".join(conditions(asked, Column("v", Decimal(3, 1)), since)) == sql


def compiled(tmp_path, source: str) -> Diagnostics:
    path = tmp_path / "job.conf"
    path.write_text(f"source {{ {source} }}\nsink {{ Console {{}} }}\n")
    diagnostics = Diagnostics()
    compile_job(path, Settings(), diagnostics)
    return diagnostics


def test_a_source_that_cannot_filter_has_no_such_option(tmp_path):
    source = "FakeSource { schema { fields { id = int } }, incremental { column = id } }"
    [error] = compiled(tmp_path, source)
    assert (error.code, error.message) == ("PEN2003", "FakeSource has no option `incremental`")


def test_a_feed_goes_by_its_versions(tmp_path):
    schema = "schema { fields { id = int } }"
    source = f'Delta {{ path = "t", {schema}, read_change_feed = true, incremental {{ column = id }} }}'
    assert "a change feed is read incrementally by `_commit_version`" in [
        each.message for each in compiled(tmp_path, source)
    ]


def test_archives_have_no_files_that_arrive(tmp_path):
    source = (
        'LocalFile { path = "in", file_format_type = "csv", archive_compress_codec = "zip", incremental {}, '
        "schema { fields { id = int } } }"
    )
    assert "files in archives cannot be read as they arrive" in [each.message for each in compiled(tmp_path, source)]


def run(folder, source: str, sink: str, run_id: str) -> None:
    (folder / "job.conf").write_text(f'env {{ job.name = "load" }}\nsource {{ {source} }}\nsink {{ {sink} }}\n')
    arguments = ["run", str(folder / "job.conf"), "--quiet", "--run-id", run_id, "--state-dir", str(folder / "state")]
    assert main(arguments) == 0


@pytest.mark.spark
@pytest.mark.parametrize(
    "partitioning", [pytest.param("", marks=pytest.mark.soak), "partition_column = id, partition_num = 2,"]
)
def test_a_growing_table_is_read_once(spark, database, tmp_path, partitioning):
    login = "".join(f'{name} = "{value}", ' for name, value in database.options.items())
    source = f'Jdbc {{ {login} table_path = "orders", {partitioning} incremental {{ column = changed }} }}'
    source = source.replace(
        "incremental", "schema { fields { id = int, name = string, changed = timestamp_ntz } }, incremental"
    )
    sink = f'LocalFile {{ path = "{tmp_path}/out", file_format_type = "parquet" }}'
    type = "text" if database.kind == "sqlite" else "timestamp(6) null"
    database.run(f"create table orders (id int primary key, name varchar(20), changed {type})")
    for number in range(3):
        moments = [f"('2026-01-0{number + 1} 00:00:0{second}.5')" for second in range(3)]
        for second, moment in enumerate(moments):
            database.run(f"insert into orders values ({number * 3 + second}, 'n', {moment})")
        run(tmp_path, source, sink, f"r{number}")
    database.run("insert into orders values (99, 'no time', null)")
    run(tmp_path, source, sink, "r9")
    assert sorted(row.id for row in spark.read.parquet(f"{tmp_path}/out").collect()) == list(range(9))


@pytest.mark.spark
def test_texts_are_compared_as_spark_compares_them(spark, database, tmp_path):
    login = "".join(f'{name} = "{value}", ' for name, value in database.options.items())
    schema = "schema { fields { name = string } }"
    source = f'Jdbc {{ {login} table_path = "names", incremental {{ column = name }}, {schema} }}'
    sink = f'LocalFile {{ path = "{tmp_path}/out", file_format_type = "parquet" }}'
    database.run("create table names (name varchar(20))", "insert into names values ('Zebra')")
    run(tmp_path, source, sink, "one")
    database.run("insert into names values ('apple')")  # before Zebra in a dictionary, after it by bytes
    run(tmp_path, source, sink, "two")
    run(tmp_path, source, sink, "three")
    assert sorted(row.name for row in spark.read.parquet(f"{tmp_path}/out").collect()) == ["Zebra", "apple"]


@pytest.mark.spark
@pytest.mark.delta
def test_a_change_feed_is_applied_once(spark, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    spark.sql(
        f"create table delta.`{source}` (id bigint, v int) using delta "
        "tblproperties (delta.enableChangeDataFeed = true)"
    )
    feed = f'Delta {{ path = "{source}", read_change_feed = true, incremental {{}} }}'
    sink = (
        f'Delta {{ path = "{target}", write_mode = changelog, primary_keys = [id], sequence_field = _commit_version }}'
    )
    changes = (
        ("insert into delta.`{0}` values (1, 1), (2, 2), (3, 3)",),
        ("update delta.`{0}` set v = 20 where id = 2", "delete from delta.`{0}` where id = 3"),
        (),
        ("insert into delta.`{0}` values (3, 33)", "optimize delta.`{0}`"),
    )
    for number, statements in enumerate(changes):
        for statement in statements:
            spark.sql(statement.format(source))
        run(tmp_path, feed, sink, f"r{number}")
    rows = spark.read.format("delta").load(str(target)).select("id", "v", "_commit_version").collect()
    assert sorted(map(tuple, rows)) == [(1, 1, 1), (2, 20, 2), (3, 33, 4)]


@pytest.fixture(params=["postgres", "mariadb", "sqlite"])
def database(request):
    found = request.getfixturevalue(request.param)
    found.clear()
    return found


@pytest.mark.parametrize("cache", ["", "cache = none"])
def test_rows_that_two_sinks_read_are_read_once(tmp_path, cache):
    """Also through a query, and where the job asks for none to be persisted: a second read would see newer rows."""
    path = tmp_path / "job.conf"
    path.write_text(
        'source { Delta { plugin_output = "a", path = "t", '
        "incremental { column = id }, schema { fields { id = int } } } }\n"
        f'transform {{ Sql {{ plugin_input = "a", plugin_output = "b", query = "select id from a", {cache} }} }}\n'
        'sink { Console { plugin_input = "b" }, Console { plugin_input = "b" } }\n'
    )
    found = compile_job(path, Settings(), Diagnostics())
    assert found is not None
    [persisted] = [node.name for node in found.plan.nodes() if getattr(node, "persisted", None)]
    assert persisted == "b"


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["Iceberg", "Paimon"])
def test_a_growing_table_of_a_warehouse_is_read_once(spark, tmp_path, kind):
    """The watermark is by a column that no sink gets."""
    columns = ("id int", "at timestamp")
    address = {"warehouse": f"{tmp_path}/warehouse", "table": "db.events"}
    named = ", ".join(f'{name} = "{value}"' for name, value in address.items())
    query = 'Sql { plugin_input = events, plugin_output = ids, query = "select id from events" }'
    source = f"{kind} {{ plugin_output = events, {named}, incremental {{ column = at }} }}"
    sink = f'LocalFile {{ plugin_input = ids, path = "{tmp_path}/out", file_format_type = "parquet" }}'
    for number in range(3):
        grown = f"select cast(id as int) id, timestamp_seconds(id) at from range({number * 3}, {number * 3 + 3})"
        target = write(connectors.sink(kind), rows(grown, *columns), **address)
        run_writes(spark, [target], str(tmp_path / "before"), f"w{number}")
        run(tmp_path, f"{source} }}\ntransform {{ {query}", sink, f"r{number}")
        assert sorted(row.id for row in spark.read.parquet(f"{tmp_path}/out").collect()) == list(range(number * 3 + 3))
