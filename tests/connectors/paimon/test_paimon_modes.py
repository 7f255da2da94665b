"""What is Paimon's own: primary keys and buckets, deletes, tags, schema changes, types, and what is refused."""

import json
import random
from collections import Counter

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from connectors.interface.source import ScanTask
from connectors.paimon.connector import connector
from connectors.paimon.file_predicates import file_predicates
from connectors.paimon.table_files import latest_schema
from engine.compile import Settings, compile_job
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, stage_writes, write
from tests.connectors.lakehouse.lake_values import TYPES, assert_same_rows, query_of
from tests.connectors.paimon.table_rows import rows_of_table

COLUMNS = ("id bigint", "region string", "seq int")
UPSERT = {"write_mode": "upsert", "primary_keys": ["id", "region"], "partition_by": ["region"], "bucket": 2}


def values(*tuples):
    return f"select * from values {', '.join(tuples)} as t(id, region, seq)"


class PaimonTarget:
    def __init__(self, spark, folder):
        self.spark = spark
        self.folder = folder / "warehouse" / "shop.db" / "target"
        self.address = {"warehouse": str(folder / "warehouse"), "table": "shop.target"}
        self.state = str(folder / "state")
        self.runs = 0

    def job(self, query, columns=COLUMNS, **given):
        return write(connector, rows(query, *columns), **self.address, **given)

    def write(self, query, columns=COLUMNS, **given):
        self.runs += 1
        run_writes(self.spark, [self.job(query, columns, **given)], self.state, f"run{self.runs}")

    def read(self, **at):
        options = options_of(connector.source_options, **self.address, **at)
        return connector.read(self.spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))

    def rows(self):
        """By pypaimon alone."""
        return rows_of_table(self.folder)

    def read_rows(self, **at):
        """By the connector, for whose reads Spark starts processes."""
        return sorted(map(tuple, self.read(**at).collect()), key=repr)

    def snapshots(self):
        found = [json.loads(path.read_text()) for path in self.folder.glob("snapshot/snapshot-*")]
        return sorted(found, key=lambda snapshot: snapshot["id"])

    def files(self):
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("penstock-*"))


@pytest.fixture
def target(spark, tmp_path):
    return PaimonTarget(spark, tmp_path)


@pytest.mark.spark
def test_upserts_and_deletes_by_key_with_one_writer_for_each_bucket(target):
    query = "select id, if(id % 2 = 0, 'a', 'b') region, 1 seq from range(0, 40, 1, 4)"
    target.write(query, **UPSERT, tag="first")
    assert Counter(name.rpartition("/")[0] for name in target.files()) == {
        f"region={region}/bucket-{bucket}": 1 for region in "ab" for bucket in range(2)
    }
    old = {(id, "ab"[id % 2], 1) for id in range(40)}
    assert set(target.rows()) == old
    changes = values("(1L, 'b', 2)", "(2L, 'a', -1)", "(100L, 'c', 2)", "(101L, 'c', -1)")
    for state in (target.state, target.state, target.state + "2"):  # with the journal of the first time, and without
        job = target.job(changes, delete_condition="seq < 0", **UPSERT)
        run_writes(target.spark, [job], state, "changes")
    new = old - {(1, "b", 1), (2, "a", 1)} | {(1, "b", 2), (100, "c", 2)}
    assert (len(target.rows()), set(target.rows())) == (len(new), new)
    assert [snapshot["properties"]["penstock.run-id"] for snapshot in target.snapshots()] == ["run1", "changes"]
    assert set(target.read_rows()) == new
    assert set(target.read_rows(tag="first")) == old
    assert set(target.read_rows(snapshot_id=1)) == old
    twice = target.job(values("(7L, 'x', 1)", "(7L, 'x', 2)"), **UPSERT)
    with pytest.raises(RunError, match=r"several rows have the key id = 7, region = x"):
        stage_writes(target.spark, [twice], target.state, "twice")
    nothing = target.job("select cast(null as bigint) id, 'x' region, 1 seq", **UPSERT)
    with pytest.raises(RunError, match="the key column id is NULL"):
        stage_writes(target.spark, [nothing], target.state, "nulls")
    target.write(values("(5L, 'a', 9)"), data_save_mode="DROP_DATA", **UPSERT)
    assert target.rows() == [(5, "a", 9)]


