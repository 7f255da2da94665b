"""Write modes of Delta tables: rows that find the table's by their key, replace some of them, or change its schema."""

import json
from dataclasses import replace

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, RunError, Severity
from catalog.tables.row_kind import ROW_KIND
from connectors.delta.connector import connector
from engine.plan.nodes import Scan
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from engine.spark.writing.sink_checks import check
from engine.state.journal import RunOutcome
from tests.connectors.delta.table_rows import rows_of_table
from tests.connectors.given_options import PLACE, options_of
from tests.connectors.jobs import rows, run_writes, stage_writes, write

pytestmark = [pytest.mark.spark, pytest.mark.delta]
COLUMNS = ("id bigint", "name string", "seq int")


class Target:
    """A table of its own, and the writes to it."""

    def __init__(self, spark, folder):
        self.spark = spark
        self.path = folder / "target"
        self.state = str(folder / "state")
        self.runs = 0

    def job(self, query, columns=COLUMNS, **given):
        return write(connector, rows(query, *columns), path=str(self.path), **given)

    def run(self, job):
        self.runs += 1
        run_writes(self.spark, [job], self.state, f"run{self.runs}")

    def write(self, query, columns=COLUMNS, **given):
        self.run(self.job(query, columns, **given))

    def rows(self, *columns):
        """By the log and the files, where they alone tell; Spark needs several jobs for a look at a table."""
        found = rows_of_table(self.path, columns)
        return self.read_rows(*columns) if found is None else found

    def read_rows(self, *columns):
        df = self.spark.read.format("delta").load(str(self.path))
        return sorted(map(tuple, (df.select(*columns) if columns else df).collect()), key=repr)

    def versions(self):
        return len(list((self.path / "_delta_log").glob("*.json")))


@pytest.fixture
def target(spark, tmp_path):
    return Target(spark, tmp_path)


def values(*listed):
    return "select * from values " + ", ".join(listed) + " as t(id, name, seq)"


KEYED = {"write_mode": "upsert", "primary_keys": ["id"], "sequence_field": "seq"}


@pytest.mark.parametrize("local_merge", ["auto", pytest.param("off", marks=pytest.mark.soak)])
def test_upsert(target, local_merge):
    given = {**KEYED, "local_merge": local_merge, "delete_condition": "name = 'gone'"}
    target.write(values("(1L, 'a', 1)", "(1L, 'b', 2)", "(2L, 'c', 5)", "(3L, 'd', 1)", "(9L, 'gone', 1)"), **given)
    assert target.rows() == [(1, "b", 2), (2, "c", 5), (3, "d", 1)]
    target.write(
        values("(1L, 'new', 3)", "(2L, 'late', 4)", "(3L, 'gone', 2)", "(4L, 'e', 1)", "(4L, 'f', 2)"), **given
    )
    assert target.rows() == [(1, "new", 3), (2, "c", 5), (4, "f", 2)]
    target.write(f"select * from ({values('(1L, chr(0), 1)')}) where false", **given)
    assert target.rows() == [(1, "new", 3), (2, "c", 5), (4, "f", 2)]


def test_several_rows_of_a_key_without_a_sequence_are_named(target):
    given = {"write_mode": "upsert", "primary_keys": ["id", "name"]}
    target.write(values("(1L, 'a', 1)", "(2L, 'b', 1)"), **given)
    for _ in range(2):
        with pytest.raises(RunError, match=r"several rows have the key id = 7, name = x: .*sequence_field"):
            target.write(values("(7L, 'x', 1)", "(7L, 'x', 2)", "(8L, 'y', 1)"), **given)
    with pytest.raises(RunError, match="the key column id is NULL"):
        target.write(values("(null, 'x', 1)", "(8L, 'y', 1)"), **given)
    assert target.rows("id") == [(1,), (2,)]


