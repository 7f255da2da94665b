"""Pipelines side by side, retried where the error is transient, stopped where a neighbour fails."""

import threading
import time

import pytest

from catalog.diagnostics.diagnostic import run_error
from engine.runtime.schedule import FailurePolicy, PipelineOutcome, Retry, Schedule
from engine.state.run_state import FOLLOWERS, State, follow

NO_WAIT = Retry(times=3, interval_seconds=0.0)


def nothing(name: str) -> None:
    pass


def states(outcomes: tuple[PipelineOutcome[object], ...]) -> dict[str, State]:
    return {outcome.name: outcome.state for outcome in outcomes}


def test_all_finish_in_order_and_give_their_values():
    outcomes = Schedule(["a", "b", "c"], lambda name: name * 2, nothing).run()
    assert [(outcome.name, outcome.value, outcome.attempts) for outcome in outcomes] == [
        ("a", "aa", 1),
        ("b", "bb", 1),
        ("c", "cc", 1),
    ]
    assert set(states(outcomes).values()) == {State.FINISHED}


def test_never_more_at_once_than_the_parallelism():
    running, most, lock = 0, 0, threading.Lock()

    def work(name: str) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1

    Schedule([str(i) for i in range(7)], work, nothing, parallelism=3).run()
    assert most == 3


def test_a_transient_error_is_retried_until_it_passes():
    tries = []

    def work(name: str) -> int:
        tries.append(name)
        if len(tries) < 3:
            raise OSError("connection reset")
        return len(tries)

    (outcome,) = Schedule(["a"], work, nothing, retry=NO_WAIT).run()
    assert (outcome.state, outcome.attempts, outcome.value) == (State.FINISHED, 3, 3)


def test_a_transient_error_that_stays_fails_after_the_last_try():
    def work(name: str) -> None:
        raise OSError("connection reset")

    (outcome,) = Schedule(["a"], work, nothing, retry=Retry(2, 0.0)).run()
    assert (outcome.state, outcome.attempts, str(outcome.error)) == (State.FAILED, 3, "connection reset")


def test_a_permanent_error_is_never_retried():
    def work(name: str) -> None:
        raise run_error("PEN5006", "an Assert rule is broken")

    (outcome,) = Schedule(["a"], work, nothing, retry=NO_WAIT).run()
    assert (outcome.state, outcome.attempts) == (State.FAILED, 1)


def test_a_failure_stops_the_others_and_starts_no_more():
    cancelled = threading.Event()

    def work(name: str) -> None:
        if name == "bad":
            raise ValueError("[DIVIDE_BY_ZERO] SQLSTATE: 22012")
        assert cancelled.wait(5), "the failure did not cancel this pipeline"
        raise RuntimeError("job cancelled")

    outcomes = Schedule(["slow", "bad", "later"], work, lambda name: cancelled.set(), retry=NO_WAIT).run()
    assert states(outcomes) == {"slow": State.CANCELED, "bad": State.FAILED, "later": State.CANCELED}
    assert outcomes[2].attempts == 0


def test_the_others_go_on_where_the_policy_says_so():
    def work(name: str) -> None:
        if name == "bad":
            raise run_error("PEN5006", "an Assert rule is broken")

    outcomes = Schedule(["bad", "b", "c"], work, nothing, parallelism=1, policy=FailurePolicy.CONTINUE).run()
    assert states(outcomes) == {"bad": State.FAILED, "b": State.FINISHED, "c": State.FINISHED}


def test_an_interrupt_cancels_what_runs_and_comes_through():
    cancelled, started = threading.Event(), threading.Event()
    seen: list[tuple[str, State]] = []

    def work(name: str) -> None:
        started.set()
        cancelled.wait(5)
        raise RuntimeError("job cancelled")

    def observe(name: str, state: State, cause: str | None) -> None:
        seen.append((name, state))

    schedule = Schedule(["a", "b"], work, lambda name: cancelled.set(), parallelism=1, observe=observe)

    def interrupted(pending):
        assert started.wait(5)
        raise KeyboardInterrupt

    schedule._watch = interrupted
    with pytest.raises(KeyboardInterrupt):
        schedule.run()
    assert ("a", State.CANCELED) in seen
    assert ("b", State.CANCELED) in seen


def test_states_follow_only_as_the_table_says():
    for state in State:
        for to in State:
            if to in FOLLOWERS[state]:
                assert follow(state, to) is to
            else:
                with pytest.raises(ValueError, match="does not follow"):
                    follow(state, to)
    assert {state for state in State if state.is_final} == {State.FINISHED, State.FAILED, State.CANCELED}


def test_the_error_of_a_cancelled_pipeline_is_no_cause_of_the_job_s_end():
    pytest.importorskip("pyspark")
    from engine.runtime.job_execution import causes

    failed, cancelled = RuntimeError("no such table"), RuntimeError("Job 0 cancelled")
    outcomes = (
        PipelineOutcome("a", State.CANCELED, 1, 0.0, None, cancelled),
        PipelineOutcome("b", State.FAILED, 1, 0.0, None, failed),
        PipelineOutcome("c", State.FINISHED, 1, 0.0),
    )
    assert causes(outcomes) == (failed,)
    assert causes(outcomes[:1]) == (cancelled,)