@pytest.mark.spark
def test_the_latest_row_of_a_key_wins_and_no_older_one_replaces_it(target):
    given = {"write_mode": "upsert", "primary_keys": ["ID"], "sequence_field": "SEQ", "bucket": 1}
    target.write(values("(1L, 'b', 5)", "(1L, 'c', 6)", "(2L, 'a', 1)"), **given)
    target.write(values("(1L, 'old', 4)", "(2L, 'new', 2)"), **given)
    assert target.rows() == [(1, "c", 6), (2, "new", 2)]
    schema = latest_schema(str(target.folder))
    assert (schema["primaryKeys"], schema["options"]) == (["id"], {"bucket": "1", "sequence.field": "seq"})
    plain = target.job(values("(1L, 'b', 5)"))
    with pytest.raises(RunError, match="has a primary key, by which a written row updates another"):
        run_writes(target.spark, [plain], target.state, "plain")


@pytest.mark.spark
@pytest.mark.parametrize("assigners", [1, pytest.param(4, marks=pytest.mark.soak)])
def test_keys_of_dynamic_buckets_are_assigned_side_by_side(target, assigners):
    """Random changes in several runs, by another number of assigners each: the table equals plain Python's, each key is
    in one bucket, and no bucket has more keys than it should."""
    draw, expected = random.Random(assigners), {}
    given = {"write_mode": "upsert", "primary_keys": ["id", "region"], "partition_by": ["region"], "bucket": -1}
    counts = {1: (400, 2), 4: (CHANGES // 4, 4)}[assigners]
    for run in range(counts[1]):
        properties = {"dynamic-bucket.target-row-num": 40 if assigners == 1 else 20_000}
        properties["dynamic-bucket.assigner-parallelism"] = 4
        seed = draw.randrange(10**6)
        changes = (
            f"select cast(pmod(hash(id, {seed}), {counts[0]}) as bigint) as id, if(id % 2 = 0, 'a', 'b') as region, "
            f"cast(id as int) as seq, if(id % 10 = 3, '-D', '+I') as kind from range({counts[0]})"
        )
        latest = (
            f"select id, region, {run} as seq, kind from (select *, row_number() over "
            f"(partition by id, region order by seq desc) as place from ({changes})) where place = 1"
        )
        target.write(latest, (*COLUMNS, "kind string"), delete_condition="kind = '-D'", **given,
                     **({"table_properties": properties} if run == 0 else {}))  # fmt: skip
        for id, region, seq, kind in target.spark.sql(latest).collect():
            expected.pop((id, region), None) if kind == "-D" else expected.update({(id, region): (seq, kind)})
    found = {(id, region): (seq, kind) for id, region, seq, kind in target.read().collect()}
    assert found == expected
    assert len(target.rows()) == len(expected)
    writers = {name.rpartition("/")[0] for name in target.files()}
    assert len(writers) >= 8


CHANGES = 1_000_000


@pytest.mark.spark
@pytest.mark.soak
def test_a_table_that_adds_buckets_as_it_grows(target):
    given = {"write_mode": "upsert", "primary_keys": ["id"], "bucket": -1}
    properties = {"table_properties": {"dynamic-bucket.target-row-num": 10}}
    target.write("select id, 'a' region, 1 seq from range(25)", **given, **properties)
    assert {name.partition("/")[0] for name in target.files()} == {"bucket-0", "bucket-1", "bucket-2"}
    aborted = stage_writes(target.spark, [target.job(values("(1L, 'b', 2)"), **given)], target.state, "aborted")
    files = {path for path in target.folder.rglob("*") if path.is_file()}
    assert abort_all(target.spark, aborted) == ()
    left = {path for path in target.folder.rglob("*") if path.is_file()}
    assert (len(files - left), left - files) == (1, set())
    target.write(values("(1L, 'b', 2)", "(30L, 'c', 2)"), **given)
    found = {row[0]: row[1:] for row in target.rows()}
    assert (len(target.rows()), found[1], found[30], found[2]) == (26, ("b", 2), ("c", 2), ("a", 1))


@pytest.mark.spark
def test_columns_are_added_and_another_change_meanwhile_is_no_hindrance(target):
    target.write(values("(1L, 'a', 1)"))
    wider = ("id bigint", "note string", "seq int", "region string")
    query = "select 2L id, 'n' note, 2 seq, 'b' region"
    with pytest.raises(RunError) as caught:
        target.write(query, wider)
    assert [(found.code, found.help) for found in caught.value.diagnostics] == [
        ("PEN4003", "schema_evolution = add_columns changes the target and keeps its rows")
    ]
    job = target.job(query, wider, schema_evolution="add_columns")
    run = stage_writes(target.spark, [job], target.state, "wider")
    assert target.rows() == [(1, "a", 1)]
    target.write(values("(3L, 'c', 3)"))  # the rows of a run that comes between
    commit_all(target.spark, run)
    assert target.rows() == [(1, "a", 1, None), (2, "b", 2, "n"), (3, "c", 3, None)]
    assert target.read_rows(snapshot_id=1) == [(1, "a", 1)]
    assert [path.name for path in sorted(target.folder.glob("schema/*"))] == ["schema-0", "schema-1"]


@pytest.mark.spark
@pytest.mark.parametrize(
    "given",
    [
        pytest.param({}, id="append", marks=pytest.mark.soak),
        pytest.param({"write_mode": "upsert", "primary_keys": ["key"]}, id="upsert"),
    ],
)
def test_every_type_comes_back_as_it_went(target, given):
    query, columns = query_of({"tinyint": "-128Y", "smallint": "32767S", **TYPES})
    target.write(query, columns, **given)
    wanted = target.spark.sql(query)
    assert_same_rows(target.read(), wanted)
    (offline,) = connector.tables(options_of(connector.source_options, **target.address), Diagnostics())
    assert [str(column.type) for column in offline.columns] == [type for _, type in wanted.dtypes]


@pytest.mark.spark
def test_filters_and_columns_reach_the_files(target):
    target.write("select id, if(id < 5, 'a', 'b') region, 1 seq from range(10)", partition_by=["region"])
    target.write(values("(50L, 'c', 2)"))
    options = options_of(connector.source_options, **target.address)
    (table,) = connector.tables(options, Diagnostics())
    filters = ("region = 'c'", "seq > 1", "id IN (50, 51)")
    df = connector.read(target.spark.newSession(), ScanTask(options, table, filters=filters))
    assert df.select("id").collect() == [(50,)]
    assert df.rdd.getNumPartitions() == 1  # one of three splits
    assert table.partition_keys == ("region",)
    only = connector.read(target.spark.newSession(), ScanTask(options, table, columns=("SEQ",)))
    assert (only.columns, only.count()) == (["SEQ"], 11)


@pytest.mark.spark
def test_one_use_of_a_table_does_not_filter_another(target):
    query = "select id, if(id < 5, 'a', 'b') region, cast(id % 2 as int) seq from range(10)"
    target.write(query, partition_by=["region"])
    df = target.read()
    assert df.where("region = 'a'").unionAll(df).count() == 15
    assert (df.where("region = 'b' and seq = 0").count(), df.count()) == (2, 10)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("seq > -1", ("greater_than", "seq", (-1,))),
        ("`REGION` = 'c'", ("equal", "region", ("c",))),
        ("id IN (1, 2)", ("is_in", "id", ([1, 2],))),
        ("region IN ('a', 'b, c')", None),
        ("region = 5", None),
        ("region = 'it''s'", None),
        ("region = '\\t'", None),
        ("seq > 12345678901", None),
        ("day = DATE '2026-01-01'", None),
        ("seq > 1 OR id = 2", None),
        ("region = 'a' OR region = 'b'", None),
        ("other = 1", None),
    ],
)
def test_which_filters_skip_files(text, found):
    types = {"id": "bigint", "seq": "int", "region": "string", "day": "date"}
    table = CatalogTable.of("t", [Column(name, parse_type(type)) for name, type in types.items()])
    assert list(file_predicates([text], table)) == ([found] if found else [])


