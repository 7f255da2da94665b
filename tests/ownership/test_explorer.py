"""Every order of the steps of several processes that run and end the same runs leads to right rows."""

import os

import pytest

from connectors.files.committing.file_staged import APPEND, REPLACE
from tests.ownership.explorer import Explorer, replay
from tests.ownership.model_store import Content, CopyingFiles, ModelFiles
from tests.ownership.programs import STATE, TARGET, Store, resumer, writer

pytestmark = pytest.mark.slow
SWITCHES = int(os.environ.get("PENSTOCK_EXPLORED_SWITCHES", "0"))
"""More interruptions than in the ordinary suite: `make soak` sets it."""

START = {f"{TARGET}/old": "old rows", f"{STATE}/open/.listed": ""}


class Ends:
    """Checks the end of each order: what is open is ended by one more process, then the rows must be right."""

    def __init__(self, runs: tuple[str, ...], files: type[ModelFiles], mode: str = APPEND, parts: int = 1) -> None:
        self.runs, self.files, self.mode, self.parts = runs, files, mode, parts
        self.ended: dict[frozenset[tuple[str, str]], Content] = {}
        self.results: set[tuple[object, ...]] = set()

    def __call__(self, content: Content, results: tuple[object, ...]) -> None:
        self.results.add(tuple(str(result).partition("`")[0] for result in results))
        key = frozenset(content.items())
        if key not in self.ended:
            self.ended[key] = self.end(content)
        found = self.ended[key]
        rows = {run: [name for name in found if name.startswith(f"{TARGET}/{run}-")] for run in self.runs}
        for run, names in rows.items():
            assert len(names) in (0, self.parts), (run, results, found)
            marked = f"{TARGET}/_penstock/{run}.w.json" in found
            assert marked == bool(names), (run, results, found)
        assert (f"{TARGET}/old" in found) == (self.mode == APPEND or not any(rows.values())), (results, found)
        for run, result in zip(self.runs, results, strict=False):  # the first programs are the writers
            assert result != "finished" or self.mode != APPEND or rows[run], (results, found)

    def end(self, content: Content) -> Content:
        store = Store(content, self.files)
        for run in [name.rpartition("/")[2] for name in content if name.startswith(f"{STATE}/open/")]:
            if run != ".listed":
                result = replay(resumer(run), type(store), len(self.runs) + 7, (), live=store)
                is_over = result in ("finished", "rolled back") or "PEN5008" in str(result)  # has ended; never began
                assert is_over, (run, result, content)
        again = replay(writer("last"), type(store), len(self.runs) + 8, (), live=store)
        assert again == "finished", (again, content)
        left = [name for name in store.content if name.startswith("/out/.t")]
        assert not left, (left, content)
        return store.content


def explored(programs, ends: Ends, **bounds) -> int:
    bounds["switches"] += SWITCHES
    return Explorer(programs, ends.files, ends, **bounds).explore(START)


@pytest.mark.parametrize("mode", [APPEND, pytest.param(REPLACE, marks=pytest.mark.soak)])
def test_two_processes_that_end_one_killed_run(mode):
    """The proven loss: two processes ended one decided run, and rows were lost."""
    ends = Ends(("r",), ModelFiles, mode, parts=2)
    programs = (writer("r", mode, parts=2), resumer("r"), resumer("r"))
    assert explored(programs, ends, crashes=2, pauses=0, switches=0) > 1_000
    assert any("finished" in result for result in ends.results)


def test_a_paused_run_that_wakes_up_commits_nothing():
    ends = Ends(("r",), ModelFiles)
    explored((writer("r"), resumer("r")), ends, crashes=0, pauses=1, switches=2)
    assert any(result[0].startswith("[PEN5401] another") or "PEN5401" in result[0] for result in ends.results)
    assert any(result[1] == "rolled back" for result in ends.results)


@pytest.mark.parametrize(("crashes", "pauses"), [(1, 0), (0, 1), pytest.param(1, 1, marks=pytest.mark.soak)])
def test_two_runs_on_one_target(crashes, pauses):
    """The other proven loss: a lock was held twice, since ending a killed run deleted the one just taken."""
    ends = Ends(("r", "s"), ModelFiles)
    explored((writer("r"), writer("s"), resumer("r")), ends, crashes=crashes, pauses=pauses, switches=1)
    assert any(result[1] == "finished" for result in ends.results)


def test_a_store_whose_rename_copies():
    ends = Ends(("r",), CopyingFiles, REPLACE, parts=2)
    explored((writer("r", REPLACE, parts=2), resumer("r")), ends, crashes=1, pauses=1, switches=1)


def test_two_processes_that_begin_one_run_id():
    ends = Ends(("r",), ModelFiles)
    explored((writer("r"), writer("r"), resumer("r")), ends, crashes=1, pauses=1, switches=0)
