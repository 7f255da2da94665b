"""Iceberg tables: write modes by key and by partition, branches, time travel, types, catalogs."""

from dataclasses import replace
from decimal import Decimal

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.quoting import parse_name
from catalog.tables.row_kind import ROW_KIND
from connectors.iceberg.connector import connector
from connectors.iceberg.iceberg_table import IcebergTable, opened
from connectors.iceberg.partitioning import PartitionField, parse_field
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from tests.connectors.given_options import options_of
from tests.connectors.iceberg.iceberg_target import IcebergTarget
from tests.connectors.jobs import rows, run_writes, stage_writes, write
from tests.connectors.lakehouse.lake_values import TYPES, assert_same_rows, query_of

COLUMNS = ("id bigint", "name string", "seq int")
KEYED = {"write_mode": "upsert", "primary_keys": ["id"], "sequence_field": "seq"}


@pytest.fixture
def target(spark, tmp_path):
    return IcebergTarget(spark, tmp_path)


def values(*listed):
    return "select * from values " + ", ".join(listed) + " as t(id, name, seq)"


@pytest.mark.spark
def test_upsert(target):
    given = {**KEYED, "delete_condition": "name = 'gone'"}
    target.write(
        values("(1L, 'a', 1)", "(1L, 'b', 2)", "(2L, 'c', 5)", "(3L, 'd', 1)", "(9L, 'gone', 1)"), COLUMNS, **given
    )
    assert target.rows() == [(1, "b", 2), (2, "c", 5), (3, "d", 1)]
    changes = values("(1L, 'new', 3)", "(2L, 'late', 4)", "(3L, 'gone', 2)", "(4L, 'e', 1)", "(4L, 'f', 2)")
    job = target.job(changes, COLUMNS, **given)
    for state in ("state", "state", "other"):  # with the journal of the first time, and without
        run_writes(target.spark, [job], str(target.warehouse.parent / state), "same")
    assert target.rows() == [(1, "new", 3), (2, "c", 5), (4, "f", 2)]
    assert [name for name in target.refs() if name != "main"] == []
    with pytest.raises(RunError, match=r"several rows have the key id = 7: .*sequence_field"):
        target.write(values("(7L, 'x', 1)", "(7L, 'y', 2)"), COLUMNS, write_mode="upsert", primary_keys=["id"])
    assert target.rows() == [(1, "new", 3), (2, "c", 5), (4, "f", 2)]


@pytest.mark.spark
def test_changelog(target):
    target.write(values("(1L, 'a', 1)", "(2L, 'b', 1)", "(3L, 'c', 1)"), COLUMNS)
    listed = "(1L, 'a', 1, '-U'), (1L, 'A', 2, '+U'), (2L, 'b', 1, '-D'), (3L, 'c', 1, '-U'), (5L, 'c', 2, '+U')"
    query = f"select id, name, seq, kind `{ROW_KIND}` from values {listed} as t(id, name, seq, kind)"
    job = target.job(query, COLUMNS, write_mode="changelog", primary_keys=["id"])
    target.run(replace(job, input=replace(job.input, table=replace(job.input.table, has_row_kind=True))))
    assert target.rows() == [(1, "A", 2), (5, "c", 2)]
    assert ROW_KIND not in target.read().columns


@pytest.mark.spark
def test_a_merge_whose_table_moves_during_the_commit_is_done_again_and_once(target, monkeypatch):
    target.write(values("(1L, 'a', 1)"), COLUMNS)
    late = target.job(values("(1L, 'late', 2)", "(3L, 'c', 1)"), COLUMNS, **KEYED)
    run = stage_writes(target.spark, [late], target.state, "late")
    moves, real = [values("(5L, 'x', 1)"), values("(6L, 'y', 1)")], IcebergTable.publish

    def publish(table, branch):
        if moves:
            target.write(moves.pop(), COLUMNS)
        real(table, branch)

    monkeypatch.setattr(IcebergTable, "publish", publish)
    commit_all(target.spark, run)
    expected = [(1, "late", 2), (3, "c", 1), (5, "x", 1), (6, "y", 1)]
    assert target.rows() == expected
    assert list(target.refs()) == ["main"]
    staged = run.places[next(iter(run.staged))]
    target.write(values("(7L, 'z', 1)"), COLUMNS)
    with opened(target.spark, staged.address) as table:
        table.load().expireSnapshots().expireOlderThan(2**62).retainLast(1).commit()
    with pytest.raises(RunError, match="have expired"):
        connector.commit(target.spark, staged, run.context)
    assert target.rows() == [*expected, (7, "z", 1)]