@pytest.mark.spark
def test_a_filter_does_not_bring_back_an_older_row_of_its_key(target):
    given = {"write_mode": "upsert", "primary_keys": ["id"], "bucket": 1}
    target.write(values("(1L, 'old', 1)", "(2L, 'old', 1)"), **given)
    target.write(values("(1L, 'new', 2)"), **given)
    options = options_of(connector.source_options, **target.address)
    (table,) = connector.tables(options, Diagnostics())
    for filters in (("region = 'old'",), ("seq < 2", "id >= 1")):
        df = connector.read(target.spark.newSession(), ScanTask(options, table, filters=filters))
        assert df.where(" and ".join(filters)).collect() == [(2, "old", 1)]


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"path": None}, "PEN2011", "`path` is missing"),
        ({"path": None, "warehouse": "/w"}, "PEN2011", "`table` is missing"),
        ({"table": "t"}, "PEN2011", "exclude each other"),
        ({"path": None, "warehouse": "/w", "table": "t"}, "PEN2004", "does not name a database"),
        ({"path": "s3://bucket/t"}, "PEN2004", "not on a file system of this machine"),
        ({"partition_by": ["day"]}, "PEN4008", "no column `day`"),
        ({"write_mode": "upsert"}, "PEN2011", "needs `primary_keys`"),
        ({"write_mode": "overwrite_partitions"}, "PEN2011", "needs `partition_by`"),
        ({"sequence_field": "seq"}, "PEN2011", "no meaning for write_mode append"),
        ({**UPSERT, "primary_keys": ["id"]}, "PEN2011", "must contain the partition column `region`"),
        ({**UPSERT, "primary_keys": ["region"]}, "PEN2011", "needs a column beside"),
        ({**UPSERT, "bucket": -2}, "PEN2004", "postpones its buckets"),
        ({**UPSERT, "bucket": 0}, "PEN2004", "number of buckets"),
        ({"bucket": 3}, "PEN2011", "the columns that decide the bucket"),
        ({"table_properties": {"bucket": 3}}, "PEN2011", "not given in `table_properties`"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, code, said):
    given = {name: value for name, value in {"path": "/nowhere/t", **given}.items() if value is not None}
    job = write(connector, rows("", *COLUMNS), **given)
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    (found,) = diagnostics
    assert found.code == code
    assert said in found.message


