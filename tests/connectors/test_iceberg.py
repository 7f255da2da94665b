"""The Iceberg connector: the shared suite, and what is its own."""

import pytest

from catalog.diagnostics import Diagnostics
from catalog.table import CatalogTable
from connectors.iceberg import connector
from connectors.support.source import ScanTask
from engine.spark.writing.commit import commit_all
from engine.spark.writing.journal import RunOutcome
from engine.spark.writing.recover import resume
from tests.connectors.jobs import options_of, rows, run_writes, stage_writes, write
from tests.connectors.suite import COLUMNS, NEW, OLD, SinkSuite

pytestmark = pytest.mark.spark


def address(path):
    """A table in the directory `path`, by the warehouse that the directory is in."""
    folder, _, name = str(path).rpartition("/")
    return {"warehouse": folder or ".", "table": "`" + name.replace("`", "``") + "`"}


class TestIceberg(SinkSuite):
    name = "Iceberg"

    def write(self, path, query=NEW, columns=COLUMNS, id="w", **given):
        return write(self.sink, rows(query, *columns), id, **address(path), **given)

    def read(self, spark, path):
        options = options_of(connector.source_options, **address(path))
        return connector.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))

    def hinder(self, tmp_path):
        files = list(tmp_path.glob("other/data/penstock-*/*.parquet"))
        assert files
        for file in files:
            file.unlink()

    def test_every_mode_is_declared(self):
        diagnostics = Diagnostics()
        self.sink.validate(self.write("/nowhere/x").options, self.write("/nowhere/x").table, diagnostics)
        assert list(diagnostics) == []
        names = {option.name for option in self.sink.sink_options}
        assert names >= {"warehouse", "table", "schema_save_mode", "data_save_mode", "write_mode"}

    def test_second_run_on_a_held_target_is_refused(self, spark, tmp_path):
        """It is not: Iceberg resolves appends against each other."""
        self.fill(spark, tmp_path)
        runs = [
            stage_writes(spark, [self.write(tmp_path / "target", OLD)], str(tmp_path / state), state)
            for state in ("state", "other")
        ]
        for run in reversed(runs):
            commit_all(spark, run)
        assert self.rows_at(spark, tmp_path / "target") == sorted(3 * self.expect(spark, "old"))
        assert self.leftovers(tmp_path) == []

    @pytest.mark.parametrize("data", ["DROP_DATA", "APPEND_DATA"])
    def test_what_a_dead_run_of_another_state_decided_is_done_first(self, spark, tmp_path, data):
        """It is done when that run is resumed: until then its rows are invisible, and keep no other run back."""
        self.fill(spark, tmp_path)
        job = [self.write(tmp_path / "target", data_save_mode=data)]
        dead = stage_writes(spark, job, str(tmp_path / "other"), "dead")
        dead.journal.decide()
        run_writes(spark, [self.write(tmp_path / "target", OLD)], str(tmp_path / "state"), "run")
        assert self.rows_at(spark, tmp_path / "target") == sorted(2 * self.expect(spark, "old"))
        begun = dead.journal.read().steps["begin"]
        dead.journal._put("begin", {**begun, "owner": {**begun["owner"], "pid": 2**22 + 1, "jvm_pid": None}})
        assert resume(spark, str(tmp_path / "other"), "dead") is RunOutcome.FINISHED
        both = self.expect(spark, "new") + (2 * self.expect(spark, "old") if data == "APPEND_DATA" else [])
        assert self.rows_at(spark, tmp_path / "target") == sorted(both)