@pytest.mark.spark
def test_a_merge_is_staged_on_a_branch_and_done_again_where_the_table_moved(target, tmp_path):
    target.write(values("(1L, 'a', 1)", "(2L, 'b', 1)"), COLUMNS)
    late = target.job(values("(1L, 'late', 2)", "(3L, 'c', 1)"), COLUMNS, **KEYED)
    run = stage_writes(target.spark, [late], target.state, "late")
    (branch,) = [name for name in target.refs() if name != "main"]
    assert target.rows(branch=branch) == [(1, "late", 2), (2, "b", 1), (3, "c", 1)]
    assert target.rows() == [(1, "a", 1), (2, "b", 1)]
    target.write(values("(2L, 'first', 2)", "(4L, 'd', 1)"), COLUMNS, **KEYED)
    commit_all(target.spark, run)
    assert target.rows() == [(1, "late", 2), (2, "first", 2), (3, "c", 1), (4, "d", 1)]
    aborted = stage_writes(target.spark, [late], str(tmp_path / "other"), "aborted")
    assert abort_all(target.spark, aborted) == ()
    assert list(target.refs()) == ["main"]


@pytest.mark.spark
def test_new_columns_come_with_the_rows(target):
    target.write("select 1L id, 'a' name", COLUMNS[:2])
    wider = ("select 2L id, 'b' name, 1 more", (*COLUMNS[:2], "more int"))
    with pytest.raises(RunError, match="PEN4003") as caught:
        target.write(*wider)
    assert "schema_evolution = add_columns" in caught.value.diagnostics[0].help
    run = stage_writes(target.spark, [target.job(*wider, schema_evolution="add_columns")], target.state, "add")
    assert target.read().columns == ["id", "name"]
    commit_all(target.spark, run)
    assert target.rows() == [(1, "a", None), (2, "b", 1)]
    noted = ("select 1L id, 'A' name, 'x' note", (*COLUMNS[:2], "note string"))
    target.write(*noted, schema_evolution="add_columns", write_mode="upsert", primary_keys=["id"])
    assert target.rows("id", "name", "more", "note") == [(1, "A", None, "x"), (2, "b", 1, None)]


@pytest.mark.spark
@pytest.mark.soak
def test_scd2(target):
    columns = ("id bigint", "name string", "at timestamp")
    given = {"write_mode": "scd2", "primary_keys": ["id"], "sequence_field": "at", "delete_condition": "name = 'gone'"}

    def day(*listed):
        found = ", ".join(f"({id}L, '{name}', timestamp'2026-01-0{day} 00:00:00Z')" for id, name, day in listed)
        return f"select * from values {found} as t(id, name, at)"

    shown = ("id", "name", "day(valid_from) f", "day(valid_to) t", "is_current")
    target.write(day((1, "a", 1), (2, "b", 1), (3, "c", 1)), columns, **given)
    job = target.job(day((1, "A", 2), (2, "b", 2), (3, "gone", 2), (4, "d", 2)), columns, **given)
    for state in ("state", "state", "other"):
        run_writes(target.spark, [job], str(target.warehouse.parent / state), "same")
    target.write(day((1, "late", 1), (4, "D", 3)), columns, **given)
    assert sorted(map(tuple, target.read().selectExpr(*shown).collect())) == [
        (1, "A", 2, None, True),
        (1, "a", 1, 2, False),
        (2, "b", 1, None, True),
        (3, "c", 1, 2, False),
        (4, "D", 3, None, True),
        (4, "d", 2, 3, False),
    ]
    assert list(target.refs()) == ["main"]