def test_partitions_that_a_table_lacks_are_not_overwritten(target):
    """Spark would replace all rows of the table."""
    with pytest.raises(RunError, match="overwrite_partitions needs `partition_by`"):
        target.write(values("(1L, 'a', 1)"), write_mode="overwrite_partitions")
    target.write(values("(1L, 'a', 1)"))
    with pytest.raises(RunError, match="has none: all its rows would be replaced"):
        target.write(values("(2L, 'b', 1)"), write_mode="overwrite_partitions")
    assert target.rows("id") == [(1,)]


def test_the_same_run_merges_once(target, spark, tmp_path):
    target.write(values("(1L, 'a', 1)"), **KEYED)
    job = target.job(values("(1L, 'b', 2)", "(2L, 'c', 1)"), **KEYED)
    for state in ("state", "state", "other"):
        run_writes(spark, [job], str(tmp_path / state), "same")
    assert target.rows() == [(1, "b", 2), (2, "c", 1)]
    assert target.versions() == 2


def test_changelog(target):
    def changes(*listed):
        query = f"select id, name, seq, kind `{ROW_KIND}` from values {', '.join(listed)} as t(id, name, seq, kind)"
        job = target.job(query, write_mode="changelog", primary_keys=["id"])
        return replace(job, input=replace(job.input, table=replace(job.input.table, has_row_kind=True)))

    target.run(changes("(1L, 'a', 1, '+I')", "(2L, 'b', 1, '+I')", "(3L, 'c', 1, '+I')", "(4L, 'no', 1, '-D')"))
    assert target.rows() == [(1, "a", 1), (2, "b", 1), (3, "c", 1)]
    target.run(
        changes(
            "(1L, 'a', 1, '-U')", "(1L, 'A', 2, '+U')", "(2L, 'b', 1, '-D')", "(3L, 'c', 1, '-U')", "(5L, 'c', 2, '+U')"
        )
    )
    assert target.rows() == [(1, "A", 2), (5, "c", 2)]
    assert ROW_KIND not in target.spark.read.format("delta").load(str(target.path)).columns


def test_change_feed(target, spark, tmp_path):
    feed = {"delta.enableChangeDataFeed": True}
    target.write(values("(1L, 'a', 1)", "(2L, 'b', 1)", "(3L, 'c', 1)"), table_properties=feed)
    for text in (
        "UPDATE {} SET name = 'A' WHERE id = 1",
        "DELETE FROM {} WHERE id = 2",
        "UPDATE {} SET id = 4 WHERE id = 3",
    ):
        spark.sql(text.format(f"delta.`{target.path}`"))
    options = options_of(connector.source_options, path=str(target.path), read_change_feed=True, starting_version=0)
    found = Diagnostics()
    (table,) = connector.tables(options, found)
    assert list(found) == []
    assert table.has_row_kind
    assert table.schema.names == ("id", "name", "seq", "_commit_version", "_commit_timestamp")
    scan = Scan("feed", connector, options, table, id="feed", span=PLACE)
    df = lower(pipeline_session(spark), [write(connectors.sink("Console"), scan)]).dataframes[scan]
    shown = df.select("id", "name", "_commit_version", ROW_KIND).collect()
    assert sorted((version, id, kind, name) for id, name, version, kind in shown) == [
        (0, 1, "+I", "a"),
        (0, 2, "+I", "b"),
        (0, 3, "+I", "c"),
        (1, 1, "+U", "A"),
        (1, 1, "-U", "a"),
        (2, 2, "-D", "b"),
        (3, 3, "-U", "c"),
        (3, 4, "+U", "c"),
    ]
    described = connector.describe(spark, options)
    assert [column.name for column in described.columns] == list(table.schema.names)
    given = {"write_mode": "changelog", "primary_keys": ["id"], "sequence_field": "_commit_version"}
    copy = tmp_path / "copy"
    for run in ("one", "two"):
        run_writes(spark, [write(connector, scan, path=str(copy), **given)], target.state, f"copy {run}")
        assert sorted(map(tuple, spark.read.format("delta").load(str(copy)).select("id", "name", "seq").collect())) == [
            (1, "A", 1),
            (4, "c", 1),
        ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"read_change_feed": True}, "needs `starting_version`"),
        ({"starting_version": 1}, "which is not read"),
        ({"read_change_feed": True, "starting_version": 1, "version": 2}, "`version` and `read_change_feed` exclude"),
        (
            {"read_change_feed": True, "starting_version": 1, "starting_timestamp": "2026-01-01"},
            "`starting_version` and `starting_timestamp` exclude",
        ),
        ({"read_change_feed": True, "starting_version": 0}, "records no change feed"),
    ],
)
def test_options_of_the_change_feed(tmp_path, given, said):
    log = tmp_path / "_delta_log"
    log.mkdir()
    schema = json.dumps(
        {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]}
    )
    for version in range(3):
        (log / f"{version:020}.json").write_text(json.dumps({"metaData": {"schemaString": schema}}))
    found = Diagnostics()
    connector.tables(options_of(connector.source_options, path=str(tmp_path), **given), found)
    assert said in next(iter(found)).message
    assert {diagnostic.code for diagnostic in found} == {"PEN2011"}


