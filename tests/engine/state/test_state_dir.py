"""The state directory is where the job's root is, whatever the current folder; names in it never collide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.diagnostics.diagnostic import RunError
from catalog.options import Options
from engine.job.root import root_of
from engine.state.file_names import file_name
from engine.state.layout import layout_at
from engine.state.ledger import RunRecord, now, record
from engine.state.run_state import State
from engine.state.state_dir import state_dir


@pytest.fixture
def job(tmp_path, monkeypatch):
    monkeypatch.delenv("PENSTOCK_STATE_DIR", raising=False)
    path = tmp_path / "project" / "jobs" / "load.conf"
    path.parent.mkdir(parents=True)
    path.touch()
    (tmp_path / "elsewhere").mkdir()
    return path


def test_the_root_is_the_nearest_project_file_upwards_else_the_jobs_folder(tmp_path, job):
    assert root_of(job) == job.parent
    (tmp_path / "penstock.conf").touch()
    assert root_of(job) == tmp_path
    (tmp_path / "project" / "penstock.conf").touch()
    assert root_of(job) == tmp_path / "project"


def test_the_default_state_directory_does_not_follow_the_current_folder(tmp_path, job, monkeypatch):
    found = []
    for folder in (tmp_path, job.parent, tmp_path / "elsewhere"):
        monkeypatch.chdir(folder)
        found.append(layout_at(None, state_dir(None, job)).root)
    assert set(found) == {str(job.parent / ".penstock")}


def test_a_relative_directory_of_the_job_is_relative_to_its_root(tmp_path, job, monkeypatch):
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "project" / "penstock.conf").touch()
    assert state_dir(None, job, Options({"state_dir": "state"})) == str(tmp_path / "project" / "state")
    assert state_dir("here", job, Options({"state_dir": "state"})) == "here"
    assert state_dir(None, job, Options({"state_dir": "s3a://b/state"})) == "s3a://b/state"


def test_an_earlier_state_directory_in_the_current_folder_is_named_not_left_behind(tmp_path, job, monkeypatch):
    monkeypatch.chdir(tmp_path)
    earlier = layout_at(None, ".penstock")
    record(earlier, RunRecord("r1", "load", "project/jobs/load.conf", State.FINISHED, now()))
    with pytest.raises(RunError) as raised:
        state_dir(None, job)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "PEN5201"
    assert earlier.root in diagnostic.message
    assert "penstock.conf" in diagnostic.help
    assert state_dir(".penstock", job) == ".penstock"
    (tmp_path / "penstock.conf").touch()
    assert layout_at(None, state_dir(None, job)).root == earlier.root


def test_the_state_directory_of_other_jobs_in_the_current_folder_is_theirs(tmp_path, job, monkeypatch):
    monkeypatch.chdir(tmp_path)
    others = layout_at(None, ".penstock")
    record(others, RunRecord("r1", "load", "load.conf", State.FINISHED, now()))
    assert layout_at(None, state_dir(None, job)).root == str(job.parent / ".penstock")
    record(others, RunRecord("r2", "load", "project/jobs/load.conf", State.FINISHED, now()))
    others.mark()  # of this version: the job was run with `--state-dir .penstock`
    assert layout_at(None, state_dir(None, job)).root == str(job.parent / ".penstock")


@pytest.mark.parametrize(
    ("one", "other"),
    [("orders eu", "orders_eu"), ("заказы", "данные"), ("Orders", "orders"), ("a/b", "a_b"), ("", "_"), (".a", "a")],
)
def test_names_that_differ_have_files_that_differ(one, other):
    assert file_name(one) != file_name(other)


@given(st.lists(st.text(alphabet="aAbB_ ./-ж0", max_size=12), unique=True, max_size=8))
def test_names_of_files_are_unique_on_every_file_system(texts):
    names = {file_name(text).lower() for text in texts}
    assert len(names) == len(texts)
    assert all(name not in (".", "..") and "/" not in name for name in names)


def test_a_name_that_looks_like_another_with_its_hash_gets_a_hash_of_its_own():
    hashed = file_name("orders eu")
    assert file_name(hashed) != hashed


def test_plain_names_stay_as_they_are():
    assert file_name("orders_eu-2.v1") == "orders_eu-2.v1"