@pytest.mark.spark
def test_scd2_into_a_table_without_its_columns_is_refused(target):
    target.write("select 1L id, 'a' name", COLUMNS[:2])
    with pytest.raises(RunError, match="write_mode scd2 needs the column `valid_from`"):
        target.write("select 1L id, 'b' name", COLUMNS[:2], write_mode="scd2", primary_keys=["id"])


@pytest.mark.spark
def test_replace_where(target):
    target.write(values("(1L, 'a', 1)", "(2L, 'a', 2)", "(3L, 'b', 1)"), COLUMNS)
    given = {"write_mode": "replace_where", "replace_where": "name = 'a' and seq > 1"}
    with pytest.raises(RunError, match="a row does not satisfy replace_where"):
        target.write(values("(4L, 'b', 2)"), COLUMNS, **given)
    assert list(target.refs()) == ["main"]
    job = target.job(values("(4L, 'a', 5)"), COLUMNS, **given)
    for state in ("state", "state", "other"):
        run_writes(target.spark, [job], str(target.warehouse.parent / state), "same")
    assert target.rows() == [(1, "a", 1), (3, "b", 1), (4, "a", 5)]
    run = stage_writes(target.spark, [target.job(values("(5L, 'a', 6)"), COLUMNS, **given)], target.state, "late")
    assert target.rows() == [(1, "a", 1), (3, "b", 1), (4, "a", 5)]
    target.write(values("(6L, 'a', 7)", "(7L, 'c', 7)"), COLUMNS)  # the rows of a run that comes between
    commit_all(target.spark, run)
    assert target.rows() == [(1, "a", 1), (3, "b", 1), (5, "a", 6), (7, "c", 7)]
    target.write(values("(4L, 'a', 5)") + " where false", COLUMNS, **given)
    assert target.rows() == [(1, "a", 1), (3, "b", 1), (7, "c", 7)]
    assert list(target.refs()) == ["main"]


@pytest.mark.spark
def test_columns_are_widened_with_the_rows(target):
    columns = ("id int", "amount decimal(5,2)", "rate float")
    target.write("select 1 id, cast(1.5 as decimal(5,2)) amount, float(0.5) rate", columns)
    wider = ("id bigint", "amount decimal(12,2)", "rate double", "note string")
    query = "select 3000000000L id, cast('1234567890.25' as decimal(12,2)) amount, 0.1D rate, 'new' note"
    run = stage_writes(target.spark, [target.job(query, wider, schema_evolution="widen")], target.state, "wide")
    assert [type for _, type in target.read().dtypes] == ["int", "decimal(5,2)", "float"]
    commit_all(target.spark, run)
    wide = [(1, Decimal("1.50"), 0.5, None), (3000000000, Decimal("1234567890.25"), 0.1, "new")]
    assert target.rows() == wide
    narrow = ("select 1L id, cast(9.99 as decimal(14,2)) amount", ("id bigint", "amount decimal(14,2)"))
    target.write(*narrow, schema_evolution="widen", write_mode="upsert", primary_keys=["id"])
    assert dict(target.read().dtypes)["amount"] == "decimal(14,2)"
    assert target.rows()[0] == (1, Decimal("9.99"), 0.5, None)
    with pytest.raises(RunError, match="cannot widen `id` from bigint to decimal"):
        target.write("select cast(1 as decimal(20,0)) id", ("id decimal(20,0)",), schema_evolution="widen")


@pytest.mark.spark
def test_partitions_that_a_table_lacks_are_not_overwritten(target):
    """Spark would replace all rows of the table."""
    with pytest.raises(RunError, match="overwrite_partitions needs `partition_by`"):
        target.write("select 1L id", ("id bigint",), write_mode="overwrite_partitions")
    target.write("select 1L id", ("id bigint",))
    with pytest.raises(RunError, match="has none: all its rows would be replaced"):
        target.write("select 2L id", ("id bigint",), write_mode="overwrite_partitions")
    assert target.rows("id") == [(1,)]