@pytest.mark.soak
def test_scd2(target):
    columns = ("id bigint", "name string", "at timestamp")
    given = {"write_mode": "scd2", "primary_keys": ["id"], "sequence_field": "at", "delete_condition": "name = 'gone'"}

    def day(*listed):
        found = ", ".join(f"({id}L, '{name}', timestamp'2026-01-0{day} 00:00:00Z')" for id, name, day in listed)
        return f"select * from values {found} as t(id, name, at)"

    shown = ("id", "name", "day(valid_from) f", "day(valid_to) t", "is_current")
    target.write(day((1, "a", 1), (2, "b", 1), (3, "c", 1)), columns, **given)
    target.write(day((1, "A", 2), (2, "b", 2), (3, "gone", 2), (4, "d", 2)), columns, **given)
    target.write(day((1, "late", 1), (4, "D", 3)), columns, **given)
    df = target.spark.read.format("delta").load(str(target.path)).selectExpr(*shown)
    assert sorted(map(tuple, df.collect())) == [
        (1, "A", 2, None, True),
        (1, "a", 1, 2, False),
        (2, "b", 1, None, True),
        (3, "c", 1, 2, False),
        (4, "D", 3, None, True),
        (4, "d", 2, 3, False),
    ]


def test_replace_where(target):
    target.write(values("(1L, 'a', 1)", "(2L, 'a', 2)", "(3L, 'b', 1)"))
    given = {"write_mode": "replace_where", "replace_where": "name = 'a' and seq > 1"}
    with pytest.raises(RunError, match="a row does not satisfy replace_where"):
        target.write(values("(4L, 'b', 2)"), **given)
    target.write(values("(4L, 'a', 5)"), **given)
    assert target.rows() == [(1, "a", 1), (3, "b", 1), (4, "a", 5)]
    target.write(values("(4L, 'a', 5)") + " where false", **given)
    assert target.rows() == [(1, "a", 1), (3, "b", 1)]


@pytest.mark.parametrize("evolution", [pytest.param("fail", marks=pytest.mark.soak), "add_columns"])
def test_rows_that_replace_others_are_in_the_change_feed(target, spark, evolution):
    target.write(values("(1L, 'a', 1)", "(2L, 'a', 2)"), table_properties={"delta.enableChangeDataFeed": "true"})
    more, columns = (", 7 more", (*COLUMNS, "more int")) if evolution == "add_columns" else ("", COLUMNS)
    query = f"select 3L id, 'a' name, 3 seq{more}"
    given = {"write_mode": "replace_where", "replace_where": "seq > 1", "schema_evolution": evolution}
    target.write(query, columns, **given)
    assert [row[0] for row in target.rows("id")] == [1, 3]
    latest = target.versions() - 1
    feed = spark.read.option("readChangeFeed", "true").option("startingVersion", str(latest)).format("delta")
    changes = feed.load(str(target.path)).select("_change_type", "id", *(["more"] if more else [])).collect()
    assert sorted(map(tuple, changes), key=repr) == [
        ("delete", 2, *([None] if more else [])),
        ("insert", 3, *([7] if more else [])),
    ]


