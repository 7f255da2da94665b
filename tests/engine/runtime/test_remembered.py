"""What is remembered of incremental sources belongs to what was read and written: the table of docs/incremental.md."""

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main

pytestmark = pytest.mark.spark

JOB = """
source { LocalFile {
  plugin_output = "events", path = "FOLDER/in", file_format_type = "csv", EXPECTATIONS
  schema { fields { id = int, at = int } }, incremental { column = at }
} }
transform { Sql { plugin_input = events, plugin_output = chosen, query = "select id from events where id > 0" } }
sink { LocalFile { plugin_input = chosen, path = "FOLDER/${target:out}", file_format_type = "parquet" } }
"""
RULES = 'expectations = [{ name = known, condition = "id is not null", on_violation = WARN }],'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("PENSTOCK_STATE_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penstock.conf").touch()
    (tmp_path / "in").mkdir()
    arrive(tmp_path, 1)
    return tmp_path


ROWS = {
    "the job runs for another environment, whose target is another": "test_two_environments_are_two_targets",
    "it runs from another current folder": "test_another_current_folder_changes_nothing",
    "another folder has a job file of the same name": "test_jobs_of_one_name_in_two_folders_are_two_jobs",
    "another job reads and writes the same, from a source of the same name": (
        "test_two_jobs_of_one_watermark_are_refused_by_name"
    ),
    "the file of the job is renamed or moved": "test_a_renamed_file_goes_on",
    "the project is moved, with its state directory and what it reads and writes": "test_a_moved_project_goes_on",
    "a query of the job is edited": "test_an_edited_query_goes_on",
    "an expectation or a `query` is added to the source": "test_an_added_expectation_goes_on",
    "the source is renamed": "test_a_renamed_source_is_refused_until_its_uid_says_what_it_was",
    "the source reads another path or table, or by another column": "test_another_location_or_column_is_refused",
    "a target is added beside others of the source": "test_a_new_target_is_refused_beside_one_that_has_rows",
    "the target is deleted": "test_a_deleted_target_is_an_error_until_a_full_refresh",
    "the state directory is lost, or is another one": "test_a_lost_state_directory_does_not_add_all_rows_again",
    "an older copy of the state directory is restored": "test_a_lost_state_directory_does_not_add_all_rows_again",
}
"""The rows of the table in docs/incremental.md, and the test that runs each."""


def test_each_row_of_the_page_has_a_test():
    page = (Path(__file__).parents[3] / "docs" / "incremental.md").read_text()
    table = page.partition("| What happens |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    assert rows == list(ROWS)
    assert all(name in globals() for name in ROWS.values())


def arrive(folder, id):
    (folder / "in" / f"{id}.csv").write_text(f"{id},{id}\n")


def job(folder, name="jobs/load.conf", text=JOB, rules=""):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.replace("FOLDER", str(folder)).replace("EXPECTATIONS", rules))
    return path


def run(path, *arguments):
    return main(["run", str(path), "--quiet", *arguments])


def ids(spark, folder, name="out"):
    path = folder / name
    return sorted(row.id for row in spark.read.parquet(str(path)).collect()) if path.exists() else []


def first_day(spark, folder, **of_job):
    path = job(folder, **of_job)
    assert run(path) == 0
    assert ids(spark, folder) == [1]
    arrive(folder, 2)
    return path


def test_two_environments_are_two_targets(spark, folder):
    path = job(folder)
    assert run(path, "-i", "target=dev") == 0
    assert run(path, "-i", "target=prod") == 0
    arrive(folder, 2)
    assert run(path, "-i", "target=dev") == 0
    assert [ids(spark, folder, name) for name in ("dev", "prod")] == [[1, 2], [1]]


def test_another_current_folder_changes_nothing(spark, folder, monkeypatch):
    path = first_day(spark, folder)
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2]
    assert not (folder / "elsewhere" / ".penstock").exists()


def test_jobs_of_one_name_in_two_folders_are_two_jobs(spark, folder):
    """Where they write to different targets; where they read and write the same, the second is refused."""
    path = first_day(spark, folder)
    other = job(folder, "more/load.conf", JOB.replace(":out}", ":two}"))
    assert run(other) == 0
    assert run(path) == 0
    assert [ids(spark, folder, name) for name in ("out", "two")] == [[1, 2], [1, 2]]


