"""A disk that is full or read-only: of the target, of Spark's scratch files, of the state directory."""

import os
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest

from engine.cli import main

pytestmark = pytest.mark.spark

JOB = """
env {{ job.name = disks, spark.master = "local[2]", job.retry.interval.seconds = 0 {env} }}
source {{ FakeSource {{ plugin_output = a, row.num = {rows}, schema {{ fields {{ id = bigint, name = string }} }} }} }}
transform {{ Sql {{ plugin_input = a, plugin_output = b, query = "{query}" }} }}
sink {{ LocalFile {{ plugin_input = b, path = "{out}", file_format_type = csv }} }}
"""
ROWS = "select id, repeat(name, 20) name from a"
SHUFFLED = "select /*+ REPARTITION(4) */ id, repeat(uuid(), 40) name from a"


@contextmanager
def disk(folder, kilobytes):
    """A small disk at a new folder."""
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    folder.mkdir()
    options = f"size={kilobytes}k,uid={os.getuid()}"
    subprocess.run([*root, "mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield lambda mode: subprocess.run([*root, "mount", "-o", f"remount,{mode}", str(folder)], check=True)
    finally:
        subprocess.run([*root, "umount", "-l", str(folder)], check=True)


def fill(folder):
    """Write until no space is left."""
    with open(folder / "filler", "wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(b"x" * 1024)


def job(tmp_path, out, *, rows=3, query=ROWS, env=""):
    (tmp_path / "job.conf").write_text(JOB.format(out=out, rows=rows, query=query, env=env))
    return str(tmp_path / "job.conf")


def test_a_full_disk_of_the_target_is_named_and_not_retried(spark, tmp_path, capsys):
    with disk(tmp_path / "small", 512):
        path = job(tmp_path, tmp_path / "small" / "out", rows=40_000)
        assert main(["run", path, "--state-dir", str(tmp_path / "state")]) == 1
        out, err = capsys.readouterr()
        assert f"error[PEN5031]: no space is left on the disk of the target `{tmp_path}/small/out`" in err
        assert "tries" not in out
        assert "as they were" not in err
        assert os.listdir(tmp_path / "small") == []


def test_a_full_or_read_only_state_directory_is_not_the_targets_fault(spark, tmp_path, capsys):
    with disk(tmp_path / "small", 64) as remount:
        path = job(tmp_path, tmp_path / "out")
        state = ["--state-dir", str(tmp_path / "small" / "state")]
        assert main(["run", path, *state, "--quiet"]) == 0
        fill(tmp_path / "small")
        capsys.readouterr()
        assert main(["run", path, *state, "--quiet"]) == 1
        err = capsys.readouterr().err
        assert f"error[PEN5313]: the state directory `{tmp_path}/small/state` cannot be written: No space left" in err
        assert "PEN9001" not in err
        assert "`--state-dir DIR`" in err
        remount("ro")
        assert main(["run", path, *state, "--quiet"]) == 1
        err = capsys.readouterr().err
        assert "error[PEN5313]" in err
        assert "Read-only file system" in err
    assert spark.read.csv(str(tmp_path / "out")).count() == 3


def test_a_state_directory_that_fills_while_rows_are_staged_is_named(spark, tmp_path, capsys, monkeypatch):
    """The record of what was staged is the first one that does not fit."""
    from engine.state.journal import Journal

    staged = Journal.staged
    with disk(tmp_path / "small", 64):

        def filling(self, write_id, place):
            fill(tmp_path / "small")
            staged(self, write_id, place)

        monkeypatch.setattr(Journal, "staged", filling)
        path = job(tmp_path, tmp_path / "out")
        assert main(["run", path, "--state-dir", str(tmp_path / "small" / "state")]) == 1
        out, err = capsys.readouterr()
        assert f"error[PEN5313]: the state directory `{tmp_path}/small/state` cannot be written: No space left" in err
        assert "PEN9001" not in err
        assert "tries" not in out
        assert not (tmp_path / "out").exists()


def test_a_full_scratch_directory_of_spark_is_named(tmp_path):
    with disk(tmp_path / "small", 2048):
        env = f', spark.local.dir = "{tmp_path}/small", spark.shuffle.compress = false'
        path = job(tmp_path, tmp_path / "out", rows=40_000, query=SHUFFLED, env=env)
        command = [sys.executable, "-m", "engine.cli", "run", path, "--state-dir", str(tmp_path / "state")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "error[PEN5031]: no space is left on the disk of" in done.stderr
        assert f"Spark's scratch directory `{tmp_path}/small`" in done.stderr
        assert not (tmp_path / "out").exists()
