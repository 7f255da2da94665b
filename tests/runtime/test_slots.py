"""Slots: first come, first served, with aging; a time-out; weights; connections."""

import threading
import time

import pytest

from catalog.diagnostics import RunError
from engine.runtime.schedule import Schedule
from engine.runtime.slots import Need, Slots
from engine.runtime.states import State


def requests(slots, *wanted, timeout=None):
    """Have requests of these weights come one after another while all slots are held; the order in which they got
    theirs."""
    order, release = [], threading.Event()

    def ask(name, weight):
        with slots.held(name, Need(weight), since=time.monotonic(), timeout=timeout, is_stopped=lambda: False):
            order.append(name)
            time.sleep(0.02)

    with slots.held("first", Need(slots.size - 1), since=time.monotonic(), timeout=None, is_stopped=lambda: False):
        threads = [threading.Thread(target=ask, args=each) for each in wanted]
        for thread in threads:
            thread.start()
            time.sleep(0.05)
        release.set()
    for thread in threads:
        thread.join(5)
    return order


def test_a_smaller_request_overtakes_one_that_does_not_fit():
    assert requests(Slots(2), ("wide", 2), ("narrow", 1)) == ["narrow", "wide"]


def test_nobody_overtakes_a_request_that_has_waited_long():
    assert requests(Slots(2, aging_seconds=0.0), ("wide", 2), ("narrow", 1)) == ["wide", "narrow"]


def test_requests_of_one_size_are_served_in_their_order():
    assert requests(Slots(2, aging_seconds=0.0), *((f"{n}", 2) for n in range(5))) == ["0", "1", "2", "3", "4"]


def test_connections_of_a_limited_system_are_waited_for_beside_slots():
    slots, ended = Slots(4, connections={"db": 3}), []
    now = time.monotonic()

    def ask(name, connections):
        need = Need(1, connections)
        with slots.held(name, need, since=time.monotonic(), timeout=None, is_stopped=lambda: False):
            ended.append(name)

    with slots.held("first", Need(1, {"db": 2}), since=now, timeout=None, is_stopped=lambda: False):
        waiting = threading.Thread(target=ask, args=("of the database", {"db": 2}))
        waiting.start()
        time.sleep(0.05)
        ask("of a file", {})  # it takes nothing that the earlier request lacks
        ask("of one connection", {"db": 1})
        assert ended == ["of a file", "of one connection"]
    waiting.join(5)
    assert ended[-1] == "of the database"


def test_a_time_out_names_the_connections_that_are_missing():
    slots, now = Slots(4, connections={"db": 1}), time.monotonic()
    need = Need(1, {"db": 1})
    with (
        slots.held("first", need, since=now, timeout=None, is_stopped=lambda: False),
        pytest.raises(RunError, match="for 1 of 1 connections to `db`") as refused,
        slots.held("second", need, since=now, timeout=0.05, is_stopped=lambda: False),
    ):
        pytest.fail("it has no connection")
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.help == "raise `slot_timeout_seconds` or `max_connections`"


def test_a_request_times_out_and_says_who_holds_the_slots():
    slots = Slots(1)
    now = time.monotonic()
    with (
        slots.held("first", Need(5), since=now, timeout=None, is_stopped=lambda: False),
        pytest.raises(RunError, match="waited 0 s for 1 of 1 slots") as refused,
        slots.held("second", Need(1), since=now, timeout=0.05, is_stopped=lambda: False),
    ):
        pytest.fail("it has no slot")
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "PEN5050"
    assert diagnostic.notes == ("they are held by `first` (1)",)


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


def test_a_pipeline_whose_request_times_out_fails_and_tells_why():
    seen = []

    def work(name):
        time.sleep(0.5)

    outcomes = Schedule(
        ["a", "b"], work, lambda name: None, slots=Slots(1), slot_timeout=0.05,
        observe=lambda name, state, cause: seen.append((name, state, cause)),
    ).run()  # fmt: skip
    assert outcomes[1].state is State.FAILED
    assert outcomes[1].error.diagnostics[0].code == "PEN5050"
    assert [state for name, state, _ in seen if name == "b"] == [State.SCHEDULED, State.FAILING, State.FAILED]
    assert "waited" in next(cause for name, state, cause in seen if (name, state) == ("b", State.FAILED))
