"""A run id names one piece of work: it is not repeated, and another plan is refused under it."""

import pytest

pytest.importorskip("pyspark")

from engine.cli import main

pytestmark = pytest.mark.spark

JOB = """
env { parallelism = 2 }
source { LocalFile { plugin_output = "events", path = "in", file_format_type = "csv", schema { fields { id = int } } } }
transform { Sql { plugin_input = events, plugin_output = chosen, query = "select id from events where id > 0" } }
sink { LocalFile { plugin_input = chosen, path = "out", file_format_type = "parquet" } }
"""

OTHER_WORK = {
    "id > 0": ("id > 1", "the query of `chosen` differs"),
    'path = "in"': ('path = "in2"', "`path` of `events` differs"),
    'path = "out"': ('path = "out2"', "`out2` (added), `out` (removed) differ"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("PENSTOCK_STATE_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("in", "in2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.csv").write_text("1\n2\n")
    return tmp_path


def run(folder, text=JOB, name="load.conf", run_id="d1"):
    (folder / name).write_text(text)
    return main(["run", name, "--run-id", run_id])


def ids(spark, folder):
    return sorted(row.id for row in spark.read.parquet(str(folder / "out")).collect())


def test_another_plan_under_a_committed_run_id_is_refused(spark, folder, capsys):
    assert run(folder) == 0
    for before, (after, named) in OTHER_WORK.items():
        assert run(folder, JOB.replace(before, after)) == 1, before
        said = capsys.readouterr().err
        assert "PEN5220" in said
        assert named in said
    assert ids(spark, folder) == [1, 2]
    assert not (folder / "out2").exists()
    same = JOB.replace("id > 0", "id  > 0 -- known").replace("chosen", "wanted").replace("parallelism = 2", "")
    assert run(folder, same) == 0
    assert "is committed already: nothing was written" in capsys.readouterr().out
    assert ids(spark, folder) == [1, 2]
    assert run(folder, JOB.replace("id > 0", "id > 1"), run_id="d2") == 0
    assert ids(spark, folder) == [1, 2, 2]


def test_a_run_id_that_has_committed_nothing_takes_an_edited_plan(spark, folder, capsys):
    assert run(folder, JOB.replace("id > 0", "1 / (id - 1) > 0")) == 1
    capsys.readouterr()
    assert run(folder) == 0
    assert ids(spark, folder) == [1, 2]


def test_the_jobs_of_one_run_id_are_told_apart(spark, folder, capsys):
    """A job that is inserted between two is the only one that runs; an edited one is refused by its own id."""
    for name in ("a", "c"):
        (folder / f"{name}.conf").write_text(JOB)
    assert main(["run", "a.conf", "c.conf", "--run-id", "d1"]) == 0
    (folder / "b.conf").write_text(JOB)
    assert main(["run", "a.conf", "b.conf", "c.conf", "--run-id", "d1"]) == 0
    assert ids(spark, folder) == [1, 1, 1, 2, 2, 2]
    (folder / "c.conf").write_text(JOB.replace("id > 0", "id > 1"))
    assert main(["run", "a.conf", "b.conf", "c.conf", "--run-id", "d1"]) == 1
    assert "run `d1.c` has committed another plan" in capsys.readouterr().err
    assert ids(spark, folder) == [1, 1, 1, 2, 2, 2]
