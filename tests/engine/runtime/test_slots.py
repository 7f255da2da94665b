"""Slots: first come, first served, with aging; a time-out; weights; connections."""

import threading
import time

from catalog.diagnostics.diagnostic import Diagnostic
from engine.runtime.schedule import FailurePolicy, Schedule
from engine.runtime.slots import Need, Slots
from engine.state.run_state import State


def order(slots: Slots, *wanted: tuple[str, int]) -> list[str]:
    """The order in which requests of these weights get their slots, of which another holds all but one at first."""
    slots.request("first", Need(slots.size - 1), since=0.0)
    for name, weight in wanted:
        slots.request(name, Need(weight), since=1.0)
    served, holding = [], []
    while holding := [*holding, *slots.grant(now=2.0)]:
        served += [name for name in holding if name not in served]
        slots.release(holding.pop(0))
    return served[1:]


def time_out(slots: Slots, name: str) -> Diagnostic:
    """The error of the only request that has waited too long."""
    ((late, error),) = slots.timed_out(5.0, now=5.0)
    (diagnostic,) = error.diagnostics
    assert (late, diagnostic.code) == (name, "PEN5050")
    return diagnostic


def test_a_smaller_request_overtakes_one_that_does_not_fit():
    assert order(Slots(2), ("wide", 2), ("narrow", 1)) == ["narrow", "wide"]


def test_nobody_overtakes_a_request_that_has_waited_long():
    assert order(Slots(2, aging_seconds=0.0), ("wide", 2), ("narrow", 1)) == ["wide", "narrow"]


def test_requests_of_one_size_are_served_in_their_order():
    assert order(Slots(2, aging_seconds=0.0), *((f"{n}", 2) for n in range(5))) == ["0", "1", "2", "3", "4"]


def test_requests_that_fit_are_served_in_their_order_whatever_they_need():
    slots = Slots(9)
    for number in range(6):
        slots.request(f"{number}", Need(1 + number % 2), since=0.0)
    assert list(slots.grant(now=0.0)) == ["0", "1", "2", "3", "4", "5"]


def test_connections_of_a_limited_system_are_waited_for_beside_slots():
    slots = Slots(4, connections={"db": 3})
    slots.request("first", Need(1, {"db": 2}), since=0.0)
    slots.request("of the database", Need(1, {"db": 2}), since=0.0)
    slots.request("of a file", Need(1), since=0.0)
    slots.request("of one connection", Need(1, {"db": 1}), since=0.0)
    assert list(slots.grant(now=0.0)) == ["first", "of a file", "of one connection"]
    slots.release("first")
    assert list(slots.grant(now=0.0)) == ["of the database"]


def test_an_aged_request_keeps_back_only_those_that_need_what_it_lacks():
    slots = Slots(4, aging_seconds=0.0, connections={"db": 3})
    slots.request("first", Need(1, {"db": 2}), since=0.0)
    slots.request("of the database", Need(1, {"db": 2}), since=0.0)
    slots.request("of one connection", Need(1, {"db": 1}), since=0.0)
    slots.request("of a file", Need(1), since=0.0)
    assert list(slots.grant(now=1.0)) == ["first", "of a file"]
    slots.release("first")
    assert list(slots.grant(now=1.0)) == ["of the database", "of one connection"]


def test_a_time_out_names_the_connections_that_are_missing():
    slots = Slots(4, connections={"db": 1})
    slots.request("first", Need(1, {"db": 1}), since=0.0)
    slots.request("second", Need(1, {"db": 1}), since=0.0)
    assert list(slots.grant(now=0.0)) == ["first"]
    diagnostic = time_out(slots, "second")
    assert diagnostic.message == "pipeline `second` waited 5 s for 1 of 1 connections to `db`"
    assert diagnostic.help == "raise `slot_timeout_seconds` or `max_connections`"


def test_a_request_times_out_and_says_who_holds_the_slots():
    slots = Slots(1)
    slots.request("first", Need(5), since=0.0)
    slots.request("second", Need(1), since=0.0)
    slots.request("third", Need(1), since=0.1)
    assert list(slots.grant(now=0.0)) == ["first"]
    diagnostic = time_out(slots, "second")
    assert diagnostic.message == "pipeline `second` waited 5 s for 1 of 1 slots"
    assert diagnostic.notes == ("they are held by `first` (1)",)
    slots.release("first")
    assert list(slots.grant(now=6.0)) == ["third"], "the second waits no more"


