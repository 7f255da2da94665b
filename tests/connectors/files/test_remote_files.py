"""Files and journals on a file system that is reached through Hadoop only: the steps that the local disk does not take.

`viewfs` is such a one that needs no server: its paths are mounted on directories of this machine.
"""

from itertools import count
from typing import ClassVar

import pytest

from catalog.tables.savemode import Action
from connectors.files.committing import file_target
from connectors.storage.filesystem import files_at
from connectors.storage.hadoop_files import HadoopFiles
from engine.job.model.job import Env
from engine.plan.nodes import Plan
from engine.plan.rendering.explain_text import explain
from tests.connectors.killed_files import killed_before, killed_before_each
from tests.connectors.remote_path import RemotePath
from tests.connectors.suite import SHIPPED, ShippedSuite, SinkSuite
from tests.sampling import sampled

pytestmark = pytest.mark.spark

MOUNTS = count(1)


CHANGES = ((HadoopFiles, "rename"), (HadoopFiles, "delete"), (HadoopFiles, "write_new"))
"""The changes before which a commit is killed."""


@pytest.fixture
def mounted(spark, tmp_path):
    mount = f"tests{next(MOUNTS)}"
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set(f"fs.viewfs.mounttable.{mount}.link./here", f"file://{tmp_path}")
    return RemotePath.of(f"viewfs://{mount}/here", tmp_path)


@sampled(
    SinkSuite,
    "test_save_modes",
    "test_paths_of_any_name",
    "test_same_run_id_twice",
    "test_stopped_after_the_decision",
    "test_what_a_dead_run_of_another_state_decided_is_done_first",
    "test_aborted_run_leaves_no_folder_that_it_made",
    "test_second_run_on_a_held_target_is_refused",
    "test_overwrite_partitions",
)
class TestParquetElsewhere(SinkSuite):
    name = "LocalFile"
    given: ClassVar = {"file_format_type": "parquet"}

    @pytest.fixture
    def tmp_path(self, mounted):
        return mounted

    def read(self, spark, path):
        return spark.read.parquet(path)

    def leftovers(self, tmp_path):
        return [name for name in tmp_path.children() if name not in ("target", "state", "other")]

    @pytest.mark.parametrize(("mode", "step"), [("DROP_DATA", 3), ("APPEND_DATA", 2), ("PARTITIONS", 3)])
    def test_killed_before_a_step_of_the_commit(self, spark, tmp_path, monkeypatch, mode, step):
        assert killed_before(self, step, mode, spark, tmp_path, monkeypatch, CHANGES)
        assert [name for name in tmp_path.children() if name.startswith(".")] == []

    @pytest.mark.soak
    @pytest.mark.parametrize("mode", ["DROP_DATA", "APPEND_DATA", "PARTITIONS"])
    def test_killed_before_each_step_of_the_commit(self, spark, tmp_path, monkeypatch, mode):
        """Killed before the first, the second, … of its changes to the file system, each time ended by `--resume` or
        by the next run, which may be killed in its turn."""
        assert killed_before_each(self, mode, spark, tmp_path, monkeypatch, CHANGES) >= 3
        assert [name for name in tmp_path.children() if name.startswith(".")] == []


@sampled(ShippedSuite, *SHIPPED)
class TestShippedElsewhere(ShippedSuite):
    described = TestParquetElsewhere

    def begin_at(self, request):
        self.place = request.getfixturevalue("mounted")


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
