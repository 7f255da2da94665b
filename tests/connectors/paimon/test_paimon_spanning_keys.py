"""Primary keys that do not contain the partition columns: a row that moves to another partition is deleted in the old
one. The rows are read by pypaimon's own reader, too, and all of a table's keys are unique in it."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.savemode import Action, TargetState
from connectors.interface.run_context import RunContext
from connectors.paimon.connector import connector
from connectors.paimon.paimon_table import opened
from connectors.paimon.table_files import latest_schema
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from engine.spark.writing.sink_checks import task_of
from tests.connectors.jobs import rows, run_writes, stage_writes, write
from tests.connectors.paimon.test_paimon_modes import PaimonTarget, values

GIVEN = {"write_mode": "upsert", "primary_keys": ["id"], "partition_by": ["region"]}
FEW = {"table_properties": {"dynamic-bucket.target-row-num": 10}}


class SpanningTarget(PaimonTarget):
    def put(self, query, **given):
        self.write(query, **{**GIVEN, **given})

    def check(self, wanted):
        """The rows by the connector and by pypaimon alone."""
        assert (self.rows(), self.read_rows()) == (sorted(wanted, key=repr),) * 2

    def buckets(self):
        """How many rows each partition and bucket has."""
        builder = opened(str(self.folder), latest_schema(str(self.folder))).new_read_builder()
        sizes = Counter()
        for split in builder.new_scan().plan().splits():
            place = f"{split.partition.values[0]}{split.bucket}"
            sizes[place] += builder.new_read().to_arrow([split]).num_rows
        return +sizes


@pytest.fixture
def target(spark, tmp_path):
    return SpanningTarget(spark, tmp_path)


@pytest.mark.spark
def test_keys_move_stay_appear_and_are_deleted(target):
    target.put(values("(1L, 'a', 1)", "(2L, 'a', 1)", "(3L, 'b', 1)", "(4L, 'b', 1)", "(5L, null, 1)", "(9L, 'b', -1)"))
    schema = latest_schema(str(target.folder))
    assert (schema["primaryKeys"], schema["partitionKeys"], schema["options"]) == (["id"], ["region"], {"bucket": "-1"})
    target.check([(1, "a", 1), (2, "a", 1), (3, "b", 1), (4, "b", 1), (5, None, 1), (9, "b", -1)])
    changes = values(
        "(1L, 'b', 2)",  # moves
        "(2L, 'a', 2)",  # stays
        "(3L, 'elsewhere', -1)",  # is deleted where it is
        "(4L, null, 2)",
        "(5L, 'c', 2)",
        "(6L, 'a', 2)",  # is new
        "(7L, 'a', -1)",  # was never there
    )
    for state in (target.state, target.state, target.state + "2"):  # with the journal of the first time, and without
        job = target.job(changes, delete_condition="seq < 0", **GIVEN)
        run_writes(target.spark, [job], state, "changes")
    wanted = [(1, "b", 2), (2, "a", 2), (4, None, 2), (5, "c", 2), (6, "a", 2), (9, "b", -1)]
    target.check(wanted)
    assert len(target.snapshots()) == 2
    target.put(values("(1L, 'a', 3)", "(4L, null, 3)", "(5L, null, 3)"))  # back again
    target.check([(1, "a", 3), (2, "a", 2), (4, None, 3), (5, None, 3), (6, "a", 2), (9, "b", -1)])
    assert not list(target.folder.rglob("index-*"))


@pytest.mark.spark
def test_row_kinds_of_an_update_that_names_both_partitions(target):
    target.put(values("(1L, 'a', 1)", "(2L, 'a', 1)", "(3L, 'a', 1)"))
    query = (
        "select * from values ('-U', 1L, 'a', 1), ('+U', 1L, 'b', 2), ('-D', 2L, 'a', 1), ('-U', 3L, 'a', 1),"
        f" ('+I', 4L, 'c', 1), ('-D', 5L, 'c', 1) as t({ROW_KIND}, id, region, seq)"
    )
    job = target.job(query, **{**GIVEN, "write_mode": "changelog"})
    changes = replace(job, input=replace(job.input, table=replace(job.input.table, has_row_kind=True)))
    run_writes(target.spark, [changes], target.state, "changes")
    target.check([(1, "b", 2), (4, "c", 1)])


@pytest.mark.spark
def test_of_several_partitions_for_one_key_the_latest_row_wins(target):
    given = {**FEW, "sequence_field": "seq"}
    target.put(values("(1L, 'a', 5)", "(1L, 'b', 6)", "(2L, 'c', 3)", "(2L, 'a', 2)"), **given)
    assert "sequence.field" not in latest_schema(str(target.folder))["options"]
    target.check([(1, "b", 6), (2, "c", 3)])
    target.put(values("(1L, 'd', 5)", "(2L, 'd', 9)", "(2L, 'a', 8)"), **given)  # the first is older than the table's
    target.check([(1, "b", 6), (2, "d", 9)])
    with pytest.raises(RunError, match="several rows have the key id = 7"):
        target.put(values("(7L, 'x', 1)", "(7L, 'y', 2)"))
    target.check([(1, "b", 6), (2, "d", 9)])


@pytest.mark.spark
@pytest.mark.soak
def test_new_keys_fill_the_buckets_with_room_before_new_ones(target):
    target.put("select id, if(id < 25, 'a', 'b') region, 1 seq from range(0, 40, 1, 4)", **FEW)
    assert target.buckets() == {"a0": 10, "a1": 10, "a2": 5, "b0": 10, "b1": 5}
    target.put("select id, 'a' region, 2 seq from range(20, 60, 1, 4)")  # 5 stay, 15 move from b, 20 are new
    assert target.buckets() == {"a0": 10, "a1": 10, "a2": 10, "a3": 10, "a4": 10, "a5": 10}
    target.put("select id, 'b' region, 3 seq from range(3)")  # the first bucket of b has room again
    assert target.buckets() == {"a0": 7, "a1": 10, "a2": 10, "a3": 10, "a4": 10, "a5": 10, "b0": 3}
    target.put("select id, 'a' region, 4 seq from range(100, 104)")
    assert target.buckets()["a0"] == 10
    assert target.buckets()["a6"] == 1
    target.check(
        [(id, "b", 3) for id in range(3)]
        + [(id, "a", 1) for id in range(3, 20)]
        + [(id, "a", 2) for id in range(20, 60)]
        + [(id, "a", 4) for id in range(100, 104)]
    )


@pytest.mark.spark
def test_no_more_buckets_than_the_table_allows(target):
    properties = {"dynamic-bucket.target-row-num": 2, "dynamic-bucket.max-buckets": 3}
    target.put("select id, 'a' region, 1 seq from range(12)", table_properties=properties)
    target.put("select id, 'a' region, 2 seq from range(10, 20)")
    assert set(target.buckets()) == {"a0", "a1", "a2"}
    target.check([(id, "a", 1) for id in range(10)] + [(id, "a", 2) for id in range(10, 20)])


@pytest.mark.spark
@pytest.mark.soak
def test_a_key_of_several_columns_one_of_them_a_partition(target):
    given = {"primary_keys": ["seq", "id"], "partition_by": ["region", "seq"]}
    target.put(values("(1L, 'a', 1)", "(1L, 'a', 2)", "(2L, 'b', 1)"), **given)
    target.put(values("(1L, 'b', 1)", "(2L, 'b', 2)"), **given)
    target.check([(1, "b", 1), (1, "a", 2), (2, "b", 1), (2, "b", 2)])


@pytest.mark.spark
@pytest.mark.soak
def test_a_table_without_rows_is_written_and_emptied(target):
    target.put("select * from values (1L, 'a', 1) as t(id, region, seq) where false")
    target.check([])
    target.put(values("(1L, 'a', 1)", "(2L, 'b', -1)"), delete_condition="seq < 0")
    target.check([(1, "a", 1)])
    target.put(values("(2L, 'a', 1)", "(3L, 'b', -1)"), delete_condition="seq < 0", data_save_mode="DROP_DATA")
    target.check([(2, "a", 1)])
    target.put(values("(2L, 'b', 2)"))
    target.check([(2, "b", 2)])
    target.put(values("(3L, 'c', 3)"), schema_save_mode="RECREATE_SCHEMA")
    target.check([(3, "c", 3)])


@pytest.mark.spark
@pytest.mark.soak
def test_columns_are_added_while_keys_move(target):
    target.put(values("(1L, 'a', 1)", "(2L, 'a', 1)"))
    wider = ("id bigint", "region string", "seq int", "note string")
    query = "select 1L id, 'b' region, 2 seq, 'n' note"
    target.write(query, wider, **GIVEN, sequence_field="note", schema_evolution="add_columns")
    target.check([(1, "b", 2, "n"), (2, "a", 1, None)])


@pytest.mark.spark
def test_rows_that_another_run_writes_meanwhile_fail_the_commit(target):
    target.put(values("(1L, 'a', 1)"))
    late = stage_writes(target.spark, [target.job(values("(1L, 'b', 2)"), **GIVEN)], target.state, "late")
    other = target.job(values("(1L, 'c', 3)"), **GIVEN)
    run_writes(target.spark, [other], target.state + "2", "other")
    with pytest.raises(RunError, match="was changed after run `late` staged its rows"):
        commit_all(target.spark, late)
    target.check([(1, "c", 3)])


@pytest.mark.spark
def test_an_aborted_write_leaves_nothing(target):
    target.put(values("(1L, 'a', 1)"))
    files = {path for path in target.folder.rglob("*") if path.is_file()}
    run = stage_writes(target.spark, [target.job(values("(1L, 'b', 2)"), **GIVEN)], target.state, "aborted")
    assert abort_all(target.spark, run) == ()
    assert {path for path in target.folder.rglob("*") if path.is_file()} == files
    target.check([(1, "a", 1)])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bucket": 2}, "must contain the partition column `region`, or `bucket` be -1"),
        ({"primary_keys": ["region"], "partition_by": ["region", "seq"]}, "needs a column beside"),
        ({"table_properties": {"ignore-delete": "true"}}, "would stay in the old one"),
        ({"table_properties": {"merge-engine": "partial-update"}}, "have to stay in their old partition"),
        ({"table_properties": {"deletion-vectors.enabled": "true"}}, "not compacted yet"),
    ],
)
def test_new_tables_that_cannot_be_written_are_refused(given, said):
    job = write(connector, rows("", "id bigint", "region string", "seq int"), path="/nowhere/t", **{**GIVEN, **given})
    diagnostics = Diagnostics()
    connector.validate(job.options, job.table, diagnostics)
    (found,) = diagnostics
    assert found.code == "PEN2011"
    assert said in found.message


def test_the_plan_says_that_rows_of_other_partitions_are_replaced_and_what_fails_the_run(tmp_path):
    schema = {"primaryKeys": ["id"], "partitionKeys": ["region"], "options": {"bucket": "-1"}}
    (tmp_path / "t" / "schema").mkdir(parents=True)
    (tmp_path / "t" / "schema" / "schema-0").write_text(json.dumps(schema))
    job = write(connector, rows("", "id bigint"), path=str(tmp_path / "t"), **GIVEN)
    options, state = job.options, TargetState(True, True, job.table)
    assert "fails at its commit" in connector.caveats(options, [Action.UPSERT_ROWS])[0]
    (done,) = connector.statements(None, task_of(job, RunContext("run", "4.1.4")), state, [Action.UPSERT_ROWS])
    assert done.endswith("whose rows replace those of equal key, also in other partitions")
    assert "either may win" in connector.caveats(options, [Action.REPLACE_ROWS])[0]