def test_time_outs_come_in_the_order_of_the_requests():
    slots = Slots(2)
    for name, weight in [("a", 2), ("b", 1), ("c", 2), ("d", 1)]:
        slots.request(name, Need(weight), since=0.0)
    assert list(slots.grant(now=0.0)) == ["a"]
    assert [name for name, _ in slots.timed_out(1.0, now=1.0)] == ["b", "c", "d"]


def test_many_requests_are_looked_through_quickly():
    """Of connections, there is one; slots are free all the time."""
    slots = Slots(8, connections={"db": 1})
    for number in range(5_000):
        slots.request(f"{number}", Need(1, {"db": 1}), since=0.0)
    started, served = time.perf_counter(), 0
    while granted := list(slots.grant(now=1.0)):
        served += len(granted)
        assert not list(slots.timed_out(60.0, now=1.0))
        slots.release(*granted)
    assert served == 5_000
    assert time.perf_counter() - started < 2.0


def test_a_schedule_never_gives_more_slots_than_there_are():
    weights = {"a": 2, "b": 1, "c": 1, "d": 9}
    needs = {name: Need(weight) for name, weight in weights.items()}
    running, most, lock = 0, 0, threading.Lock()

    def work(name):
        nonlocal running, most
        with lock:
            running += min(weights[name], 3)
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= min(weights[name], 3)

    outcomes = Schedule(list(weights), work, lambda name: None, slots=Slots(3), needs=needs).run()
    assert {outcome.state for outcome in outcomes} == {State.FINISHED}
    assert most == 3


def test_a_smaller_pipeline_overtakes_one_that_does_not_fit():
    needs = {"a": Need(1), "b": Need(2), "c": Need(1)}
    started, others = [], threading.Event()

    def work(name):
        started.append(name)
        if name == "a":
            assert others.wait(5), "c waits for b, which waits for a"
        elif name == "c":
            others.set()

    outcomes = Schedule(list(needs), work, lambda name: None, slots=Slots(2), needs=needs).run()
    assert {outcome.state for outcome in outcomes} == {State.FINISHED}
    assert started == ["a", "c", "b"]


def test_a_pipeline_whose_request_times_out_fails_and_tells_why():
    seen, failed = [], threading.Event()

    def observe(name, state, cause):
        seen.append((name, state, cause))
        if (name, state) == ("c", State.FAILED):
            failed.set()

    def work(name):
        assert failed.wait(5), "the others did not fail while this one held its slot"

    outcomes = Schedule(
        ["a", "b", "c"], work, lambda name: None, slots=Slots(1), slot_timeout=0.05, observe=observe,
        policy=FailurePolicy.CONTINUE,
    ).run()  # fmt: skip
    assert [outcome.state for outcome in outcomes] == [State.FINISHED, State.FAILED, State.FAILED]
    for name, outcome in zip("bc", outcomes[1:], strict=True):
        (diagnostic,) = outcome.error.diagnostics
        assert (diagnostic.code, diagnostic.notes) == ("PEN5050", ("they are held by `a` (1)",))
        assert [state for of, state, _ in seen if of == name] == [State.SCHEDULED, State.FAILING, State.FAILED]
    assert "waited" in next(cause for name, state, cause in seen if (name, state) == ("b", State.FAILED))


def test_a_time_out_stops_the_others_where_the_policy_says_so():
    cancelled = threading.Event()

    def work(name):
        assert cancelled.wait(5), "the time-out did not cancel this pipeline"
        raise RuntimeError("job cancelled")

    outcomes = Schedule(
        ["a", "b", "c"], work, lambda name: cancelled.set(), slots=Slots(1), slot_timeout=0.05
    ).run()  # fmt: skip
    assert [outcome.state for outcome in outcomes] == [State.CANCELED, State.FAILED, State.CANCELED]


def test_a_pipeline_that_can_start_at_once_does_not_time_out():
    outcomes = Schedule(["a", "b"], lambda name: None, lambda name: None, slots=Slots(2), slot_timeout=0.0).run()
    assert {outcome.state for outcome in outcomes} == {State.FINISHED}


def test_pipelines_that_wait_have_no_threads():
    def work(name):
        return threading.active_count()

    before = threading.active_count()
    outcomes = Schedule([f"{n}" for n in range(1_000)], work, lambda name: None, parallelism=4).run()
    assert max(outcome.value for outcome in outcomes) <= before + 4
