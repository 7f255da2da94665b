"""The ledger keeps the last word on every run, and passes over what it cannot read."""

import json
from dataclasses import replace
from datetime import timedelta

from connectors.commits.run_owner import this_process
from connectors.storage.local_files import LocalFiles
from engine.state.layout import layout_at
from engine.state.ledger import RunRecord, begin, now, prune, record, runs
from engine.state.run_state import State

FIRST = RunRecord("r1", "orders", "orders.conf", State.RUNNING, "2026-01-01T00:00:00.000Z")


def test_the_last_word_on_a_run_counts(tmp_path):
    layout = layout_at(None, str(tmp_path))
    record(layout, FIRST)
    record(layout, replace(FIRST, run_id="a-later-run", started="2026-01-02T00:00:00.000Z"))
    record(layout, replace(FIRST, state=State.FINISHED, ended=now(), seconds=1.5, counts={"rows": 3}))
    first, second = runs(layout)
    assert (first.run_id, first.state, first.counts) == ("r1", State.FINISHED, {"rows": 3})
    assert (second.run_id, second.state) == ("a-later-run", State.RUNNING)


def test_what_cannot_be_read_is_passed_over(tmp_path):
    layout = layout_at(None, str(tmp_path))
    record(layout, FIRST)
    layout.files.write(layout.run("r2").record, '{"run_id": "r2", "jo')
    layout.files.make_folder(layout.run("r3").journal())
    assert [run.run_id for run in runs(layout)] == ["r1"]


def test_no_ledger_no_runs(tmp_path):
    assert runs(layout_at(None, str(tmp_path / "none"))) == ()


def test_a_killed_run_is_what_its_journal_says(tmp_path):
    layout = layout_at(None, str(tmp_path))
    mark = this_process()
    dead = {**mark, "pid": 2**22 + 1, "jvm_pid": None}
    for name, owner, outcome in (
        ("lives", mark, None), ("killed", dead, None), ("undone", dead, "rolled back"), ("done", dead, "finished")
    ):  # fmt: skip
        record(layout, replace(FIRST, run_id=name))
        layout.files.write(f"{layout.run(name).journal()}/begin.json", json.dumps({"owner": owner, "writes": {}}))
        if outcome:
            layout.files.write(f"{layout.run(name).journal()}/end.json", json.dumps({"outcome": outcome}))
    found = {run.run_id: run for run in runs(layout)}
    assert {name: run.state for name, run in found.items()} == {
        "lives": State.RUNNING, "killed": State.FAILED, "undone": State.FAILED, "done": State.FINISHED
    }  # fmt: skip
    assert "--resume killed" in found["killed"].error
    assert "removed" in found["undone"].error


def test_listing_the_latest_of_many_runs_reads_those_alone(tmp_path, monkeypatch):
    layout = layout_at(None, str(tmp_path))
    for number in range(300):
        begin(layout, replace(FIRST, run_id=f"r{number}", started=f"2026-01-01T{number // 60:02}:{number % 60:02}:00Z"))
    asked, real = [], LocalFiles.read
    monkeypatch.setattr(LocalFiles, "read", lambda files, path: (asked.append(path), real(files, path))[1])
    assert [run.run_id for run in runs(layout, 3)] == ["r297", "r298", "r299"]
    assert len([path for path in asked if path.endswith("run.json")]) == 3
    assert len(runs(layout)) == 300


def test_runs_of_a_directory_of_an_earlier_version_are_listed_once(tmp_path):
    layout = layout_at(None, str(tmp_path))
    for number in range(3):
        begin(layout, replace(FIRST, run_id=f"r{number}", started=f"2026-01-0{number + 1}T00:00:00Z"))
    layout.files.delete(layout.started)
    assert [run.run_id for run in runs(layout, 2)] == ["r1", "r2"]
    begin(layout, replace(FIRST, run_id="r0", started="2026-01-04T00:00:00Z"))  # begun again
    assert [run.run_id for run in runs(layout, 2)] == ["r2", "r0"]
    assert len(runs(layout)) == 3


def test_old_runs_are_pruned_but_for_open_ones_and_those_begun_again(tmp_path):
    layout = layout_at(None, str(tmp_path))
    old, last = "2026-01-01T00:00:00Z", now()
    for name in ("old", "open", "again"):
        begin(layout, replace(FIRST, run_id=name, started=old))
    begin(layout, replace(FIRST, run_id="again", started=last))
    begin(layout, replace(FIRST, run_id="new", started=last))
    layout.files.write(layout.open_run("open"), "")
    layout.begin_listing()
    assert prune(layout, timedelta(days=10), most=1) == 1
    assert prune(layout, timedelta(days=10)) == 1
    assert {run.run_id for run in runs(layout)} == {"open", "again", "new"}
    assert not layout.files.exists(layout.run("old").folder)
    assert prune(layout, timedelta(days=10)) == 0