def test_a_moved_project_goes_on(spark, folder, monkeypatch, capsys):
    """Its paths are relative to its root. Back in the first folder, it goes on from where it is then."""
    here = folder / "here"
    here.mkdir()
    (here / "penstock.conf").touch()
    (folder / "in").rename(here / "in")
    job(here, text=JOB.replace("FOLDER/", ""))
    path, found = Path("jobs/load.conf"), []
    for number, name in enumerate(("here", "there", "here"), 1):
        if number > 1:
            here = here.rename(folder / name)
            arrive(here, number)
        monkeypatch.chdir(here)
        if number == 2:
            assert main(["state", str(path)]) == 0
            assert "none: the next run reads all" not in capsys.readouterr().out
        assert run(path) == 0, capsys.readouterr().err
        found.append(ids(spark, here))
    assert found == [[1], [1, 2], [1, 2, 3]]
    shutil.copytree(here, folder / "copy")
    monkeypatch.chdir(folder / "copy")
    assert main(["state", str(path), "--reset", "events"]) == 0
    assert main(["state", str(path)]) == 0
    assert "none: the next run reads all" in capsys.readouterr().out


def test_two_jobs_of_one_watermark_are_refused_by_name(spark, folder, capsys):
    first_day(spark, folder)
    other = job(folder, "more/load.conf")
    assert run(other) == 1
    said = capsys.readouterr().err
    assert "PEN5206" in said
    assert "`more/load.conf` and of `jobs/load.conf`" in said
    own = JOB.replace('plugin_output = "events"', 'uid = mine, plugin_output = "events"')
    assert run(job(folder, "more/load.conf", own)) == 1
    assert "PEN5464" in capsys.readouterr().err  # it would add the rows of the other one again
    begins = own.replace("column = at }", "column = at, initial = 0 }")
    assert begins != own
    assert run(job(folder, "more/load.conf", begins)) == 0


def test_a_second_job_adds_other_data_to_the_target_of_one_with_a_watermark(spark, folder):
    first_day(spark, folder)
    (folder / "others").mkdir()
    (folder / "others" / "7.csv").write_text("7,7\n")
    others = JOB.replace("FOLDER/in", "FOLDER/others")
    assert others != JOB
    assert run(job(folder, "jobs/others.conf", others)) == 0
    assert ids(spark, folder) == [1, 7]


def test_a_lost_state_directory_does_not_add_all_rows_again(spark, folder, capsys):
    path = first_day(spark, folder)
    (folder / ".penstock").rename(folder / "lost")
    arrive(folder, 2)
    assert run(path) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "error[PEN5464]: no run of this state directory has read `events`, and the target of `out` has rows" in said
    assert ids(spark, folder) == [1]
    assert main(["state", str(path), "--reset", "events", "--to", "1"]) == 0
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2]
    shutil.copytree(folder / ".penstock", folder / "copy")
    arrive(folder, 3)
    assert run(path) == 0
    shutil.rmtree(folder / ".penstock")
    (folder / "copy").rename(folder / ".penstock")
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2, 3, 3]  # what has come since is read again, as the page says


def test_a_renamed_file_goes_on(spark, folder):
    path = first_day(spark, folder)
    renamed = path.rename(folder / "hourly.conf")
    assert run(renamed) == 0
    assert ids(spark, folder) == [1, 2]


def test_a_renamed_source_is_refused_until_its_uid_says_what_it_was(spark, folder, capsys):
    first_day(spark, folder)
    renamed = JOB.replace('"events"', '"clicks"').replace("= events", "= clicks").replace("from events", "from clicks")
    assert run(job(folder, text=renamed)) == 1
    assert "PEN5207" in capsys.readouterr().err
    assert run(job(folder, text=renamed.replace("LocalFile {\n", "LocalFile { uid = events\n", 1))) == 0
    assert ids(spark, folder) == [1, 2]


def test_an_edited_query_goes_on(spark, folder):
    first_day(spark, folder)
    assert run(job(folder, text=JOB.replace("id > 0", "id > 0 and id < 9"))) == 0
    assert ids(spark, folder) == [1, 2]


def test_an_added_expectation_goes_on(spark, folder, capsys):
    first_day(spark, folder)
    path = job(folder, rules=RULES)
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2]
    capsys.readouterr()
    assert main(["state", str(path)]) == 0
    assert "unchecked" not in capsys.readouterr().out


