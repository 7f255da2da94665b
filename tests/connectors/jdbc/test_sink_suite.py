"""The shared suite of sinks on each database."""

import json
from typing import ClassVar

import pytest

from catalog.diagnostics.diagnostic import RunError
from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.jdbc.connector import connector
from connectors.jdbc.writing.ledger import OWN_TABLES
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, write
from tests.connectors.suite import COLUMNS, FEW_MODES, NEW, OLD, SHIPPED, WITH_ENGINE, ShippedSuite, SinkSuite
from tests.sampling import sampled
from tests.services.databases import PASSWORD

pytestmark = pytest.mark.spark


class JdbcSuite(SinkSuite):
    """The name of a path is the name of a table."""

    name = "Jdbc"

    fixture: ClassVar[str]

    @pytest.fixture(autouse=True)
    def _database(self, tmp_path, request):
        self.database = request.getfixturevalue(self.fixture)
        self.database.clear()
        yield
        left = [path for path in tmp_path.rglob("*.json") if PASSWORD in path.read_text()]
        assert left == [], "a password is in a file"

    def write(self, path, query=NEW, columns=COLUMNS, id="w", **given):
        table = '"' + str(path).rpartition("/")[2].replace('"', '""') + '"'
        return write(self.sink, rows(query, *columns), id, **self.database.options, table=table, **given)

    def read(self, spark, path):
        table = '"' + str(path).rpartition("/")[2].replace('"', '""') + '"'
        options = options_of(connector.source_options, **self.database.options, table_path=table)
        return connector.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))

    def exists(self, tmp_path):
        return "target" in self.database.tables()

    def bury(self, spark, tmp_path, run_id, mark):
        [(text,)] = self.database.rows(f"select staged from penstock_staging where run_id = '{run_id}'")
        staged = json.dumps(json.loads(text) | {"owner": json.dumps(mark)})
        self.database.run(f"update penstock_staging set staged = '{self.escaped(staged)}' where run_id = '{run_id}'")

    def escaped(self, text):
        return (text.replace("\\", "\\\\") if self.database.kind == "mariadb" else text).replace("'", "''")

    def hinder(self, tmp_path):
        [name] = [name for name in self.database.tables() if name.startswith("penstock_stg_")]
        self.database.run(f"drop table {name}")

    def leftovers(self, tmp_path):
        return [name for name in self.database.tables() if name not in ("target", "other", *OWN_TABLES)]

    def test_paths_of_any_name(self, spark, tmp_path):
        name = "10% ü'+&=x order"
        for run, query in (("first", OLD), ("second", NEW)):
            run_writes(spark, [self.write(name, query)], str(tmp_path / "state"), run)
        assert self.rows_at(spark, name) == self.expect(spark, "both")
        assert self.leftovers(tmp_path) == [name]

    def test_aborted_run_leaves_no_folder_that_it_made(self, spark, tmp_path):
        """A database has no folders: of an aborted run that would have made a table, no table is left."""
        from engine.spark.writing.abort import abort_all
        from tests.connectors.jobs import stage_writes

        abort_all(spark, stage_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / "state"), "run"))
        assert self.database.tables() == sorted(OWN_TABLES)

    @pytest.mark.xfail(strict=True, reason="tables of a database are not partitioned by folders", raises=AssertionError)
    def test_overwrite_partitions(self, spark, tmp_path):
        super().test_overwrite_partitions(spark, tmp_path)

    @pytest.mark.xfail(strict=True, reason="tables of a database are not partitioned by folders", raises=AssertionError)
    def test_a_day_without_rows_replaces_that_day(self, spark, tmp_path):
        super().test_a_day_without_rows_replaces_that_day(spark, tmp_path)

    def test_every_mode_is_declared(self):
        names = {option.name for option in self.sink.sink_options}
        assert names >= {"table", "url", "schema_save_mode", "data_save_mode", "write_mode"}


class FewModes(JdbcSuite):
    """One case for each way in which the commit's statements differ."""

    @pytest.mark.parametrize(("target", "schema", "data", "expected"), FEW_MODES)
    def test_save_modes(self, spark, tmp_path, target, schema, data, expected):
        super().test_save_modes(spark, tmp_path, target, schema, data, expected)


@sampled(SinkSuite, *WITH_ENGINE)
class TestPostgres(FewModes):
    fixture = "postgres"


SAMPLE = (
    "test_save_modes",
    "test_paths_of_any_name",
    "test_same_run_id_twice",
    "test_stopped_after_the_decision",
    "test_what_a_dead_run_of_another_state_decided_is_done_first",
    "test_second_run_on_a_held_target_is_refused",
    "test_rows_that_do_not_fit_are_refused",
    "test_narrower_types_are_stored_as_the_target_has_them",
    "test_no_rows_leave_a_readable_target",
)
"""Where the statements of a commit differ by database; PostgreSQL has the whole suite."""


@sampled(SinkSuite, *SAMPLE)
class TestMariadb(FewModes):
    fixture = "mariadb"


@sampled(SinkSuite, *SAMPLE)
class TestSqlite(FewModes):
    fixture = "sqlite"

    @pytest.mark.xfail(strict=True, reason="its driver describes no table with ' in its name", raises=RunError)
    def test_paths_of_any_name(self, spark, tmp_path):
        super().test_paths_of_any_name(spark, tmp_path)


class ShippedJdbc(ShippedSuite):
    """The suite that ships with Penstock, on each database."""

    def begin_at(self, request):
        self.suite.database = request.getfixturevalue(self.described.fixture)
        self.suite.database.clear()


@sampled(ShippedSuite, *SHIPPED)
class TestShippedOnPostgres(ShippedJdbc):
    described = TestPostgres


FEW_SHIPPED = ("test_another_process_commits_from_the_journal", "test_rows_that_fail_change_nothing")


@sampled(ShippedSuite, *FEW_SHIPPED)
class TestShippedOnMariadb(ShippedJdbc):
    described = TestMariadb


@sampled(ShippedSuite, *FEW_SHIPPED)
class TestShippedOnSqlite(ShippedJdbc):
    described = TestSqlite
