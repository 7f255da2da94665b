"""What every sink with a target holds to, as the engine writes it; each connector's tests subclass it.

`ShippedSuite` takes the steps without the engine, which are those of the suite that ships with Penstock."""

import os
import shutil
from typing import ClassVar

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, RunError, Severity
from connectors.interface import testing as shipped
from connectors.shared.staged import Credentials
from connectors.storage.filesystem import files_at
from engine.spark.lower import lower
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from engine.spark.writing.open_run import begin
from engine.spark.writing.recover import recover, resume
from engine.spark.writing.run_contexts import context_of
from engine.spark.writing.sink_checks import check
from engine.spark.writing.stage import stage
from engine.state.journal import RunOutcome
from engine.state.layout import layout_at
from tests.connectors.dead_runs import bury, bury_claims, dead_process
from tests.connectors.jobs import rows, run_writes, secrets_of, stage_writes, write
from tests.sampling import pairwise

OLD = "select id, concat('old', id) name, cast(id * 1.5 as decimal(10,2)) amount from range(10)"
NEW = "select id, concat('new', id) name, cast(id * 2 as decimal(10,2)) amount from range(100, 105)"
COLUMNS = ("id bigint", "name string", "amount decimal(10,2)")
NONE = "select id, concat('no', id) name, cast(id as decimal(10,2)) amount from range(0)"

# target, schema mode, data mode -> the rows that stand afterwards, or the code of the error
MODES = [
    (target, schema, data, expected)
    for target, schema, data, expected in [
        ("missing", "RECREATE_SCHEMA", "DROP_DATA", "new"),
        ("missing", "RECREATE_SCHEMA", "APPEND_DATA", "new"),
        ("missing", "CREATE_SCHEMA_WHEN_NOT_EXIST", "DROP_DATA", "new"),
        ("missing", "CREATE_SCHEMA_WHEN_NOT_EXIST", "APPEND_DATA", "new"),
        ("missing", "CREATE_SCHEMA_WHEN_NOT_EXIST", "ERROR_WHEN_DATA_EXISTS", "new"),
        ("missing", "ERROR_WHEN_SCHEMA_NOT_EXIST", "APPEND_DATA", "PEN4006"),
        ("missing", "ERROR_WHEN_SCHEMA_NOT_EXIST", "DROP_DATA", "PEN4006"),
        ("rows", "RECREATE_SCHEMA", "DROP_DATA", "new"),
        ("rows", "RECREATE_SCHEMA", "APPEND_DATA", "new"),
        ("rows", "CREATE_SCHEMA_WHEN_NOT_EXIST", "DROP_DATA", "new"),
        ("rows", "CREATE_SCHEMA_WHEN_NOT_EXIST", "APPEND_DATA", "both"),
        ("rows", "CREATE_SCHEMA_WHEN_NOT_EXIST", "ERROR_WHEN_DATA_EXISTS", "PEN4007"),
        ("rows", "ERROR_WHEN_SCHEMA_NOT_EXIST", "APPEND_DATA", "both"),
        ("rows", "ERROR_WHEN_SCHEMA_NOT_EXIST", "DROP_DATA", "new"),
        ("rows", "IGNORE", "APPEND_DATA", "both"),
        ("rows", "IGNORE", "DROP_DATA", "new"),
        ("empty", "CREATE_SCHEMA_WHEN_NOT_EXIST", "ERROR_WHEN_DATA_EXISTS", "new"),
        ("empty", "CREATE_SCHEMA_WHEN_NOT_EXIST", "APPEND_DATA", "new"),
    ]
]

_FEW = (
    ("missing", "CREATE_SCHEMA_WHEN_NOT_EXIST", "APPEND_DATA"),
    ("missing", "ERROR_WHEN_SCHEMA_NOT_EXIST", "DROP_DATA"),
    ("rows", "RECREATE_SCHEMA", "DROP_DATA"),
    ("rows", "CREATE_SCHEMA_WHEN_NOT_EXIST", "ERROR_WHEN_DATA_EXISTS"),
    ("rows", "ERROR_WHEN_SCHEMA_NOT_EXIST", "DROP_DATA"),
    ("rows", "IGNORE", "APPEND_DATA"),
    ("empty", "CREATE_SCHEMA_WHEN_NOT_EXIST", "ERROR_WHEN_DATA_EXISTS"),
)
FEW_MODES = [pytest.param(*case, marks=() if case[:3] in _FEW else pytest.mark.soak) for case in MODES]
"""By default one case for each way in which a commit differs, for sinks whose runs take seconds."""