@pytest.mark.spark
def test_partitions_properties_comments_and_time_travel(target):
    columns = ("id bigint", "at timestamp")
    given = {"partition_by": ["days(at)", "bucket(4, id)"], "table_properties": {"write.format.default": "orc"}}
    query = "select id, timestamp'2026-01-01' + make_dt_interval(cast(id as int)) at from range({})"
    job = target.job(query.format(2), columns, **given)
    described = [replace(column, comment=f"the {column.name}") for column in job.table.columns]
    table = replace(job.table, comment="events", schema=replace(job.table.schema, columns=tuple(described)))
    target.run(replace(job, input=replace(job.input, table=table)))
    metadata = target.metadata()
    assert [field["transform"] for field in metadata["partition-specs"][0]["fields"]] == ["day", "bucket[4]"]
    assert [field["doc"] for field in metadata["schemas"][0]["fields"]] == ["the id", "the at"]
    assert metadata["properties"]["comment"] == "events"
    assert metadata["snapshots"][0]["summary"]["penstock.run-id"] == "run1"
    assert list(target.folder.rglob("*.orc"))
    first = metadata["current-snapshot-id"]
    target.write("select 7L id, timestamp'2026-01-01' at", columns, write_mode="overwrite_partitions")
    assert [row[0] for row in target.rows("id")] == [0, 1, 7]  # buckets 0 and 1 of that day are of other ids
    assert [row[0] for row in target.rows("id", snapshot_id=first)] == [0, 1]
    assert [row[0] for row in target.rows("id", as_of_timestamp="2100-01-01 00:00:00")] == [0, 1, 7]
    diagnostics = Diagnostics()
    at = options_of(connector.source_options, **target.address, snapshot_id=first)
    (found,) = connector.tables(at, diagnostics)
    assert [str(column) for column in found.columns] == ["id bigint", "at timestamp"]
    assert list(diagnostics) == []


@pytest.mark.spark
def test_a_sorted_table(target):
    """The files of its first commit and of later ones are sorted."""
    query = "select id % 3 kind, id from range({}, {}, 1, 4)"
    target.write(query.format(0, 40), ("kind bigint", "id bigint"), sort_by=["kind", "ID desc nulls last"])
    (order,) = [order for order in target.metadata()["sort-orders"] if order["fields"]]
    assert [(field["direction"], field["null-order"]) for field in order["fields"]] == [
        ("asc", "nulls-first"),
        ("desc", "nulls-last"),
    ]
    target.write(query.format(40, 80), ("kind bigint", "id bigint"))
    for file in target.folder.rglob("*.parquet"):
        found = [(row[0], -row[1]) for row in target.spark.read.parquet(str(file)).collect()]
        assert found == sorted(found)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("nmae", "PEN4008", "no column `nmae` to sort the table by"),
        ("many", "PEN4008", "of type array<int>"),
        ("id down", "PEN2004", "`id down` is no sort field"),
    ],
)
def test_columns_that_cannot_sort_a_table_are_refused(text, code, said):
    job = write(connector, rows("", "id bigint", "many array<int>"), warehouse="w", table="db.t", sort_by=[text])
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    (found,) = diagnostics
    assert (found.code, said in found.message) == (code, True)


@pytest.mark.spark
@pytest.mark.parametrize("given", [{}, {"write_mode": "upsert", "primary_keys": ["key"]}], ids=["append", "upsert"])
def test_every_type_comes_back_as_it_went(target, given):
    types = {**TYPES, "variant": "parse_json('{\"a\": [1, null]}')"}
    query, columns = query_of(types)
    if given:  # there is a table to merge into
        target.write(f"{query} limit 0", columns)
    target.write(query, columns, **given)
    wanted = target.spark.sql(query)
    assert_same_rows(target.read(), wanted)
    (offline,) = connector.tables(options_of(connector.source_options, **target.address), Diagnostics())
    assert [str(column.type) for column in offline.columns] == [type for _, type in wanted.dtypes]


@pytest.mark.spark
@pytest.mark.xfail(strict=True, reason="Iceberg has no small integers: they become int")
def test_small_integers_come_back_as_they_went(target):
    target.write("select 1Y a, 2S b", ("a tinyint", "b smallint"))
    assert [type for _, type in target.read().dtypes] == ["tinyint", "smallint"]


