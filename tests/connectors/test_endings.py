"""How runs end where ending them meets errors of its own: nothing is hidden, and nothing is held back for ever."""

import errno
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from catalog.diagnostics.diagnostic import RunError, Severity
from connectors.storage.local_files import LocalFiles
from engine.spark.writing.abort import abort_all
from engine.spark.writing.recover import recover, resume, roll_back
from engine.state.dismissal import forget
from engine.state.journal import RunOutcome, journal_in
from engine.state.layout import layout_at
from tests.connectors.dead_runs import bury
from tests.connectors.files import test_local_file
from tests.connectors.jobs import run_writes, stage_writes


def refuse(path, ignore_errors=False):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def staged(spark, tmp_path, *, decided):
    """A run that was killed after staging, or after its decision."""
    run = stage_writes(
        spark, [test_local_file.TestParquet().write(tmp_path / "target")], str(tmp_path / "state"), "dead"
    )
    bury(run)
    if decided:
        run.journal.decide()
    return run


@pytest.mark.spark
def test_waste_that_cannot_be_removed_keeps_no_run_back(spark, tmp_path, monkeypatch):
    run = staged(spark, tmp_path, decided=False)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", refuse)
        (warning,) = recover(spark, layout_at(spark, str(tmp_path / "state")))
        assert (warning.code, warning.severity) == ("PEN5312", Severity.WARNING)
        assert "Permission denied" in warning.message
        with pytest.raises(RunError, match="Permission denied"):
            resume(spark, layout_at(spark, str(tmp_path / "state")), "dead")
        (left,) = abort_all(spark, run)
        assert left.code == "PEN5011"
    assert resume(spark, layout_at(spark, str(tmp_path / "state")), "dead") is RunOutcome.ROLLED_BACK
    assert sorted(os.listdir(tmp_path)) == ["state"]


@pytest.mark.spark
def test_what_a_cancelled_run_staged_is_removed_without_spark(spark, tmp_path):
    """As after Ctrl-C, where the tasks of a run end only with their Java process."""
    state = str(tmp_path / "state")
    staged(spark, tmp_path, decided=False)
    assert roll_back(layout_at(None, state), "dead")
    assert sorted(os.listdir(tmp_path)) == ["state"]
    assert journal_in(layout_at(None, state), "dead").read().outcome is RunOutcome.ROLLED_BACK
    assert not roll_back(layout_at(None, state), "dead"), "it has ended"
    staged(spark, tmp_path, decided=True)
    assert not roll_back(layout_at(None, state), "dead"), "it can only be finished"
    assert resume(spark, layout_at(spark, state), "dead") is RunOutcome.FINISHED
    log = journal_in(layout_at(None, state), "jdbc")
    log.begin({}, {"w": "Jdbc"}, "job")
    assert not roll_back(layout_at(None, state), "jdbc"), "the database's driver is Java's"


@pytest.mark.spark
def test_a_decided_run_whose_rows_are_gone_says_how_it_is_forgotten(spark, tmp_path):
    run = staged(spark, tmp_path, decided=True)
    shutil.rmtree(tmp_path / ".target.penstock")
    (diagnostic,) = recover(spark, layout_at(spark, str(tmp_path / "state")))
    assert diagnostic.code == "PEN5005"
    assert f"penstock runs --forget {run.run_id}" in diagnostic.help
    forget(layout_at(None, str(tmp_path / "state")), run.run_id)
    assert recover(spark, layout_at(spark, str(tmp_path / "state"))) == ()


@pytest.mark.spark
@pytest.mark.parametrize("damage", ["", "{", '{"watermarks": [], "by": "1", "at": 0.0, "checksum": 7}'])
def test_a_damaged_step_of_a_journal_is_named_and_blocks_no_other_run(spark, tmp_path, damage):
    log = journal_in(layout_at(None, str(tmp_path / "state")), "odd")
    log.begin({}, {}, "job")
    LocalFiles().write(f"{log.folder}/commit.json", damage)
    (diagnostic,) = recover(spark, layout_at(spark, str(tmp_path / "state")))
    assert (diagnostic.code, diagnostic.severity) == ("PEN5011", Severity.WARNING)
    assert "commit.json" in diagnostic.message
    assert "penstock runs --forget odd" in diagnostic.help
    run_writes(spark, [test_local_file.TestParquet().write(tmp_path / "target")], str(tmp_path / "state"), "run")
    with pytest.raises(RunError, match="is damaged"):
        resume(spark, layout_at(spark, str(tmp_path / "state")), "odd")
    forget(layout_at(None, str(tmp_path / "state")), "odd")
    assert recover(spark, layout_at(spark, str(tmp_path / "state"))) == ()


@pytest.mark.spark
def test_what_a_kill_left_of_writing_the_lock_does_not_keep_it(spark, tmp_path):
    (tmp_path / ".target.penstock").mkdir()
    (tmp_path / ".target.penstock" / ".lock.0.tmp").write_text("")
    run_writes(spark, [test_local_file.TestParquet().write(tmp_path / "target")], str(tmp_path / "state"), "run")
    assert sorted(os.listdir(tmp_path)) == ["state", "target"]


@pytest.mark.spark
def test_a_file_that_a_cut_off_copy_left_at_the_target_is_put_there_again(spark, tmp_path):
    """Where a rename copies and then deletes, as in object stores."""
    from connectors.files.committing.rename_commit import commit_by_renames

    suite = test_local_file.TestParquet()
    suite.fill(spark, tmp_path)
    run = stage_writes(spark, [suite.write(tmp_path / "target")], str(tmp_path / "state"), "run")
    staging = run.places["w"].staging.removeprefix("file://")
    name = next(name for name in os.listdir(f"{staging}/data") if name.startswith("part"))
    (tmp_path / "target" / name).write_bytes(b"PAR1")
    commit_by_renames(LocalFiles(), "append", staging, str(tmp_path / "target"))
    assert suite.rows_at(spark, tmp_path / "target") == suite.expect(spark, "both")
    abort_all(spark, run)


def test_of_many_writers_of_a_new_file_one_wins(tmp_path):
    files = LocalFiles()
    with ThreadPoolExecutor(8) as pool:
        for number in range(50):
            path = f"{tmp_path}/{number}"
            won = list(pool.map(lambda writer, path=path: files.write_new(path, json.dumps(writer)), range(8)))
            assert won.count(True) == 1
            assert json.loads(files.read(path)) == won.index(True)
    assert files.children(str(tmp_path)) == sorted(map(str, range(50)))


def test_a_new_file_on_a_disk_without_hard_links(tmp_path, monkeypatch):
    def refuse(source, target):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), source)

    monkeypatch.setattr(os, "link", refuse)
    files, path = LocalFiles(), str(tmp_path / "lock")
    assert files.write_new(path, "mine")
    assert not files.write_new(path, "theirs")
    assert files.read(path) == "mine"
    assert files.children(str(tmp_path)) == ["lock"]