def test_schema_evolution(target, spark):
    target.write("select cast(1 as int) id, 'a' name", ("id int", "name string"))
    wider = target.job("select 5000000000L id, 'b' name, 1 more", ("id bigint", "name string", "more int"))
    with pytest.raises(RunError) as caught:
        check(spark, [wider])
    assert "schema_evolution = add_columns" in caught.value.diagnostics[0].help
    target.write(
        "select 5000000000L id, 'b' name, 1 more", ("id bigint", "name string", "more int"), schema_evolution="widen"
    )
    assert target.rows("id", "name", "more") == [(1, "a", None), (5000000000, "b", 1)]
    target.write(
        "select 1L id, 'A' name, 'x' note",
        ("id bigint", "name string", "note string"),
        schema_evolution="add_columns",
        write_mode="upsert",
        primary_keys=["id"],
    )
    assert target.rows("id", "name", "more", "note") == [(1, "A", None, "x"), (5000000000, "b", 1, None)]


def test_a_merge_widens_columns_and_finds_overflows_while_staging(target, spark):
    columns = ("id int", "name string", "seq smallint")
    target.write("select 1 id, 'a' name, 1S seq", columns, **KEYED)
    wider = ("select 5000000000L id, 'b' name, 70000 Seq, 1 More", ("id bigint", "name string", "Seq int", "More int"))
    narrow = target.job(*wider, **{**KEYED, "schema_evolution": "add_columns"})
    with pytest.raises(RunError, match="PEN5501"):
        stage_writes(spark, [narrow], target.state, "narrow")
    assert spark.read.format("delta").load(str(target.path)).dtypes == [
        ("id", "int"),
        ("name", "string"),
        ("seq", "smallint"),
    ]
    job = target.job(*wider, **KEYED, schema_evolution="widen")
    for state in ("state", "other"):
        run_writes(spark, [job], str(target.path.parent / state), "wider")
    assert target.rows() == [(1, "a", 1, None), (5000000000, "b", 70000, 1)]
    assert [name for name, _ in spark.read.format("delta").load(str(target.path)).dtypes][-1] == "More"


def test_what_a_merge_would_refuse_is_found_while_staging(target, spark):
    target.path.parent.mkdir(exist_ok=True)
    spark.sql(
        f"create table delta.`{target.path}` (id bigint, name varchar(3), twice bigint generated always as (id * 2)) "
        "using delta"
    )
    given = {"write_mode": "upsert", "primary_keys": ["id"]}
    two = ("id bigint", "name string")
    with pytest.raises(RunError, match=r"varchar\(3\) of name"):
        stage_writes(spark, [target.job("select 1L id, 'long' name", two, **given)], target.state, "long")
    three = target.job("select 1L id, 'a' name, 3L twice", (*two, "twice bigint"), **given)
    with pytest.raises(RunError, match="generated always of twice"):
        stage_writes(spark, [three], target.state, "three")
    target.write("select 1L id, 'a' name", two, **given)
    assert target.rows() == [(1, "a", 2)]
    unknown = target.job("select 1L id, 'a' name", two, write_mode="replace_where", replace_where="id in (select 1)")
    with pytest.raises(RunError):
        stage_writes(spark, [unknown], target.state, "unknown")
    spark.sql(f"alter table delta.`{target.path}` set tblproperties ('delta.appendOnly' = 'true')")
    with pytest.raises(RunError, match="PEN4004"):
        check(spark, [target.job("select 1L id, 'a' name", two, **given)])