_known: dict[str, list[tuple[object, ...]]] = {}


def rows_of(query: str, spark) -> list[tuple[object, ...]]:
    """Of one of the queries above, asked once."""
    if query not in _known:
        _known[query] = [tuple(row) for row in spark.sql(query).collect()]
    return _known[query]


class SinkSuite:
    """`name`: the connector's; `given`: options beside `path`; `read`: the target's rows as a DataFrame."""

    name: str
    given: ClassVar[dict[str, object]] = {}

    @property
    def sink(self):
        return connectors.sink(self.name)

    def read(self, spark, path):
        raise NotImplementedError

    def write(self, path, query=NEW, columns=COLUMNS, id="w", **given):
        return write(self.sink, rows(query, *columns), id, path=str(path), **{**self.given, **given})

    def rows_at(self, spark, path):
        return sorted(map(tuple, self.read(spark, str(path)).select("id", "name", "amount").collect()))

    def expect(self, spark, which):
        queries = {"old": [OLD], "new": [NEW], "both": [OLD, NEW], "none": []}[which]
        return sorted(row for query in queries for row in rows_of(query, spark))

    def fill(self, spark, tmp_path, query=OLD):
        run_writes(spark, [self.write(tmp_path / "target", query)], str(tmp_path / "state"), "before")

    def hinder(self, tmp_path):
        """Make the commit of what is staged for `other` fail."""
        [data] = tmp_path.glob(".other.penstock/*/data")
        shutil.rmtree(data)

    def exists(self, tmp_path):
        return (tmp_path / "target").exists()

    def bury(self, spark, tmp_path, run_id, mark):
        """Let the process that holds the target be a killed one."""
        bury_claims(*files_at(spark, str(tmp_path / ".target.penstock" / "claims")))

    def leftovers(self, tmp_path):
        return [name for name in os.listdir(tmp_path) if name not in ("target", "state", "other")]

    @pytest.mark.parametrize(("target", "schema", "data", "expected"), pairwise(MODES, 3))
    def test_save_modes(self, spark, tmp_path, target, schema, data, expected):
        if target != "missing":
            self.fill(spark, tmp_path, OLD if target == "rows" else NONE)
        job = [self.write(tmp_path / "target", schema_save_mode=schema, data_save_mode=data)]
        if expected.startswith("PEN"):
            with pytest.raises(RunError) as caught:
                run_writes(spark, job, str(tmp_path / "state"), "run")
            assert [each.code for each in caught.value.diagnostics] == [expected]
            assert self.exists(tmp_path) == (target != "missing")
            if target == "rows":
                assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")
        else:
            run_writes(spark, job, str(tmp_path / "state"), "run")
            assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, expected)
        assert self.leftovers(tmp_path) == []

    def test_paths_of_any_name(self, spark, tmp_path):
        name = "10% ü#%20`'+&=x"
        target, state = tmp_path / name, str(tmp_path / "the state %41")
        for run, query in (("first", OLD), ("second", NEW)):
            run_writes(spark, [self.write(target, query)], state, run)
        assert self.rows_at(spark, target) == self.expect(spark, "both")
        assert set(self.leftovers(tmp_path)) == {name, "the state %41"}

    def test_same_run_id_twice(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        for state in ("state", "state", "other"):  # with the journal of the first time, and without
            run_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / state), "run")
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "both")
        assert self.leftovers(tmp_path) == []

    def secrets(self, tmp_path) -> Credentials:
        return secrets_of(self.write(tmp_path / "target"))

    @pytest.mark.parametrize("data", [pytest.param("DROP_DATA", marks=pytest.mark.soak), "APPEND_DATA"])
    def test_stopped_between_stage_and_commit(self, spark, tmp_path, data):
        self.fill(spark, tmp_path)
        state = str(tmp_path / "state")
        run = stage_writes(spark, [self.write(tmp_path / "target", data_save_mode=data)], state, "run")
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")
        bury(run)
        run.journal.staged("w", run.places["w"])
        assert resume(spark, layout_at(spark, state), "run", self.secrets(tmp_path)) is RunOutcome.ROLLED_BACK
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")
        assert self.leftovers(tmp_path) == []

    @pytest.mark.parametrize("data", ["DROP_DATA", pytest.param("APPEND_DATA", marks=pytest.mark.soak)])
    def test_stopped_after_the_decision(self, spark, tmp_path, data):
        self.fill(spark, tmp_path)
        state = str(tmp_path / "state")
        run = stage_writes(spark, [self.write(tmp_path / "target", data_save_mode=data)], state, "run")
        bury(run)
        run.journal.staged("w", run.places["w"])
        run.journal.decide()
        assert recover(spark, layout_at(spark, state), self.secrets(tmp_path)) == ()
        assert run.journal.read().outcome is RunOutcome.FINISHED
        expected = self.expect(spark, "new" if data == "DROP_DATA" else "both")
        assert self.rows_at(spark, tmp_path / "target") == expected
        self.sink.commit(spark, run.places["w"], context_of(spark, "run"))  # again does nothing
        assert self.rows_at(spark, tmp_path / "target") == expected
        assert self.leftovers(tmp_path) == []

    @pytest.mark.parametrize("data", [pytest.param("DROP_DATA", marks=pytest.mark.soak), "APPEND_DATA"])
    def test_what_a_dead_run_of_another_state_decided_is_done_first(self, spark, tmp_path, data):
        self.fill(spark, tmp_path)
        run = stage_writes(
            spark, [self.write(tmp_path / "target", OLD, data_save_mode=data)], str(tmp_path / "other"), "dead"
        )
        run.journal.decide()
        bury(run)
        self.bury(spark, tmp_path, "dead", {**run.journal.read().mark, "pid": dead_process(), "jvm_pid": None})
        run_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / "state"), "run")
        expected = self.expect(spark, "both") + (self.expect(spark, "old") if data == "APPEND_DATA" else [])
        assert self.rows_at(spark, tmp_path / "target") == sorted(expected)
        assert self.leftovers(tmp_path) == []

    def test_a_dead_run_that_cannot_be_ended_keeps_no_other_back(self, spark, tmp_path):
        state = str(tmp_path / "state")
        run = stage_writes(spark, [self.write(tmp_path / "other")], state, "dead")
        bury(run)
        run.journal.staged("w", run.places["w"])
        run.journal.decide()
        self.hinder(tmp_path)
        (warning,) = recover(spark, layout_at(spark, state), self.secrets(tmp_path))
        assert (warning.code, warning.severity) == ("PEN5005", Severity.WARNING)
        with pytest.raises(RunError) as caught:
            resume(spark, layout_at(spark, state), "dead", self.secrets(tmp_path))
        assert [each.code for each in caught.value.diagnostics] == ["PEN5005"]

    def test_target_that_another_run_wrote_to_after_the_check_is_refused(self, spark, tmp_path):
        job = [self.write(tmp_path / "target", data_save_mode="ERROR_WHEN_DATA_EXISTS")]
        late = begin(spark, check(spark, job, "late"), "late", layout_at(spark, str(tmp_path / "other")))
        self.fill(spark, tmp_path)
        frames = lower(spark, job).dataframes
        with pytest.raises(RunError) as caught:
            stage(spark, late, job[0], frames[job[0].input])
        assert [each.code for each in caught.value.diagnostics] == ["PEN5304"]
        assert abort_all(spark, late) == ()
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")
        assert self.leftovers(tmp_path) == []

    def test_failing_rows_change_nothing(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        query = NEW.replace("concat('new', id)", "if(id = 104, raise_error('no'), 'x')")
        with pytest.raises(RunError) as caught:
            run_writes(spark, [self.write(tmp_path / "target", query)], str(tmp_path / "state"), "run")
        assert [each.code for each in caught.value.diagnostics] == ["PEN5001"]
        assert "\n" not in caught.value.diagnostics[0].message
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")
        assert self.leftovers(tmp_path) == []

    def test_aborted_run_changes_nothing(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        run = stage_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / "state"), "run")
        abort_all(spark, run)
        abort_all(spark, run)
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")
        assert self.leftovers(tmp_path) == []

    def test_aborted_run_leaves_no_folder_that_it_made(self, spark, tmp_path):
        job = [self.write(tmp_path / "made" / "deep" / name) for name in ("target", "other")]
        run = stage_writes(spark, job, str(tmp_path / "state"), "run")
        assert (tmp_path / "made" / "deep").exists()
        abort_all(spark, run)
        assert not (tmp_path / "made").exists()

    def test_second_run_on_a_held_target_is_refused(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        first = stage_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / "state"), "first")
        with pytest.raises(RunError) as caught:
            stage_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / "other"), "second")
        assert [each.code for each in caught.value.diagnostics] == ["PEN5007"]
        commit_all(spark, first)
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "both")
        assert self.leftovers(tmp_path) == []

    def test_rows_that_do_not_fit_are_refused(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        query, columns = (
            "select array(1) id, 'x' name, 1.5 amount",
            ("id array<int>", "name string", "amount decimal(2,1)"),
        )
        with pytest.raises(RunError) as caught:
            run_writes(spark, [self.write(tmp_path / "target", query, columns)], str(tmp_path / "state"), "run")
        assert [each.code for each in caught.value.diagnostics] == ["PEN4003"]

    def test_narrower_types_are_stored_as_the_target_has_them(self, spark, tmp_path):
        self.fill(spark, tmp_path)
        query, columns = "select 'x' name, cast(7 as int) id", ("name string", "id int")
        run_writes(spark, [self.write(tmp_path / "target", query, columns)], str(tmp_path / "state"), "run")
        assert (7, "x", None) in self.rows_at(spark, tmp_path / "target")
        assert self.read(spark, str(tmp_path / "target")).schema["id"].dataType.simpleString() == "bigint"

    def test_no_rows_leave_a_readable_target(self, spark, tmp_path):
        self.fill(spark, tmp_path, NONE)
        df = self.read(spark, str(tmp_path / "target"))
        assert df.dtypes == [("id", "bigint"), ("name", "string"), ("amount", "decimal(10,2)")]
        assert df.count() == 0

    def test_overwrite_partitions(self, spark, tmp_path):
        given = {"partition_by": ["p"], "write_mode": "overwrite_partitions"}
        columns = ("id bigint", "p int")
        for query in (
            "select id, cast(id % 3 as int) p from range(9)",
            "select id + 100 id, cast(id % 2 as int) p from range(4)",
        ):
            run = f"run{len(query)}"
            run_writes(spark, [self.write(tmp_path / "target", query, columns, **given)], str(tmp_path / "state"), run)
        found = sorted(map(tuple, self.read(spark, str(tmp_path / "target")).select("p", "id").collect()))
        assert found == [(0, 100), (0, 102), (1, 101), (1, 103), (2, 2), (2, 5), (2, 8)]
        assert self.leftovers(tmp_path) == []

    def test_a_day_without_rows_replaces_that_day(self, spark, tmp_path):
        """The constants of the query name the day; without them, no partition is replaced."""
        given = {"partition_by": ["p"], "write_mode": "overwrite_partitions"}
        columns = ("id bigint", "p date")
        day = "date '2026-01-0{}' p from range({})".format
        both = "select 0L id, explode(array(date '2026-01-02', date '2026-01-03')) p"
        runs = (
            (f"select id, {day(1, 0)}", []),
            (f"select id, {day(1, 2)}", [(1, 0), (1, 1)]),
            (both, [(1, 0), (1, 1), (2, 0), (3, 0)]),
            (f"select id, {day(1, 0)}", [(2, 0), (3, 0)]),
            ("select id, date_add(date '2026-01-01', cast(id as int)) p from range(0)", [(2, 0), (3, 0)]),
            (f"select * from (select id, {day(2, 1)}) where p = date '2026-01-02' and id > 7", [(3, 0)]),
        )
        for number, (query, expected) in enumerate(runs):
            write = self.write(tmp_path / "target", query, columns, **given)
            run_writes(spark, [write], str(tmp_path / "state"), f"run{number}")
            df = self.read(spark, str(tmp_path / "target"))
            assert {"id", "p"} == set(df.columns)
            assert sorted((row.p.day, row.id) for row in df.collect()) == expected, query
        assert self.leftovers(tmp_path) == []

    def test_every_mode_is_declared(self):
        diagnostics = Diagnostics()
        self.sink.validate(self.write("x").options, self.write("x").table, diagnostics)
        assert list(diagnostics) == []
        assert self.sink.sink_capabilities.schema_save_modes
        assert {option.name for option in self.sink.sink_options} >= {"path", "schema_save_mode", "data_save_mode"}


WITH_ENGINE = (
    "test_save_modes",
    "test_paths_of_any_name",
    "test_same_run_id_twice",
    "test_stopped_after_the_decision",
    "test_what_a_dead_run_of_another_state_decided_is_done_first",
    "test_a_dead_run_that_cannot_be_ended_keeps_no_other_back",
    "test_target_that_another_run_wrote_to_after_the_check_is_refused",
    "test_second_run_on_a_held_target_is_refused",
    "test_rows_that_do_not_fit_are_refused",
    "test_narrower_types_are_stored_as_the_target_has_them",
    "test_no_rows_leave_a_readable_target",
    "test_overwrite_partitions",
    "test_a_day_without_rows_replaces_that_day",
    "test_every_mode_is_declared",
)
"""What a sink shows by default with the engine, where the shipped suite shows the rest of it."""
SHIPPED = (
    "test_options_are_documented_and_named_once",
    "test_the_modes_that_it_declares_are_offered",
    "test_rows_that_it_can_write_are_valid",
    "test_another_process_commits_from_the_journal",
    "test_another_process_aborts_from_the_journal",
    "test_a_repeated_attempt_replaces_what_the_first_one_staged",
    "test_rows_that_fail_change_nothing",
)
"""What a sink shows by default with the shipped suite; `make soak` has all of it."""


class ShippedSuite(shipped.SinkSuite):
    """The suite that ships with Penstock, for the connector that `described` describes for the suite above."""

    described: ClassVar[type[SinkSuite]]
    checks_claim = False

    @pytest.fixture(autouse=True)
    def _described(self, request, tmp_path):
        self.suite, self.place = self.described(), tmp_path
        self.begin_at(request)

    def begin_at(self, request):
        """Where the target is, if not in the directory of the test; the journals stay there."""

    @property
    def sink(self):
        return connectors.sink(self.described.name)

    def given(self, tmp_path):
        options = self.suite.write(self.place / "target").options
        return {name: value for name, value in options.values.items() if value is not None}

    def read(self, spark, tmp_path):
        if not self.suite.exists(self.place):
            return []
        df = self.suite.read(spark.newSession(), str(self.place / "target"))
        return df.select("id", "name", "amount").collect()

    def leftovers(self, tmp_path):
        return self.suite.leftovers(self.place)


class ResolvedSinkSuite(SinkSuite):
    """The suite of a table format, which resolves transactions against each other."""

    @pytest.mark.parametrize(("target", "schema", "data", "expected"), FEW_MODES)
    def test_save_modes(self, spark, tmp_path, target, schema, data, expected):
        super().test_save_modes(spark, tmp_path, target, schema, data, expected)

    def test_second_run_on_a_held_target_is_refused(self, spark, tmp_path):
        """It is not: the table format resolves appends against each other."""
        self.fill(spark, tmp_path)
        runs = [
            stage_writes(spark, [self.write(tmp_path / "target", OLD)], str(tmp_path / state), state)
            for state in ("state", "other")
        ]
        for run in reversed(runs):
            commit_all(spark, run)
        assert self.rows_at(spark, tmp_path / "target") == sorted(3 * self.expect(spark, "old"))
        assert self.leftovers(tmp_path) == []

    @pytest.mark.parametrize("data", [pytest.param("DROP_DATA", marks=pytest.mark.soak), "APPEND_DATA"])
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
        layout = layout_at(spark, str(tmp_path / "other"))
        assert resume(spark, layout, "dead", self.secrets(tmp_path)) is RunOutcome.FINISHED
        both = self.expect(spark, "new") + (2 * self.expect(spark, "old") if data == "APPEND_DATA" else [])
        assert self.rows_at(spark, tmp_path / "target") == sorted(both)
