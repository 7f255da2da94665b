"""Files and journals on a file system that is reached through Hadoop only: the steps that the local disk does not take.

`viewfs` is such a one that needs no server: its paths are mounted on directories of this machine.
"""

import os
from itertools import count
from typing import ClassVar

import pytest

from catalog.tables.savemode import Action
from connectors.files.committing import file_target
from connectors.local_file import connector
from connectors.storage.filesystem import files_at
from connectors.storage.hadoop_files import HadoopFiles
from engine.job.model.job import Env
from engine.plan.nodes import Plan
from engine.plan.rendering.explain_text import explain
from engine.spark.writing.recover import recover, resume
from engine.state.journal import RunOutcome
from tests.connectors.dead_runs import bury
from tests.connectors.jobs import run_writes, stage_writes
from tests.connectors.killed_commits import Killed, kill_at
from tests.connectors.suite import SinkSuite

pytestmark = pytest.mark.spark

MOUNTS = count(1)


CHANGES = ((HadoopFiles, "rename"), (HadoopFiles, "delete"), (HadoopFiles, "write_new"))
"""The changes before which a commit is killed."""


class Remote(str):
    """A path of the mounted file system that knows its directory on this machine, with the calls of the suite."""

    here: os.PathLike

    def __truediv__(self, name):
        return remote(f"{self}/{name}", self.here / name)

    def exists(self):
        return self.here.exists()

    def glob(self, pattern):
        return self.here.glob(pattern)


def remote(path, here):
    made = Remote(path)
    made.here = here
    return made


@pytest.fixture
def mounted(spark, tmp_path):
    mount = f"tests{next(MOUNTS)}"
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set(f"fs.viewfs.mounttable.{mount}.link./here", f"file://{tmp_path}")
    return remote(f"viewfs://{mount}/here", tmp_path)


class TestParquetElsewhere(SinkSuite):
    name = "LocalFile"
    given: ClassVar = {"file_format_type": "parquet"}

    @pytest.fixture
    def tmp_path(self, mounted):
        return mounted

    def read(self, spark, path):
        return spark.read.parquet(path)

    def leftovers(self, tmp_path):
        return [name for name in os.listdir(tmp_path.here) if name not in ("target", "state", "other")]

    @pytest.mark.parametrize("mode", ["DROP_DATA", "APPEND_DATA", "PARTITIONS"])
    def test_killed_before_each_step_of_the_commit(self, spark, tmp_path, monkeypatch, mode):
        """Killed before the first, the second, … of its changes to the file system, each time ended by `--resume` or
        by the next run, which may be killed in its turn."""
        given = {"data_save_mode": mode} if mode != "PARTITIONS" else {"write_mode": "overwrite_partitions"}
        given |= {"partition_by": ["name"]} if mode == "PARTITIONS" else {}
        one, two = "select 1L id, 'p' name union all select 2L, 'q'", "select 3L id, 'q' name union all select 4L, 'r'"
        columns = ("id bigint", "name string")
        after = {"DROP_DATA": [3, 4], "APPEND_DATA": [1, 2, 3, 4], "PARTITIONS": [1, 3, 4]}[mode]
        state = str(tmp_path / "state")
        for step in count(1):
            target, run_id = tmp_path / f"target{step}", f"run{step}"
            run_writes(spark, [self.write(target, one, columns, **given)], state, f"before{step}")
            run = stage_writes(spark, [self.write(target, two, columns, **given)], state, run_id)
            bury(run)
            run.journal.staged("w", run.places["w"])
            run.journal.decide()
            with monkeypatch.context() as patched:
                steps = kill_at(step, patched, CHANGES)
                was_killed = False
                try:
                    connector.commit(spark, run.places["w"], run.context)
                except Killed:
                    was_killed = True
            if was_killed and step % 2:
                assert resume(spark, state, run_id) is RunOutcome.FINISHED
            else:
                assert recover(spark, state) == ()
            assert sorted(row[0] for row in self.read(spark, str(target)).select("id").collect()) == after
            assert [name for name in os.listdir(tmp_path.here) if name.startswith(".")] == []
            if not was_killed:
                assert steps[0] >= 4
                return


def test_the_operations_are_those_of_the_local_disk(spark, mounted):
    files, root = files_at(spark, str(mounted))
    assert isinstance(files, HadoopFiles)
    assert files.children(f"{root}/none") == files.files(f"{root}/none") == []
    files.write(f"{root}/a/one.txt", "first")
    files.write(f"{root}/a/one.txt", "second ü")
    assert files.read(f"{root}/a/one.txt") == "second ü"
    assert not files.write_new(f"{root}/a/one.txt", "third")
    assert files.write_new(f"{root}/a/b/.two", "")
    assert files.children(f"{root}/a") == ["b", "one.txt"]
    assert files.files(f"{root}/a") == ["b/.two", "one.txt"]
    assert files.is_file(f"{root}/a/one.txt")
    assert not files.is_file(f"{root}/a")
    with pytest.raises(FileExistsError):
        files.rename(f"{root}/a/one.txt", f"{root}/a/b")
    with pytest.raises(OSError, match="none"):
        files.rename(f"{root}/none", f"{root}/c/d")
    files.rename(f"{root}/a", f"{root}/c/d")
    assert files.files(root) == ["c/d/b/.two", "c/d/one.txt"]
    files.delete(f"{root}/c")
    files.delete(f"{root}/c")
    assert not files.exists(f"{root}/c")
    assert (mounted.here).exists()


@pytest.mark.parametrize(
    ("path", "mode", "said"),
    [
        ("viewfs://far/out", "DROP_DATA", "between two renames there is no target"),
        ("viewfs://far/out", "APPEND_DATA", "one by one"),
        ("out", "DROP_DATA", None),
        ("file:///out", "APPEND_DATA", None),
    ],
)
def test_explain_tells_where_a_commit_is_seen_half_done(path, mode, said):
    text = explain(Plan(Env("job"), (TestParquetElsewhere().write(path, data_save_mode=mode),)))
    assert ("not atomic" in text) == (said is not None)
    assert said is None or said in text
    assert said is None or "penstock run --resume" in text


def test_what_creates_a_target_is_one_rename():
    assert file_target.caveats((Action.CREATE, Action.ADD_ROWS)) == ()