def test_scd2_into_a_table_without_its_columns_is_refused(target, spark):
    given = {"write_mode": "scd2", "primary_keys": ["id"]}
    target.write(
        "select 1L id, 'a' name, timestamp'2026-01-01' valid_from", ("id bigint", "name string", "valid_from timestamp")
    )
    job = target.job("select 1L id, 'b' name", ("id bigint", "name string"), **given)
    found = Diagnostics()
    connector.validate(job.options, job.table, found)
    with pytest.raises(RunError) as caught:
        check(spark, [job])
    for reported in (tuple(found), caught.value.diagnostics):
        assert [diagnostic.code for diagnostic in reported] == ["PEN4003"] * 2
        assert "needs the column `valid_to`" in reported[0].message
        assert "needs the column `is_current`" in reported[1].message


def test_scd2_needs_a_first_instant(target):
    given = {"write_mode": "scd2", "primary_keys": ["id"], "sequence_field": "at"}
    for value, said in (("cast(null as string)", "gives no first instant"), ("'no time'", "no time")):
        with pytest.raises(RunError, match=said):
            target.write(f"select 1L id, {value} at", ("id bigint", "at string"), **given)
    assert not target.path.exists()


def test_failing_maintenance_is_a_warning(target, spark):
    given = {"after_commit": {"optimize": ["nowhere"], "vacuum_hours": 1}}
    run = stage_writes(spark, [target.job("select 1L id", ("id bigint",), **given)], target.state, "run")
    (warning,) = commit_all(spark, run)
    assert (warning.code, warning.severity) == ("PEN5014", Severity.WARNING)
    assert "nowhere" in warning.message
    assert target.rows() == [(1,)]
    assert run.journal.read().outcome is RunOutcome.FINISHED


def test_properties_and_upkeep(target, spark):
    given = {
        "table_properties": {"delta.enableChangeDataFeed": True, "delta.constraints.positive": "id > 0"},
        "after_commit": {"optimize": True, "vacuum_hours": 200},
    }
    target.write("select id + 1 id from range(0, 8, 1, 4)", ("id bigint",), **given)
    detail = spark.sql(f"describe detail delta.`{target.path}`").first()
    assert detail.properties["delta.enableChangeDataFeed"] == "true"
    assert detail.numFiles == 1
    with pytest.raises(RunError, match=r"(?i)positive"):
        target.write("select -1L id", ("id bigint",))


def test_a_clustered_table(target, spark):
    """Clustered from its first commit on, also where it is recreated; recreated without it is clustered by nothing."""

    def clustered():
        return list(spark.sql(f"describe detail delta.`{target.path}`").first().clusteringColumns)

    target.write(values("(1L, 'a', 1)", "(2L, 'b', 1)"), cluster_by=["Seq", "id"], after_commit={"optimize": True})
    assert clustered() == ["seq", "id"]
    target.write(values("(3L, 'c', 1)"), cluster_by=["Seq", "id"])
    spark.sql(f"optimize delta.`{target.path}` full")
    assert clustered() == ["seq", "id"]
    recreated = {"schema_save_mode": "RECREATE_SCHEMA", "data_save_mode": "DROP_DATA"}
    target.write("select 1L id, 'x' other", ("id bigint", "other string"), cluster_by=["other"], **recreated)
    assert clustered() == ["other"]
    target.write("select 7L id", ("id bigint",), **recreated)
    assert clustered() == []
    target.write("select 8L id", ("id bigint",))
    spark.sql(f"optimize delta.`{target.path}`")
    assert target.rows() == [(7,), (8,)]


@pytest.mark.soak
def test_a_recreated_table_becomes_clustered(target, spark):
    target.write(values("(1L, 'a', 1)"))
    recreated = {"schema_save_mode": "RECREATE_SCHEMA", "data_save_mode": "DROP_DATA"}
    target.write(values("(2L, 'b', 1)"), cluster_by=["id"], **recreated)
    assert list(spark.sql(f"describe detail delta.`{target.path}`").first().clusteringColumns) == ["id"]
    assert target.rows() == [(2, "b", 1)]


