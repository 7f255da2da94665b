"""`--keep-going` goes on after a bug of one job, as after any other error."""

import pytest

from connectors.local_file import LocalFile
from engine.cli import main

JOB = """
source {{ FakeSource {{ row.num = 3, schema {{ fields {{ id = int }} }} }} }}
sink {{ LocalFile {{ path = "out/{name}", file_format_type = parquet }} }}
"""

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("is_project", [False, True])
def test_keep_going_goes_on_after_an_internal_error(spark, tmp_path, monkeypatch, capsys, is_project):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()
    for name in "ab":
        (tmp_path / "jobs" / f"{name}.conf").write_text(JOB.format(name=name))
    inspect = LocalFile.inspect

    def broken(self, session, task):
        if task.options.string("path").endswith("/a"):
            raise ValueError("a bug")
        return inspect(self, session, task)

    monkeypatch.setattr(LocalFile, "inspect", broken)
    jobs = [] if is_project else ["jobs/a.conf", "jobs/b.conf"]
    if is_project:
        (tmp_path / "penstock.conf").write_text("name = two\n")
    assert main(["run", *jobs, "--keep-going"]) == 1
    out, err = capsys.readouterr()
    assert "error[PEN9001]: ValueError: a bug" in out + err
    assert "2 jobs: 1 finished, 1 failed" in out or "2 jobs: 1 success, 1 error" in out
    assert not (tmp_path / "out" / "a").exists()
    assert spark.read.parquet(str(tmp_path / "out" / "b")).count() == 3