def test_a_write_mode_that_is_not_supported_breaks_no_other_check(tmp_path):
    path = tmp_path / "job.conf"
    path.write_text(
        "source { FakeSource { schema { fields { id = bigint } } } }\n"
        'sink { Paimon { path = "t", write_mode = scd2, primary_keys = [id] } }'
    )
    diagnostics = Diagnostics()
    compile_job(path, Settings(), diagnostics)
    assert [found.code for found in diagnostics] == ["PEN4004"]


@pytest.mark.parametrize(
    ("schema", "given", "code", "said"),
    [
        ({"options": {"bucket": "-2"}, "primaryKeys": ["id"]}, {}, "PEN4004", "postpones its buckets"),
        (
            {
                "options": {"bucket": "-1", "sequence.field": "seq"},
                "primaryKeys": ["id"],
                "partitionKeys": ["region"],
            },
            {},
            "PEN4004",
            "spans partitions, and a table with sequence.field = seq",
        ),
        ({"options": {"merge-engine": "aggregation", "bucket": "1"}}, {}, "PEN4004", "merge engine aggregation"),
        ({"options": {"changelog-producer": "input", "bucket": "1"}}, {}, "PEN4004", "changelog-producer"),
        ({"options": {"type": "format-table", "bucket": "1"}}, {}, "PEN4004", "of the type"),
        ({"primaryKeys": []}, {}, "PEN4004", "needs a primary key"),
        ({"primaryKeys": ["id", "seq"]}, {}, "PEN4008", "is (id, seq)"),
        ({}, {"write_mode": "append", "primary_keys": None}, "PEN4004", "has a primary key"),
        ({}, {"sequence_field": "seq"}, "PEN2011", "no sequence.field"),
        ({"primaryKeys": []}, {"write_mode": "overwrite_partitions", "primary_keys": None}, "PEN4004", "has none"),
    ],
)
def test_tables_that_a_write_cannot_serve_are_refused_without_spark(tmp_path, schema, given, code, said):
    types = {"id": "BIGINT NOT NULL", "region": "STRING", "seq": "INT"}
    fields = [{"id": index, "name": name, "type": type} for index, (name, type) in enumerate(types.items())]
    known = {"id": 0, "fields": fields, "primaryKeys": ["id"], "partitionKeys": [], "options": {"bucket": "1"}}
    (tmp_path / "t" / "schema").mkdir(parents=True)
    (tmp_path / "t" / "schema" / "schema-0").write_text(json.dumps({**known, **schema}))
    given = {"write_mode": "upsert", "primary_keys": ["id"], **given}
    given = {name: value for name, value in given.items() if value is not None}
    job = write(connector, rows("", *COLUMNS), path=str(tmp_path / "t"), **given)
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    (found,) = diagnostics
    assert found.code == code
    assert said in found.message


def test_types_that_no_table_can_hold_are_refused():
    columns = ("a interval day", "b time(6)", "c array<void>", "d variant", "e int")
    job = write(connector, rows("", *columns), path="/nowhere/t")
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    assert [(each.code, each.message.partition("`")[2][0]) for each in diagnostics] == [
        ("PEN4003", name) for name in "abcd"
    ]


def test_without_pypaimon_one_sentence_names_the_package(monkeypatch):
    monkeypatch.setattr("connectors.paimon.paimon_table.find_spec", lambda name: None)
    job = write(connector, rows("", *COLUMNS), path="/nowhere/t")
    with pytest.raises(RunError) as caught:
        connector.inspect(None, job)
    (found,) = caught.value.diagnostics
    assert (found.code, found.help) == ("PEN9003", "pip install 'penstock-etl[paimon]'")