@pytest.mark.parametrize(
    ("columns", "given", "code", "said"),
    [
        (COLUMNS, {"cluster_by": ["nmae"]}, "PEN4008", "no column `nmae` to cluster the table by"),
        (COLUMNS, {"cluster_by": ["id"], "partition_by": ["seq"]}, "PEN2011", "exclude each other"),
        (COLUMNS, {"cluster_by": ["id", "ID"]}, "PEN2004", "names a column twice"),
        (("id bigint", "flag boolean"), {"cluster_by": ["flag"]}, "PEN4008", "of type boolean"),
        (
            (f"many struct<{', '.join(f'f{n}: int' for n in range(32))}>", "id bigint"),
            {"cluster_by": ["id"]},
            "PEN4008",
            "those of the first 32 columns",
        ),
        (tuple(f"c{n} int" for n in range(5)), {"cluster_by": [f"c{n}" for n in range(5)]}, "PEN2004", "at most 4"),
    ],
)
def test_columns_that_cannot_cluster_a_table_are_refused(columns, given, code, said):
    job = write(connector, rows("", *columns), path="nowhere", **given)
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    assert [diagnostic.code for diagnostic in diagnostics] == [code]
    assert said in next(iter(diagnostics)).message


def test_rows_are_written_once_and_files_of_an_aborted_run_are_removed(target, spark):
    target.write(values("(1L, 'a', 1)"))
    before = sorted(target.path.iterdir())
    run = stage_writes(spark, [target.job(values("(2L, 'b', 1)"))], target.state, "aborted")
    (staged,) = [path for path in target.path.glob("*.parquet") if path not in before]
    assert target.rows() == [(1, "a", 1)]
    abort_all(spark, run)
    assert sorted(target.path.iterdir()) == before
    target.write(values("(3L, 'c', 1)"))
    log = [
        json.loads(line) for line in sorted((target.path / "_delta_log").glob("*.json"))[-1].read_text().splitlines()
    ]
    (added,) = [action["add"]["path"] for action in log if "add" in action]
    assert sorted(path.name for path in target.path.glob("*.parquet") if path not in before) == [added]
    assert staged.name != added


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"write_mode": "upsert"}, "PEN2011", "needs `primary_keys`"),
        ({"write_mode": "upsert", "primary_keys": ["ids"]}, "PEN4008", "no column `ids`"),
        ({"write_mode": "replace_where"}, "PEN2011", "needs `replace_where`"),
        ({"replace_where": "id > 1"}, "PEN2011", "no meaning for write_mode append"),
        ({"sequence_field": "seq"}, "PEN2011", "no meaning for write_mode append"),
        ({"write_mode": "changelog", "primary_keys": ["id"]}, "PEN2011", "row kinds"),
        ({"after_commit": {"optimise": True}}, "PEN2003", "no `optimise`"),
        ({"after_commit": {"vacuum_hours": "week"}}, "PEN2004", "a number of hours"),
        ({"write_mode": "scd2", "primary_keys": ["id"], "current_column": "name"}, "PEN4003", "fills itself"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, code, said):
    job = write(connector, rows("", *COLUMNS), path="/nowhere/target", **given)
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    (found,) = diagnostics
    assert found.code == code
    assert said in found.message


def test_new_tables_have_comments(spark, target):
    job = target.job(values("(1L, 'a', 1)"))
    id, name, seq = job.input.table.columns
    schema = replace(job.input.table.schema, columns=(id, replace(name, comment="it's a name"), seq))
    target.run(replace(job, input=replace(job.input, table=replace(job.input.table, schema=schema, comment="people"))))
    described = {row[0]: row[2] for row in spark.sql(f"describe delta.`{target.path}`").collect()}
    assert described["name"] == "it's a name"
    assert spark.sql(f"describe detail delta.`{target.path}`").first().description == "people"
    assert target.rows() == [(1, "a", 1)]
