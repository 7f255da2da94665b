"""The ledger keeps the last word on every run, and passes over what it cannot read."""

from dataclasses import replace

from connectors.filesystem import files_at
from engine.runtime.ledger import Run, now, record, runs
from engine.runtime.states import State

FIRST = Run("r1", "orders", "orders.conf", State.RUNNING, "2026-01-01T00:00:00.000Z")


def test_the_last_word_on_a_run_counts(tmp_path):
    files, root = files_at(None, str(tmp_path))
    record(files, root, FIRST)
    record(files, root, replace(FIRST, run_id="a-later-run", started="2026-01-02T00:00:00.000Z"))
    record(files, root, replace(FIRST, state=State.FINISHED, ended=now(), seconds=1.5, counts={"rows": 3}))
    first, second = runs(files, root)
    assert (first.run_id, first.state, first.counts) == ("r1", State.FINISHED, {"rows": 3})
    assert (second.run_id, second.state) == ("a-later-run", State.RUNNING)


def test_what_cannot_be_read_is_passed_over(tmp_path):
    files, root = files_at(None, str(tmp_path))
    record(files, root, FIRST)
    files.write(f"{root}/runs/r2/run.json", '{"run_id": "r2", "jo')
    files.make_folder(f"{root}/runs/r3/journal")
    assert [run.run_id for run in runs(files, root)] == ["r1"]


def test_no_ledger_no_runs(tmp_path):
    assert runs(*files_at(None, str(tmp_path / "none"))) == ()
