"""The ledger of done intervals in the state directory."""

from datetime import datetime, timedelta, timezone

import pytest

from catalog.diagnostics.diagnostic import RunError
from engine.job.model.intervals import TimeInterval
from engine.state.interval_ledger import (
    DoneInterval,
    LedgerKey,
    begun,
    entries_of,
    forget_done,
    ledgers_beside,
    record_done,
    record_of,
    refuse_done_meanwhile,
)
from engine.state.layout import layout_at

KEY = LedgerKey("file:///in", "file:///out")
START = datetime(2024, 2, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)


def done(run_id: str, day: int = 0, *, fingerprint: str = "aa", known: int = 1, key: LedgerKey = KEY) -> DoneInterval:
    interval = TimeInterval(START + day * DAY, START + (day + 1) * DAY)
    return DoneInterval(key, interval, fingerprint, START + known * DAY, run_id, at=f"2024-02-01T00:00:0{known}Z")


@pytest.fixture
def layout(tmp_path):
    return layout_at(None, str(tmp_path / "state"))


def test_a_record_survives_its_way_through_the_journal():
    record = done("first")
    assert DoneInterval.from_json(record.to_json()) == record


def test_an_interval_that_is_done_again_has_one_record(layout):
    record_done(layout, [done("first"), done("first", 1)])
    (again,) = begun([done("second", fingerprint="bb", known=3)], layout)
    assert again.replaced == "first"
    record_done(layout, [again])
    record_done(layout, [again])
    assert len(entries_of(layout, KEY)) == 2
    assert record_of(layout, KEY, again.interval) == again
    assert len(layout.files.children(layout.intervals(KEY.digest))) == 2


def test_what_another_run_has_done_meanwhile_is_not_replaced(layout):
    (mine,) = begun([done("mine")], layout)
    refuse_done_meanwhile(layout, [mine])
    record_done(layout, [done("other")])
    with pytest.raises(RunError) as raised:
        refuse_done_meanwhile(layout, [mine])
    assert raised.value.diagnostics[0].code == "PEN5420"
    record_done(layout, [mine])
    refuse_done_meanwhile(layout, [mine])  # whoever finishes the run again


def test_of_two_records_that_a_kill_left_the_later_counts(layout):
    record_done(layout, [done("first")])
    later = done("second", known=3)
    layout.files.write(later.path(layout), layout.files.read(done("first").path(layout)).replace("first", "second"))
    assert [entry.known for entry in entries_of(layout, KEY).values()] == [later.known]
    forget_done(layout, KEY, [later.interval])
    assert entries_of(layout, KEY) == {}


def test_ledgers_of_one_target_are_found(layout):
    other = LedgerKey("file:///in2", KEY.written)
    record_done(layout, [done("first", key=other), done("first", key=LedgerKey(KEY.read, "file:///out2"))])
    assert [record.key for record in ledgers_beside(layout, KEY)] == [other]


def test_a_damaged_record_is_named_with_a_way_out(layout):
    record_done(layout, [done("first")])
    layout.files.write(done("first").path(layout), "{")
    with pytest.raises(RunError) as raised:
        record_of(layout, KEY, done("first").interval)
    assert raised.value.diagnostics[0].code == "PEN5011"
    assert "--missing" in (raised.value.diagnostics[0].help or "")
