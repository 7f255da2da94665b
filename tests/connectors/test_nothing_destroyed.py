"""No default destroys data: a file sink deletes neither foreign files nor what its own job reads."""

import shutil

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.files.committing import local_commit
from connectors.local_file import connector
from connectors.storage.local_files import LocalFiles
from engine.compile import Settings, compile_job
from engine.state.dismissal import forget
from engine.state.layout import layout_at
from tests.connectors.jobs import rows, run_writes, write
from tests.connectors.killed_commits import Killed

JOB = """
env {{ job.name = "j" }}
source {{ LocalFile {{ plugin_output = "t", path = "{source}", file_format_type = "csv", schema {{ fields {{ id = int }} }} }} }}
sink {{ LocalFile {{ path = "{target}", file_format_type = "parquet", data_save_mode = "{mode}"{more} }} }}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("source", "target", "mode", "more", "codes"),
    [
        ("data", "data", "DROP_DATA", "", ["PEN5030"]),
        ("data/a.csv", "data", "DROP_DATA", "", ["PEN5030"]),
        ("data/*.csv", "data", "DROP_DATA", "", ["PEN5030"]),
        ("./d*", "data", "DROP_DATA", "", ["PEN5030"]),
        ("data", "data", "DROP_DATA", ", overwrite_foreign_files = true", []),
        ("data", "data", "APPEND_DATA", "", ["PEN5462"]),  # files of another format
        ("data", "data2", "DROP_DATA", "", []),
    ],
)
def test_a_sink_that_replaces_what_the_job_reads_is_an_error(tmp_path, monkeypatch, source, target, mode, more, codes):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.csv").write_text("1\n")
    (tmp_path / "job.conf").write_text(JOB.format(source=source, target=target, mode=mode, more=more))
    diagnostics = Diagnostics()
    compile_job(tmp_path / "job.conf", Settings(), diagnostics)
    assert [each.code for each in diagnostics] == codes


@pytest.mark.spark
@pytest.mark.parametrize("given", [{"data_save_mode": "DROP_DATA"}, {"schema_save_mode": "RECREATE_SCHEMA"}])
def test_foreign_files_at_a_target_stop_the_run(spark, tmp_path, given):
    target, state = tmp_path / "out", str(tmp_path / "state")
    options = {"path": str(target), "file_format_type": "json"}
    job = write(connector, rows("select 1 id", "id int"), **options, **given)
    run_writes(spark, [job], state, "first")
    run_writes(spark, [job], state, "second")  # its own files are no foreign ones
    (target / "notes").mkdir()
    (target / "notes/keep.txt").write_text("mine")
    with pytest.raises(RunError, match=r"PEN5030.*notes/keep.txt"):
        run_writes(spark, [job], state, "third")
    assert (target / "notes/keep.txt").read_text() == "mine"
    allowed = write(connector, rows("select 1 id", "id int"), **options, **given, overwrite_foreign_files=True)
    run_writes(spark, [allowed], state, "fourth")
    assert not (target / "notes").exists()


@pytest.mark.spark
def test_foreign_files_in_replaced_partitions_stop_the_run(spark, tmp_path):
    target, state = tmp_path / "out", str(tmp_path / "state")
    query, columns = "select 1 id, 'a' p", ("id int", "p string")
    job = write(
        connector, rows(query, *columns), path=str(target), file_format_type="parquet", partition_by=["p"],
        write_mode="overwrite_partitions",
    )  # fmt: skip
    run_writes(spark, [job], state, "first")
    (target / "p=b").mkdir()
    shutil.copy(next((target / "p=a").glob("*.parquet")), target / "p=b/other.parquet")
    (target / "_notes.txt").write_text("stays: the partition `p=a` is replaced, not the directory")
    run_writes(spark, [job], state, "second")
    shutil.copy(next((target / "p=a").glob("*.parquet")), target / "p=a/mine.parquet")
    with pytest.raises(RunError, match=r"PEN5030.*p=a/mine.parquet"):
        run_writes(spark, [job], state, "third")
    assert (target / "p=a/mine.parquet").exists()
    assert (target / "_notes.txt").exists()


@pytest.mark.spark
def test_a_dismissed_run_that_was_killed_between_two_renames_loses_no_old_rows(spark, tmp_path, monkeypatch):
    target, state = tmp_path / "out", str(tmp_path / "state")
    options = {"path": str(target), "file_format_type": "json", "data_save_mode": "DROP_DATA"}
    job = write(connector, rows("select 1 id", "id int"), **options)
    run_writes(spark, [job], state, "first")
    move = LocalFiles.move

    def killed_after_the_first(files, source, place):
        move(files, source, place)
        if place.endswith("/old"):
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(local_commit, "exchange", lambda new, old: False)  # a disk that cannot swap two directories
        patched.setattr(LocalFiles, "move", killed_after_the_first)
        with pytest.raises(Killed):
            run_writes(spark, [job], state, "cut")
    assert not target.exists()
    (dismissed,) = forget(layout_at(None, state), "cut").writes
    assert dismissed.state == "its commit may have begun; look at the target"
    run_writes(spark, [job], state, "next")
    assert spark.read.json(str(target)).count() == 1
    (put_aside,) = tmp_path.glob(".out.penstock.dismissed/*/old")
    assert spark.read.json(str(put_aside)).count() == 1
