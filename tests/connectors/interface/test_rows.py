"""Sources that yield rows of Python, and sinks that take batches of Arrow, in Spark's tasks."""

import json
import os
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.interface import (
    ROW_KIND,
    SAVE_OPTIONS,
    CatalogTable,
    Column,
    DataSaveMode,
    Option,
    Options,
    OptionType,
    RowSink,
    RowSource,
    ScanTask,
    SchemaSaveMode,
    SinkCapabilities,
    SourceCapabilities,
    TargetState,
    parse_type,
)
from connectors.interface.testing import OneWrite, SinkSuite
from tests.sampling import paired

pytestmark = pytest.mark.spark


class Listed(RowSource):
    """Yields what its test gives."""

    name = "Listed"
    doc = "Rows of a test."
    source_options = ()
    source_capabilities = SourceCapabilities()

    def __init__(self, *parts):
        self.parts = parts

    def tables(self, options, diagnostics):
        raise NotImplementedError

    def partitions(self, task):
        return self.parts

    def read_partition(self, task, partition):
        yield from partition


def table(*columns):
    return CatalogTable.of("t", [Column(name, parse_type(kind), nullable) for name, kind, nullable in columns])


def read(spark, source, *columns, **given):
    task = ScanTask(Options({}), table(*columns), **given)
    return [tuple(row) for row in source.read(spark.newSession(), task).collect()]


ID, NAME = ("id", "bigint", False), ("name", "string", True)


def test_tuples_dicts_and_batches_are_rows(spark):
    import pyarrow as pa

    batch = pa.RecordBatch.from_pydict({"name": ["c"], "id": pa.array([3], pa.int32())})
    source = Listed([(1, "a"), {"id": 2}, batch, pa.RecordBatch.from_pydict({"id": [4]})], [])
    assert sorted(read(spark, source, ID, NAME)) == [(1, "a"), (2, None), (3, "c"), (4, None)]


def test_each_partition_is_a_task(spark):
    task = ScanTask(Options({}), table(ID))
    df = Listed([(1,)], [(2,)], [(3,)]).read(spark.newSession(), task)
    assert df.rdd.getNumPartitions() == 3
    assert Listed().read(spark.newSession(), task).collect() == []


def test_values_of_every_kind_arrive_exactly(spark):
    columns = [
        ("d", "decimal(10,2)", True), ("t", "timestamp", True), ("n", "timestamp_ntz", True), ("b", "binary", True),
        ("m", "map<string,array<int>>", True), ("s", "struct<a:int,b:map<string,int>>", True),
    ]  # fmt: skip
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901)
    at_utc, struct = moment.replace(tzinfo=timezone.utc), {"a": 1, "b": {"c": 2}}
    row = (Decimal("1.50"), at_utc, moment, b"x", {"k": [1, None]}, struct)
    session = spark.newSession()
    df = Listed([row, (None,) * 6]).read(session, ScanTask(Options({}), table(*columns)))
    shown = df.selectExpr("d", "unix_micros(t)", "cast(n as string)", "b", "m", "s.a", "s.b").collect()
    micros = int(at_utc.timestamp()) * 1_000_000 + 678901
    assert tuple(shown[0]) == (
        Decimal("1.50"), micros, "2026-01-02 03:04:05.678901", b"x", {"k": [1, None]}, 1, {"c": 2},
    )  # fmt: skip
    assert tuple(shown[1]) == (None,) * 7


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((1,), "a row has 1 values, for 2 columns: id, name"),
        ({"id": 1, "nmae": "x"}, "a row has `nmae`, which is not a column: id, name"),
        ((None, "x"), "the column `id` is NOT NULL, and a row has no value for it"),
        (({}, "x"), "a value of the column `id` is not of the type int64"),
        ((2**70, "x"), "a value of the column `id` is not of the type int64"),
        ((1, 5), "a value of the column `name` is not of the type string"),
    ],
)
def test_a_row_that_does_not_fit_is_an_error(spark, row, message):
    with pytest.raises(Exception, match="ValueError") as caught:
        read(spark, Listed([row]), ID, NAME)
    assert message in str(caught.value)


def test_a_decimal_with_more_digits_is_not_rounded(spark):
    with pytest.raises(Exception, match="the column `d` is not of the type decimal128"):
        read(spark, Listed([(Decimal("1.005"),)]), ("d", "decimal(10,2)", True))


