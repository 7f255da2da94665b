"""What every sink holds to; the tests of a sink subclass it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.options import Value
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode
from catalog.tables.table import CatalogTable
from connectors.commits.claim import RunClaim
from connectors.interface.sink import AnySink
from connectors.interface.testing.common import check_import, check_options
from connectors.interface.testing.driving import LostClaim, OneWrite, options_of
from connectors.shared.spark_types import columns_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLD: Final = "select id, concat('old', id) name, id * 1.5D amount from range(0, 10, 1, 2)"
NEW: Final = "select id, concat('new', id) name, id * 2.0D amount from range(100, 105, 1, 2)"
NO_ROWS: Final = "select id, concat('no', id) name, id * 2.0D amount from range(0)"
_MODES: Final = [
    (schema, data, before)
    for schema in SchemaSaveMode
    for data in DataSaveMode
    for before in ("missing", "rows", "empty")
    if before != "empty" or data is DataSaveMode.ERROR_WHEN_DATA_EXISTS
]


class SinkSuite:
    """`sink`: the connector. `checks_claim`: whether a process that has lost its run commits nothing; False for a
    target that has no atomic step in which the claim could be checked."""

    sink: ClassVar[AnySink]
    checks_claim: ClassVar[bool] = True

    def given(self, tmp_path: Path) -> Mapping[str, Value]:
        """The options of a block that writes to one target, which does not exist at first. They may be asked for
        several times in a test."""
        raise NotImplementedError

    def read(self, spark: "SparkSession", tmp_path: Path) -> Iterable[tuple[int, str, float]]:
        """The rows of the target: `id` BIGINT, `name` STRING and `amount` DOUBLE; none if it does not exist."""
        raise NotImplementedError

    def leftovers(self, tmp_path: Path) -> Iterable[str]:
        """What is left of staged rows next to the target, after a run has ended."""
        return ()

    # the steps

    def begin(
        self,
        spark: "SparkSession",
        tmp_path: Path,
        query: str = NEW,
        *,
        run_id: str = "run",
        claim: RunClaim | None = None,
        given: Mapping[str, Value] | None = None,
    ) -> OneWrite:
        session = spark.newSession()
        options = {**self.given(tmp_path), **(given or {})}
        return OneWrite.of(
            session, self.sink, options, session.sql(query), tmp_path / "state", run_id=run_id, claim=claim
        )

    def write(self, spark: "SparkSession", tmp_path: Path, query: str, *, run_id: str = "run") -> None:
        write = self.begin(spark, tmp_path, query, run_id=run_id)
        write.commit(write.stage())

    def rows(self, spark: "SparkSession", tmp_path: Path) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, self.read(spark, tmp_path)))

    def of(self, spark: "SparkSession", *queries: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for query in queries for row in spark.sql(query).collect())

    def clean(self, tmp_path: Path) -> None:
        """Nothing staged is left, neither next to the target nor next to the journal."""
        assert list(self.leftovers(tmp_path)) == []
        assert list(tmp_path.glob("state/runs/*/staging/*")) == []

    # what holds

    def test_options_are_documented_and_named_once(self) -> None:
        check_options(self.sink.sink_options)

    def test_importing_it_imports_no_spark(self) -> None:
        check_import(self.sink)

    def test_the_modes_that_it_declares_are_offered(self) -> None:
        assert self.sink.sink_capabilities.schema_save_modes
        assert self.sink.sink_capabilities.data_save_modes
        assert self.sink.sink_capabilities.write_modes

    def test_rows_that_it_can_write_are_valid(self, spark: "SparkSession", tmp_path: Path) -> None:
        table, diagnostics = CatalogTable.of("rows", columns_of(spark.sql(NEW).schema)), Diagnostics()
        self.sink.validate(options_of(self.sink.sink_options, self.given(tmp_path)), table, diagnostics)
        assert [str(diagnostic) for diagnostic in diagnostics] == []

    @pytest.mark.parametrize(("schema", "data", "before"), _MODES)
    def test_save_modes(
        self, spark: "SparkSession", tmp_path: Path, schema: SchemaSaveMode, data: DataSaveMode, before: str
    ) -> None:
        can = self.sink.sink_capabilities
        if schema not in can.schema_save_modes or data not in can.data_save_modes:
            return  # the job file is refused
        if before != "missing":
            self.write(spark, tmp_path, OLD if before == "rows" else NO_ROWS, run_id="before")
        if before == "missing" and schema is SchemaSaveMode.IGNORE:
            return  # whether the target must exist is up to the sink
        modes = {"schema_save_mode": schema.value, "data_save_mode": data.value}
        known = {option.name for option in self.sink.sink_options}
        write = self.begin(spark, tmp_path, given={name: value for name, value in modes.items() if name in known})
        if {Action.FAIL_MISSING, Action.FAIL_HAS_ROWS} & set(write.actions):
            return  # the engine refuses the run before anything is staged
        write.commit(write.stage())
        replaces = {Action.REPLACE_ROWS, Action.DROP_AND_CREATE} & set(write.actions)
        expected = [NEW] if replaces or before != "rows" else [OLD, NEW]
        assert self.rows(spark, tmp_path) == self.of(spark, *expected)
        self.clean(tmp_path)

    def test_what_is_there_is_found(self, spark: "SparkSession", tmp_path: Path) -> None:
        assert not self.begin(spark, tmp_path).state.exists
        self.write(spark, tmp_path, OLD)
        found = self.begin(spark, tmp_path, run_id="next").state
        assert (found.exists, found.has_rows) == (True, True)

    def test_staged_rows_are_not_visible(self, spark: "SparkSession", tmp_path: Path) -> None:
        self.write(spark, tmp_path, OLD, run_id="before")
        write = self.begin(spark, tmp_path)
        staged = write.stage()
        assert self.rows(spark, tmp_path) == self.of(spark, OLD)
        write.commit(staged)
        assert self.rows(spark, tmp_path) == self.of(spark, OLD, NEW)
        self.clean(tmp_path)

    def test_another_process_commits_from_the_journal(self, spark: "SparkSession", tmp_path: Path) -> None:
        self.write(spark, tmp_path, OLD, run_id="before")
        write = self.begin(spark, tmp_path)
        write.commit(write.recorded(write.stage()))
        assert self.rows(spark, tmp_path) == self.of(spark, OLD, NEW)
        self.clean(tmp_path)

    def test_a_repeated_commit_does_nothing(self, spark: "SparkSession", tmp_path: Path) -> None:
        self.write(spark, tmp_path, OLD, run_id="before")
        write = self.begin(spark, tmp_path)
        staged = write.stage()
        for _ in range(2):
            write.commit(staged)
        assert self.rows(spark, tmp_path) == self.of(spark, OLD, NEW)
        self.clean(tmp_path)

    def test_a_repeated_attempt_replaces_what_the_first_one_staged(self, spark: "SparkSession", tmp_path: Path) -> None:
        self.write(spark, tmp_path, OLD, run_id="before")
        write = self.begin(spark, tmp_path)
        write.stage()
        write.commit(write.stage())
        assert self.rows(spark, tmp_path) == self.of(spark, OLD, NEW)
        self.clean(tmp_path)

    @pytest.mark.parametrize("is_staged", [True, False])
    def test_another_process_aborts_from_the_journal(
        self, spark: "SparkSession", tmp_path: Path, is_staged: bool
    ) -> None:
        """Also where the run was killed before it had staged anything."""
        self.write(spark, tmp_path, OLD, run_id="before")
        write = self.begin(spark, tmp_path)
        staged = write.recorded(write.stage() if is_staged else write.prepared)
        for _ in range(2):
            write.abort(staged)
        assert self.rows(spark, tmp_path) == self.of(spark, OLD)
        self.clean(tmp_path)

    def test_an_aborted_run_creates_no_target(self, spark: "SparkSession", tmp_path: Path) -> None:
        write = self.begin(spark, tmp_path)
        write.abort(write.stage())
        assert not self.begin(spark, tmp_path, run_id="next").state.exists
        self.clean(tmp_path)

    def test_rows_that_fail_change_nothing(self, spark: "SparkSession", tmp_path: Path) -> None:
        self.write(spark, tmp_path, OLD, run_id="before")
        write = self.begin(spark, tmp_path, NEW.replace("concat('new', id)", "if(id = 104, raise_error('no'), 'x')"))
        with pytest.raises(Exception, match="no"):
            write.stage()
        write.abort(write.prepared)
        assert self.rows(spark, tmp_path) == self.of(spark, OLD)
        self.clean(tmp_path)

    def test_a_run_without_rows_leaves_a_target_without_rows(self, spark: "SparkSession", tmp_path: Path) -> None:
        self.write(spark, tmp_path, NO_ROWS)
        assert self.rows(spark, tmp_path) == []
        self.clean(tmp_path)

    def test_a_process_that_has_lost_its_run_commits_nothing(self, spark: "SparkSession", tmp_path: Path) -> None:
        if not self.checks_claim:
            return
        self.write(spark, tmp_path, OLD, run_id="before")
        write = self.begin(spark, tmp_path, claim=LostClaim("run"))
        staged = write.stage()
        with pytest.raises(RunError, match="PEN5401"):
            write.commit(staged)
        assert self.rows(spark, tmp_path) == self.of(spark, OLD)
        owner = self.begin(spark, tmp_path)  # the process that has taken the run over
        owner.abort(owner.recorded(staged))
        self.clean(tmp_path)
