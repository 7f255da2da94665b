"""The order in which jobs of a project run side by side, and what a failure skips."""

import threading

import pytest

from engine.orchestration.run_in_order import run_in_order
from engine.project.recorded_state import JobStatus

DIAMOND = {"a": frozenset(), "b": frozenset("a"), "c": frozenset("a"), "d": frozenset("abc"), "e": frozenset()}


def ended(fails: str = "", *, workers: int = 3, keeps_going: bool = True) -> tuple[list[str], dict[str, JobStatus]]:
    started: list[str] = []

    def run(name: str) -> bool:
        started.append(name)
        return name not in fails

    return started, dict(run_in_order("abcde", DIAMOND, run, workers=workers, keeps_going=keeps_going))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_job_runs_after_those_that_it_needs(workers):
    started, statuses = ended(workers=workers)
    assert set(statuses.values()) == {JobStatus.SUCCESS}
    assert sorted(started) == list("abcde")
    assert started.index("a") < min(started.index("b"), started.index("c")) < started.index("d")


def test_what_needs_a_failed_job_is_skipped_and_the_rest_runs():
    started, statuses = ended("b")
    assert sorted(started) == list("abce")
    assert (statuses["b"], statuses["d"]) == (JobStatus.ERROR, JobStatus.SKIPPED)
    assert statuses["c"] is statuses["e"] is JobStatus.SUCCESS


def test_what_needs_a_skipped_job_is_skipped():
    chain = {"a": frozenset(), "b": frozenset("a"), "c": frozenset("ab")}
    statuses = dict(run_in_order("abc", chain, lambda name: False, workers=2, keeps_going=True))
    assert statuses == {"a": JobStatus.ERROR, "b": JobStatus.SKIPPED, "c": JobStatus.SKIPPED}


def test_without_keep_going_no_job_starts_after_a_failure():
    started, statuses = ended("a", workers=1, keeps_going=False)
    assert started == ["a"]
    assert [name for name, status in statuses.items() if status is JobStatus.SKIPPED] == list("bcde")


def test_independent_jobs_run_side_by_side():
    together = threading.Barrier(2, timeout=30)

    def run(name: str) -> bool:
        together.wait()
        return True

    parents = {"a": frozenset(), "b": frozenset()}
    assert dict(run_in_order("ab", parents, run, workers=2, keeps_going=True)) == dict.fromkeys("ab", JobStatus.SUCCESS)


def test_a_stopped_command_skips_what_has_not_started():
    stopped = threading.Event()

    def run(name: str) -> bool:
        stopped.set()
        return True

    statuses = dict(run_in_order("abcde", DIAMOND, run, workers=1, keeps_going=True, is_stopped=stopped.is_set))
    assert [name for name, status in statuses.items() if status is JobStatus.SUCCESS] == ["a"]
