"""A driver that is paused at any statement of its commit to a database commits nothing once another process has taken
its run over: that one is not kept waiting, and ends the session of the paused one."""

import os

import pytest

from catalog.diagnostics.diagnostic import PenstockError, RunError
from connectors.jdbc.connector import connector
from connectors.jdbc.database import Database
from engine.runtime.transient import is_transient
from engine.spark.failures.errors import SPARK_ERRORS
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from engine.spark.writing.recover import resume
from engine.state.journal import RunOutcome
from engine.state.layout import layout_at
from tests.connectors.jobs import rows, run_writes, secrets_of, stage_writes, write

pytestmark = pytest.mark.spark
KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "1"))
MODES = {
    "append": {},
    "replace": {"data_save_mode": "DROP_DATA"},
    "recreate": {"schema_save_mode": "RECREATE_SCHEMA", "data_save_mode": "DROP_DATA"},
    "upsert": {"write_mode": "upsert", "primary_keys": ["id"]},
}


class Pause:
    """Before the chosen change of a database, by this process, another one does its work."""

    def __init__(self, monkeypatch, chosen, other):
        self.chosen, self.other, self.count, self.is_over = chosen, other, 0, False
        for name in ("execute", "commit"):
            monkeypatch.setattr(Database, name, self.paused(getattr(Database, name)))

    def paused(self, change):
        def counted(database, *arguments):
            self.count += not self.is_over
            if self.count == self.chosen and not self.is_over:
                self.is_over = True
                self.other()
            return change(database, *arguments)

        return counted


def trial(spark, database, folder, monkeypatch, mode, chosen):
    """False where the commit had fewer changes."""
    given = {**database.options, "table": "t", **MODES[mode]}
    run_id = f"{mode}{chosen}"
    writes = [write(connector, rows(f"select {chosen} as id, 'new' as name", "id int", "name string"), **given)]
    state, found = str(folder), {}

    def held():
        return database.rows("select id, name from t order by id") if "t" in database.tables() else []

    def other():
        found["outcome"] = resume(spark, layout_at(spark, state), run_id, secrets_of(*writes))
        found["rows"] = held()

    run = stage_writes(spark, writes, state, run_id)
    before = held()
    with monkeypatch.context() as patched:
        pause = Pause(patched, chosen, other)
        failed = None
        try:
            commit_all(spark, run)
        except (PenstockError, *SPARK_ERRORS) as error:
            failed = error
            if not run.journal.is_decided:
                abort_all(spark, run)
        finally:
            run.release()
    assert failed is None or pause.is_over, failed
    if pause.is_over:
        assert held() == found["rows"], (mode, chosen, "the paused driver has changed the rows")
        is_new = (chosen, "new") in found["rows"]
        assert is_new == (found["outcome"] is RunOutcome.FINISHED), (mode, chosen, found)
        if not is_new:
            assert found["rows"] == before
    assert database.rows("select count(*) from penstock_staging") == [(0,)]
    assert not [name for name in database.tables() if "stg" in name]
    return pause.is_over


@pytest.mark.parametrize("mode", MODES if KILLS > 1 else ("append", "recreate"))
@pytest.mark.parametrize("kind", ["postgres", "mariadb"])
def test_a_paused_commit_that_was_taken_over_changes_nothing(spark, tmp_path, request, monkeypatch, kind, mode):
    """Each change of the commit in each mode in `make soak` (`PENSTOCK_TEST_KILLS`), some by default."""
    database = request.getfixturevalue(kind)
    database.clear()
    given = {**database.options, "table": "t"}
    old = rows("select 0 as id, 'old' as name", "id int", "name string")
    run_writes(spark, [write(connector, old, **given, primary_keys=["id"])], str(tmp_path), "old")
    chosen = range(1, 40) if KILLS > 1 else (2, 4, 6)
    trials = [trial(spark, database, tmp_path, monkeypatch, mode, each) for each in chosen]
    assert any(trials)
    print(f"\n{kind} {mode}: paused at {sum(trials)} changes of a commit")


def test_a_session_that_cannot_be_ended_is_an_error(spark, tmp_path, postgres, monkeypatch):
    """It names the run; nothing is written."""
    from connectors.jdbc.writing import fence

    postgres.clear()
    writes = [write(connector, rows("select 1 as id", "id int"), **postgres.options, table="t", lock_timeout_sec=1)]
    run = stage_writes(spark, writes, str(tmp_path), "r")
    try:
        (staged,) = run.places.values()
        with postgres.connect() as other:
            other.execute("begin").execute(f"select pg_advisory_xact_lock({fence._key_of([staged])})")
            monkeypatch.setattr(fence, "_end_holder", lambda *_: None)
            with pytest.raises(RunError, match="PEN5264") as refused:
                commit_all(spark, run)
            assert not is_transient(refused.value)
    finally:
        abort_all(spark, run)
        run.release()
    assert "t" not in postgres.tables()