SEATUNNEL = """
source {{ FakeSource {{
  schema {{ fields {{ id = bigint, name = string }}, primaryKey {{ name = pk, columnNames = [id] }} }}
  rows = [{rows}]
}} }}
sink {{ Paimon {{ warehouse = "file://{warehouse}", database = shop, table = target
  {more} }} }}
"""


def run_in_seatunnels_way(spark, folder, given, more="", key=True):
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest, new_run_id

    path = folder / "job.conf"
    text = SEATUNNEL.format(rows=", ".join(given), warehouse=folder / "warehouse", more=more)
    path.write_text(text if key else text.replace("primaryKey { name = pk, columnNames = [id] }", ""))
    diagnostics = Diagnostics()
    job = compile_job(path, Settings(compat=Compat.SEATUNNEL_2), diagnostics)
    assert job is not None, list(diagnostics)
    result = run_job(spark, job, RunRequest(new_run_id()))
    assert str(result.state).endswith("FINISHED"), result.diagnostics


@pytest.mark.spark
def test_in_seatunnels_way_a_new_table_has_the_key_of_plain_rows(target, monkeypatch):
    folder = target.folder.parents[2]
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(folder / "state"))
    run_in_seatunnels_way(target.spark, folder, [])
    assert latest_schema(str(target.folder))["primaryKeys"] == ["id"]
    plain = ['{ kind = INSERT, fields = [1, "a"] }', '{ kind = INSERT, fields = [2, "b"] }']
    run_in_seatunnels_way(target.spark, folder, plain)
    run_in_seatunnels_way(target.spark, folder, ['{ kind = INSERT, fields = [2, "c"] }'])
    assert target.rows() == [(1, "a"), (2, "c")]
    kinds = ['{ kind = DELETE, fields = [1, "a"] }', '{ kind = UPDATE_AFTER, fields = [2, "d"] }']
    run_in_seatunnels_way(target.spark, folder, kinds)
    assert target.rows() == [(2, "d")]
    run_in_seatunnels_way(target.spark, folder, plain, "data_save_mode = DROP_DATA")
    assert target.rows() == [(1, "a"), (2, "b")]


@pytest.mark.spark
@pytest.mark.soak
def test_in_seatunnels_way_a_table_without_a_key_takes_all_rows(target, monkeypatch):
    folder = target.folder.parents[2]
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(folder / "state"))
    plain = ['{ kind = INSERT, fields = [1, "a"] }']
    run_in_seatunnels_way(target.spark, folder, plain, key=False)
    run_in_seatunnels_way(target.spark, folder, plain)
    assert target.rows() == [(1, "a"), (1, "a")]


@pytest.mark.spark
def test_a_table_of_old_paimon_says_nothing_of_its_buckets(target):
    """It has one, and files in ORC."""
    fields = [{"id": number, "name": name, "type": type} for number, (name, type) in enumerate(
        [("id", "BIGINT"), ("region", "STRING"), ("seq", "INT")])]  # fmt: skip
    schema = {"id": 0, "fields": fields, "highestFieldId": 2, "partitionKeys": [], "primaryKeys": [], "options": {}}
    (target.folder / "schema").mkdir(parents=True)
    (target.folder / "schema" / "schema-0").write_text(json.dumps(schema))
    target.write(values("(1L, 'a', 1)", "(2L, 'b', 2)"))
    assert target.rows() == [(1, "a", 1), (2, "b", 2)]
    assert {name.rpartition("/")[0] for name in target.files()} == {"bucket-0"}
    assert all(name.endswith(".orc") for name in target.files())


@pytest.mark.parametrize(
    ("name", "value", "code", "severity"),
    [
        ("log.system", "kafka", "PEN4460", "error"),
        ("sink.savepoint.auto-tag", "true", "PEN4460", "error"),
        ("log.system", "none", None, None),
        ("snapshot.num-retained.max", "10", "PEN4461", "warning"),
        ("file.format", "orc", None, None),
    ],
)
def test_properties_that_no_write_serves_are_refused_or_warned_of(tmp_path, name, value, code, severity):
    """A log that gets no records, tags that are not made, snapshots that do not expire."""
    path = tmp_path / "job.conf"
    path.write_text(f"""
source {{ FakeSource {{ plugin_output = t, row.num = 1, schema {{ fields {{ id = bigint }} }} }} }}
sink {{ Paimon {{ path = "{tmp_path}/table", table_properties = {{ "{name}" = "{value}" }} }} }}
""")
    diagnostics = Diagnostics()
    compile_job(path, Settings(), diagnostics)
    found = [(each.code, each.severity.value) for each in diagnostics]
    assert found == ([(code, severity)] if code else [])