def test_another_location_or_column_is_refused(spark, folder, capsys):
    first_day(spark, folder)
    shutil.copytree(folder / "in", folder / "moved")
    assert run(job(folder, text=JOB.replace("FOLDER/in", "FOLDER/moved"))) == 1
    assert run(job(folder, text=JOB.replace("column = at", "column = id"))) == 1
    assert capsys.readouterr().err.count("PEN5015") == 2
    assert ids(spark, folder) == [1]


def test_a_new_target_is_refused_beside_one_that_has_rows(spark, folder, capsys):
    first_day(spark, folder)
    two = JOB + 'sink { LocalFile { plugin_input = chosen, path = "FOLDER/two", file_format_type = "parquet" } }\n'
    path = job(folder, text=two)
    assert run(path) == 1
    assert "PEN5202" in capsys.readouterr().err
    assert main(["state", str(path), "--reset", "events", "--to", "1"]) == 0
    assert run(path) == 0
    assert [ids(spark, folder, name) for name in ("out", "two")] == [[1, 2], [2]]


def test_a_deleted_target_is_an_error_until_a_full_refresh(spark, folder, capsys):
    path = first_day(spark, folder)
    shutil.rmtree(folder / "out")
    assert run(path) == 1
    said = capsys.readouterr().err
    assert "PEN5204" in said
    assert "--full-refresh" in said
    assert not (folder / "out").exists()
    assert run(path, "--full-refresh") == 0
    arrive(folder, 3)
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2, 3]


def test_a_full_refresh_adds_no_rows_twice(spark, folder, capsys):
    path = first_day(spark, folder)
    assert run(path, "--full-refresh") == 1
    assert "PEN5205" in capsys.readouterr().err
    assert ids(spark, folder) == [1]
    replacing = JOB.replace('file_format_type = "parquet"', 'file_format_type = "parquet", data_save_mode = DROP_DATA')
    assert run(job(folder, text=replacing), "--full-refresh") == 0
    assert ids(spark, folder) == [1, 2]


def as_earlier_version(folder, *, targets=True):
    """The state directory as a version before this layout left it."""
    (path,) = (folder / ".penstock" / "incremental").rglob("*.json")
    mark = json.loads(path.read_text())
    shutil.rmtree(folder / ".penstock" / "incremental")
    old = {"job": "load", "node": "events", "column": "at", "location": str(folder / "in"), "value": mark["value"],
           "previous": None, "run_id": mark["run_id"] if targets else "", "at": mark["at"]}  # fmt: skip
    place = folder / ".penstock" / "watermarks" / "load" / "events.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(old))
    return place


def test_a_watermark_of_an_earlier_version_is_taken_over(spark, folder):
    path = first_day(spark, folder)
    place = as_earlier_version(folder)
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2]
    assert not place.exists()
    arrive(folder, 3)
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2, 3]


@pytest.mark.parametrize(("targets", "target"), [(False, "out"), (True, "prod")])
def test_a_watermark_of_an_earlier_version_that_may_be_of_other_targets_is_refused(
    spark, folder, capsys, targets, target
):
    path = first_day(spark, folder)
    as_earlier_version(folder, targets=targets)
    assert run(path, "-i", f"target={target}") == 1
    assert "PEN5203" in capsys.readouterr().err
    assert main(["state", str(path), "-i", f"target={target}", "--reset", "events", "--to", "1"]) == 0
    assert run(path, "-i", f"target={target}") == 0
    assert ids(spark, folder, target) == ([1, 2] if target == "out" else [2])


@pytest.mark.delta
def test_a_target_that_was_replaced_by_another_is_refused(spark, folder, capsys):
    """The watermark records which table it was written to, also where its run made the table."""
    files, table = ', file_format_type = "parquet" }', " }"
    delta = JOB.replace("LocalFile { plugin_input", "Delta { plugin_input").replace(files, table)
    path = job(folder, text=delta)
    assert run(path) == 0, capsys.readouterr().err
    shutil.rmtree(folder / "out")
    spark.sql(f"create table delta.`{folder}/out` (id int) using delta")
    arrive(folder, 2)
    assert run(path) == 1
    assert "was replaced by another since" in capsys.readouterr().err
    assert spark.read.format("delta").load(str(folder / "out")).count() == 0
