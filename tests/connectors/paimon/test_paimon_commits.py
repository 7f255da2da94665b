"""A commit that ends at any of its steps is finished by the next one: nothing is lost, and nothing is there twice."""

import base64
import json
import os

import pyarrow as pa
import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.paimon import paimon_table
from connectors.paimon.paimon_staged import PaimonOverwrite, PaimonStaged
from connectors.paimon.table_files import latest_schema
from connectors.paimon.writing import committing, staging, tasks
from connectors.paimon.writing.tasks import Layout
from tests.connectors.killed_commits import Killed

SCHEMA = {
    "version": 3,
    "id": 0,
    "fields": [{"id": 0, "name": "id", "type": "INT"}],
    "highestFieldId": 0,
    "partitionKeys": [],
    "primaryKeys": [],
    "options": {"bucket": "-1"},
    "timeMillis": 1,
}


class Target:
    def __init__(self, folder):
        self.folder = folder
        self.place = str(folder / "t")

    def stage(self, id, run, replaces=PaimonOverwrite.NOTHING, **schema):
        """One row, staged as a task and the driver do."""
        is_new, name = latest_schema(self.place) is None, f"penstock-{run}-{len(os.listdir(self.folder))}"
        folder = f"{self.folder}/.t.{name}" if replaces is PaimonOverwrite.TABLE else self.place
        new, beside = {**SCHEMA, **schema}, str(self.folder / "runs" / run)
        batch = pa.RecordBatch.from_pydict({"id": pa.array([id], pa.int32())})
        overwrites = replaces in (PaimonOverwrite.ROWS, PaimonOverwrite.PARTITIONS)
        messages = list(tasks.write(Layout(folder, new, name, overwrites), [batch]))
        adds = is_new or replaces is PaimonOverwrite.TABLE
        staged = PaimonStaged(
            self.place, folder, (self.place,), is_new, replaces, beside, name, f"{run}.w", run, {}, None, None,
            schema=json.dumps(new), adds_schema=adds,
        )  # fmt: skip
        if replaces is PaimonOverwrite.TABLE:
            staging._make_table(staged, new, messages)
        else:
            os.makedirs(beside, exist_ok=True)
            (self.folder / "runs" / run / "messages").write_text(
                json.dumps([base64.b64encode(text).decode() for text in messages])
            )
        return PaimonStaged.from_json(staged.to_json())

    def commit(self, staged):
        committing.commit(None, staged)

    def ids(self):
        schema = latest_schema(self.place)
        builder = paimon_table.opened(self.place, schema).new_read_builder()
        return builder.new_read().to_arrow(builder.new_scan().plan().splits()).column(0).to_pylist()

    def left(self):
        return sorted(set(os.listdir(self.folder)) - {"t", "runs"})


@pytest.fixture
def target(tmp_path):
    return Target(tmp_path)


def killed_after(monkeypatch, owner, name, times=1):
    """Let the process end when a function has returned."""
    inner, calls = getattr(owner, name), []

    def call(*arguments, **named):
        result = inner(*arguments, **named)
        calls.append(name)
        if len(calls) == times:
            raise Killed
        return result

    monkeypatch.setattr(owner, name, call)


@pytest.mark.parametrize("step", ["add_schema", "commit"])
def test_a_new_table_is_made_once(target, monkeypatch, step):
    staged = target.stage(1, "a")
    with monkeypatch.context() as patched:
        killed_after(patched, paimon_table, step)
        with pytest.raises(Killed):
            target.commit(staged)
    for _ in range(2):
        target.commit(staged)
        assert target.ids() == [1]
    target.commit(target.stage(2, "b"))
    again = target.stage(9, "a")  # the run once more, which the table has already
    target.commit(again)
    assert (target.ids(), target.left()) == ([1, 2], [])
    assert staging.staged_files(again) == []


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("step", [("exchange", 1), ("rename", 1), ("rename", 2), ("delete", 1)])
def test_a_table_that_is_made_anew_takes_the_place_of_the_old_one(target, monkeypatch, step, exchanges):
    target.commit(target.stage(1, "a"))
    other = {"fields": [{"id": 0, "name": "id", "type": "INT"}], "comment": "another"}
    staged = target.stage(2, "b", PaimonOverwrite.TABLE, **other)
    assert target.ids() == [1]
    if not exchanges:
        monkeypatch.setattr(committing, "exchange", lambda one, other: False)
    with monkeypatch.context() as patched:
        killed_after(patched, committing if step[0] == "exchange" else committing.LocalFiles, *step)
        try:
            target.commit(staged)
        except Killed:
            assert latest_schema(target.place) is None or target.ids() in ([1], [2])
    for _ in range(2):
        target.commit(staged)
        assert (target.ids(), target.left()) == ([2], [])


@pytest.mark.parametrize("replaces", list(PaimonOverwrite))
def test_what_another_attempt_of_a_task_left_is_removed(target, replaces):
    target.commit(target.stage(1, "a"))
    staged = target.stage(2, "b", replaces)
    [kept] = staging.staged_files(staged)
    list(tasks.write(Layout(staged.folder, SCHEMA, staged.name, False), [pa.RecordBatch.from_pydict({"id": [3]})]))
    assert len(staging.staged_files(staged)) == 2
    staging._remove_others(staged, [kept])
    assert staging.staged_files(staged) == [kept]


@pytest.mark.parametrize("replaces", list(PaimonOverwrite))
def test_an_aborted_write_leaves_nothing(target, replaces):
    target.commit(target.stage(1, "a"))
    before = sorted(path for path in target.folder.rglob("*") if path.is_file())
    staged = target.stage(2, "b", replaces)
    for _ in range(2):
        staging.abort(None, staged)
        assert sorted(path for path in target.folder.rglob("*") if path.is_file()) == before
    with pytest.raises(RunError, match="are gone"):
        target.commit(staged)
    assert target.ids() == [1]


def test_an_aborted_new_table_leaves_no_directory(target):
    staging.abort(None, target.stage(1, "a"))
    assert os.listdir(target.folder) == ["runs"]


def test_two_runs_make_the_same_table_but_not_another_one(target):
    one, two = target.stage(1, "a"), target.stage(2, "b")
    other = target.stage(3, "c", options={"bucket": "-1", "comment": "another"})
    target.commit(one)
    target.commit(two)
    assert target.ids() == [1, 2]
    with pytest.raises(RunError, match="was changed after run `c` staged its rows") as caught:
        target.commit(other)
    assert "penstock runs --forget c" in caught.value.diagnostics[0].help
    assert target.ids() == [1, 2]


def test_rows_of_an_overwrite_replace_those_that_came_meanwhile(target):
    target.commit(target.stage(1, "a"))
    late = target.stage(2, "b", PaimonOverwrite.ROWS)
    target.commit(target.stage(3, "c"))
    target.commit(late)
    assert target.ids() == [2]
    target.commit(late)
    assert target.ids() == [2]
