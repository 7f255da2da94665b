"""The Delta connector: the shared suite, and what is its own."""

import re
from dataclasses import replace

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode
from connectors.delta.connector import connector
from engine.cli import main
from tests.connectors.delta.table_rows import rows_of_table
from tests.connectors.given_options import options_of
from tests.connectors.jobs import run_writes
from tests.connectors.suite import NEW, OLD, WITH_ENGINE, ResolvedSinkSuite
from tests.sampling import sampled

pytestmark = [pytest.mark.spark, pytest.mark.delta]


@sampled(ResolvedSinkSuite, *WITH_ENGINE)
class TestDelta(ResolvedSinkSuite):
    name = "Delta"

    def read(self, spark, path):
        return spark.read.format("delta").load(path)

    def rows_at(self, spark, path):
        found = rows_of_table(path, ("id", "name", "amount")) if path.name == "target" else None
        return super().rows_at(spark, path) if found is None else sorted(found)

    def hinder(self, tmp_path):
        files = list(tmp_path.glob("other/*.parquet"))
        assert files
        for file in files:
            file.unlink()

    def test_one_transaction_for_each_run(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        run_writes(spark, [self.write(tmp_path / "target", data_save_mode="DROP_DATA")], str(tmp_path / "state"), "run")
        history = spark.sql(f"describe history delta.`{tmp_path / 'target'}`").select("version").collect()
        assert sorted(row[0] for row in history) == [0, 1]
        before = spark.read.format("delta").option("versionAsOf", 0).load(str(tmp_path / "target"))
        assert before.count() == spark.sql(OLD).count()

    def test_schema_is_read_from_the_log(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        diagnostics = Diagnostics()
        (table,) = connector.tables(options_of(connector.source_options, path=str(tmp_path / "target")), diagnostics)
        assert list(diagnostics) == []
        assert [str(column) for column in table.columns] == ["id bigint", "name string", "amount decimal(10,2)"]

    def test_a_log_that_cannot_be_read_is_told(self, tmp_path):
        (tmp_path / "_delta_log").mkdir()
        (tmp_path / "_delta_log" / f"{0:020}.json").write_text("{")
        diagnostics = Diagnostics()
        (table,) = connector.tables(options_of(connector.source_options, path=str(tmp_path)), diagnostics)
        assert table.is_open
        assert [each.code for each in diagnostics] == ["PEN4002"]

    def test_new_columns_need_leave(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        query, columns = (
            f"select *, 1 more from ({NEW})",
            ("id bigint", "name string", "amount decimal(10,2)", "more int"),
        )
        with pytest.raises(RunError, match="PEN4003"):
            run_writes(spark, [self.write(tmp_path / "target", query, columns)], str(tmp_path / "state"), "one")
        job = [self.write(tmp_path / "target", query, columns, schema_evolution="add_columns")]
        run_writes(spark, job, str(tmp_path / "state"), "two")
        assert self.read(spark, str(tmp_path / "target")).columns == ["id", "name", "amount", "more"]

    @pytest.mark.parametrize(
        ("value", "type"),
        [
            ("1 `two=words`", "int"),
            pytest.param("named_struct('a=b', 1) x", "struct<`a=b`:int>", marks=pytest.mark.soak),
            pytest.param("array(null) x", "array<void>", marks=pytest.mark.soak),
            ("null x", "void"),
            ("time'10:00:00' x", "time(6)"),
            ("interval 1 day x", "interval day"),
        ],
    )
    def test_what_no_new_table_can_hold_is_refused_before_anything_is_staged(self, spark, tmp_path, value, type):
        name = value.split()[-1].strip("`")
        job = self.write(tmp_path / "target", f"select 1L id, {value}", ("id bigint", f"{name} {type}"))
        diagnostics = Diagnostics()
        connector.validate(job.options, job.table, diagnostics)
        assert [each.code for each in diagnostics] == ["PEN4003"]
        self.fill(spark, tmp_path)
        if type in ("time(6)", "interval day"):
            return
        diagnostics = Diagnostics()
        connector.validate(job.options, job.table, diagnostics)
        assert list(diagnostics) == []  # the table may have it
        again = replace(job, schema_save_mode=SchemaSaveMode.RECREATE_SCHEMA, data_save_mode=DataSaveMode.DROP_DATA)
        with pytest.raises(RunError, match="PEN4003"):
            run_writes(spark, [again], str(tmp_path / "state"), "run")
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")

    def test_constraints_are_checked_before_the_commit(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        spark.sql(f"alter table delta.`{tmp_path / 'target'}` add constraint small check (id < 100)")
        with pytest.raises(RunError, match=r"(?i)check constraint small") as caught:
            run_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / "state"), "run")
        assert [each.code for each in caught.value.diagnostics] == ["PEN5001"]
        (said,) = caught.value.diagnostics
        assert re.search(r"\(id < 100\) violated by a row", said.message)
        assert '--where "NOT (id < 100)"` shows the rows' in (said.help or "")
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")
        assert self.leftovers(tmp_path) == []

    def test_null_where_the_table_forbids_it_fails_before_the_commit(self, spark, tmp_path):
        target = tmp_path / "target"
        spark.sql(f"create table delta.`{target}` (id bigint not null, note string) using delta")
        run_writes(spark, [self.write(target, "select 4L id", ("id bigint",))], str(tmp_path / "state"), "run")
        assert [tuple(row) for row in self.read(spark, str(target)).collect()] == [(4, None)]
        job = [self.write(target, "select cast(null as bigint) id", ("id bigint",))]
        with pytest.raises(RunError, match=r"(?i)not null constraint violated"):
            run_writes(spark, job, str(tmp_path / "state"), "again")

    def test_directory_of_other_files_is_refused(self, spark, tmp_path):
        (tmp_path / "target").mkdir()
        (tmp_path / "target" / "notes.txt").write_text("mine")
        with pytest.raises(RunError, match="PEN5005"):
            run_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / "state"), "run")
        assert (tmp_path / "target" / "notes.txt").read_text() == "mine"


def test_a_checkpoint_that_nothing_points_to_is_read(spark, tmp_path, monkeypatch):
    """As other writers leave it, or a kill."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    table = tmp_path / "table"
    for number in range(11):
        spark.range(number, number + 2).write.format("delta").mode("append").save(str(table))
    assert list((table / "_delta_log").glob("*.checkpoint.parquet"))
    for pointer in (table / "_delta_log").glob("*_last_checkpoint*"):
        pointer.unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    (tmp_path / "job.conf").write_text(
        f'''source {{ Delta {{ path = "{table}", schema {{ fields {{ id = bigint }} }} }} }}
        sink {{ Assert {{ rules {{ row_rules = [{{ rule_type = MIN_ROW, rule_value = 22 }}] }} }} }}'''
    )
    assert main(["run", str(tmp_path / "job.conf")]) == 0
