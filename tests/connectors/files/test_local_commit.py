"""Commits of files on a local disk: small appends do not link the whole target anew."""

import os

import pytest

from connectors.files.committing.local_commit import commit_locally
from connectors.storage.local_files import LocalFiles
from tests.connectors.killed_commits import Killed, kill_at

MARK = "_penstock/run.json"


def stage(folder, *names):
    for name in (*names, MARK):
        path = folder / "staging/data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (folder / "target").mkdir(exist_ok=True)
    for number in range(50):
        (folder / "target" / f"old{number}.parquet").write_text("old")


def commit(folder, **named):
    commit_locally(LocalFiles(), "append", str(folder / "staging"), str(folder / "target"), **named)


@pytest.mark.parametrize(("names", "by_file", "links"), [
    (["a.parquet"], False, 0),
    (["day=1/a.parquet"], False, 0),
    (["a.parquet", "b.parquet"], True, 0),
    (["a.parquet", "b.parquet"], False, 53),
])  # fmt: skip
def test_an_append_of_one_file_or_of_a_micro_batch_links_nothing(tmp_path, monkeypatch, names, by_file, links):
    stage(tmp_path, *names)
    linked, real = [], os.link
    monkeypatch.setattr(os, "link", lambda *paths, **named: (linked.append(paths), real(*paths, **named)))
    commit(tmp_path, by_file=by_file)
    assert len(linked) == links
    assert all((tmp_path / "target" / name).read_text() == name for name in (*names, MARK))
    assert len(list((tmp_path / "target").glob("old*"))) == 50


def test_files_that_a_killed_commit_left_are_moved_by_the_next(tmp_path, monkeypatch):
    for number in range(1, 5):
        folder = tmp_path / str(number)
        folder.mkdir()
        stage(folder, "a.parquet", "b.parquet")
        with monkeypatch.context() as patched:
            kill_at(number, patched, [(LocalFiles, "rename"), (LocalFiles, "write")])
            try:
                commit(folder, by_file=True)
            except Killed:
                assert not (folder / "target" / MARK).exists()
        commit(folder, by_file=True)
        assert all((folder / "target" / name).exists() for name in ("a.parquet", "b.parquet", MARK))