def test_only_the_columns_that_are_asked_for_are_yielded(spark):
    class Named(Listed):
        def read_partition(self, task, partition):
            yield tuple(f"{name}!" for name in task.names)

    assert read(spark, Named([0]), ID, NAME, columns=("name",)) == [("name!",)]


def test_rows_with_kinds_end_in_their_kind(spark):
    kinded = replace(table(ID), has_row_kind=True)
    df = Listed([(1, "DELETE")]).read(spark.newSession(), ScanTask(Options({}), kinded))
    assert df.columns == ["id", ROW_KIND]
    assert [tuple(row) for row in df.collect()] == [(1, "DELETE")]


def test_a_table_without_known_columns_is_refused(spark):
    with pytest.raises(RunError, match="PEN4002"):
        Listed([(1,)]).read(spark, ScanTask(Options({}), CatalogTable.unknown("t")))


class Lines(RowSink):
    """A file of JSON lines, which a service writes at once: nothing can be staged there."""

    name = "Lines"
    doc = "Appends lines to a file."
    sink_options = (
        Option("path", OptionType.STRING, "The file.", required=True),
        Option("token", OptionType.STRING, "A secret.", sensitive=True),
        *SAVE_OPTIONS,
    )
    sink_capabilities = SinkCapabilities((SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST,), (DataSaveMode.APPEND_DATA,))
    stages_rows = False

    def target(self, options):
        return options.string("path")

    def inspect(self, spark, task):
        path = task.options.string("path")
        return TargetState(os.path.exists(path), os.path.exists(path))

    def write_rows(self, write, batches):
        assert write.options.optional_string("token") in (None, "t0ken")
        with open(write.options.string("path"), "a", encoding="utf-8") as file:
            for batch in batches:
                file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())
        return write.partition

    def commit_rows(self, write, messages, run):
        if run.claim is not None:
            run.claim.check()

    def abort_rows(self, write, messages, run): ...


class TestSinkThatCannotStage(SinkSuite):
    test_save_modes = paired(SinkSuite.test_save_modes)
    sink = Lines()
    checks_claim = False  # the rows are sent before

    def given(self, tmp_path):
        return {"path": str(tmp_path / "lines")}

    def read(self, spark, tmp_path):
        path = tmp_path / "lines"
        return [tuple(json.loads(line).values()) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_sink_that_cannot_stage_is_at_least_once_and_says_so(tmp_path):
    assert Lines().caveats(Options({}), ()) == ("at least once: an interrupted commit writes all rows again",)


def started(spark, tmp_path: Path, **given):
    query = spark.newSession().sql("select id from range(3)")
    return OneWrite.of(spark, Lines(), {"path": str(tmp_path / "lines"), **given}, query, tmp_path / "state")


def test_secrets_are_not_in_the_journal_and_known_to_a_session_with_a_job_of_the_same_target(spark, tmp_path):
    write = started(spark, tmp_path, token="t0ken")
    staged = write.stage()
    assert "t0ken" not in json.dumps(staged.to_json())
    assert "t0ken" not in repr(staged)
    recorded = type(staged).from_json(json.loads(json.dumps(staged.to_json())))
    with pytest.raises(RunError, match="PEN5101"):
        write.commit(recorded)
    other = replace(write.task.options, values={**write.task.options.values, "path": str(tmp_path / "others")})
    with pytest.raises(RunError, match="PEN5101"):
        write.commit(recorded.with_credentials(write.sink.credentials(other)))
    write.commit(write.recorded(staged))
    assert len((tmp_path / "lines").read_text().splitlines()) == 3


def test_rows_that_write_rows_leaves_are_an_error(spark, tmp_path):
    class Careless(Lines):
        def write_rows(self, write, batches):
            return None

    write = started(spark, tmp_path)
    with pytest.raises(Exception, match="returned before it had taken all batches"):
        Careless().commit(spark, write.stage(), write.task.run)


def test_written_rows_are_counted(spark, tmp_path):
    class Counting(Lines):
        stages_rows = True

    write = started(spark, tmp_path)
    staged = Counting().stage(write.spark, write.df, write.task, write.prepared)
    assert Counting().written(staged) == (3, None)