@pytest.mark.spark
def test_null_where_the_table_forbids_it_fails_while_staging(target):
    target.write("select 1L id, 'a' name", COLUMNS[:2])
    target.require("id")
    nothing = target.job("select cast(null as bigint) id, 'b' name", COLUMNS[:2])
    with pytest.raises(RunError, match=r"(?i)null"):
        stage_writes(target.spark, [nothing], target.state, "null")
    upsert = {"write_mode": "upsert", "primary_keys": ["name"]}
    named = target.job("select cast(null as bigint) id, 'b' name", COLUMNS[:2], **upsert)
    with pytest.raises(RunError, match="the column id is NULL in a row"):
        stage_writes(target.spark, [named], target.state, "merged")
    assert list(target.refs()) == ["main"]


@pytest.mark.spark
def test_a_table_of_a_catalog_by_name(spark, tmp_path):
    prefix = "spark.sql.catalog.lake"
    settings = {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "hadoop",
        f"{prefix}.warehouse": str(tmp_path / "lake"),
    }
    session = spark.newSession()
    for key, value in settings.items():
        session.conf.set(key, value)
    job = write(connector, rows("select 1L id", "id bigint"), table_path="lake.sales.orders")
    run_writes(session, [job], str(tmp_path / "state"), "run")
    assert [tuple(row) for row in session.table("lake.sales.orders").collect()] == [(1,)]
    job = write(connector, rows("select 1L id", "id bigint"), table_path="nowhere.t")
    with pytest.raises(RunError, match="the Spark session has no catalog `nowhere`"):
        run_writes(session, [job], str(tmp_path / "state"), "again")


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"table_path": None}, "PEN2011", "`table_path` is missing"),
        ({"table_path": None, "warehouse": "/w"}, "PEN2011", "`table` is missing"),
        ({"table": "t"}, "PEN2011", "exclude each other"),
        ({"table_path": "t"}, "PEN2004", "names no catalog"),
        ({"table_path": "c..t"}, "PEN2004", "no name of a table"),
        ({"partition_by": ["day(seq)"]}, "PEN4008", "of type int"),
        ({"partition_by": ["bucket(id)"]}, "PEN2004", "bucket(16, id)"),
        ({"partition_by": ["week(at)"]}, "PEN2004", "no partition transform `week`"),
        ({"partition_by": ["region"]}, "PEN4008", "no column `region`"),
        ({"write_mode": "upsert"}, "PEN2011", "needs `primary_keys`"),
        ({"sequence_field": "seq"}, "PEN2011", "no meaning for write_mode append"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, code, said):
    given = {"table_path": "lake.db.t", **given}
    given = {name: value for name, value in given.items() if value is not None}
    job = write(connector, rows("", *COLUMNS), **given)
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    (found,) = diagnostics
    assert found.code == code
    assert said in found.message


def test_types_that_no_table_can_hold_are_refused():
    columns = ("a interval day", "b time(6)", "c array<void>", "d variant")
    job = write(connector, rows("", *columns), table_path="lake.db.t")
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    assert [(each.code, each.message.partition("`")[2][0]) for each in diagnostics] == [
        ("PEN4003", "a"),
        ("PEN4003", "b"),
        ("PEN4003", "c"),
    ]


def test_a_variant_cannot_be_a_key():
    given = {"table_path": "lake.db.t", "write_mode": "upsert", "primary_keys": ["v"]}
    job = write(connector, rows("", "v variant", "id int"), **given)
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    assert [(each.code, each.message) for each in diagnostics] == [
        ("PEN4008", "the column `v` of type variant cannot be a key")
    ]


def test_names_and_transforms_are_parsed():
    assert parse_name("a.`b.c`.`d``e`") == ("a", "b.c", "d`e")
    assert parse_field("Years(`the at`)") == PartitionField("the at", "year")
    assert parse_field("truncate( 4 , code)") == PartitionField("code", "truncate", 4)
    assert parse_field("region") == PartitionField("region")
