"""Which intervals a run does: those that are missing, and those in which rows may have come late."""

from datetime import datetime, timedelta, timezone

import pytest

from catalog.diagnostics.diagnostic import JobError
from engine.intervals.due_intervals import ALL, Done, IntervalRange, Reason, due_runs, shown_ranges
from engine.job.model.intervals import Grain, IntervalSpec, TimeInterval

UTC = timezone.utc
NOON = datetime(2024, 2, 5, 12, tzinfo=UTC)


def day(number: int) -> TimeInterval:
    start = datetime(2024, 2, number, tzinfo=UTC)
    return TimeInterval(start, start + timedelta(days=1))


def spec(**more) -> IntervalSpec:
    return IntervalSpec("day", Grain.DAY, datetime(2024, 2, 1, tzinfo=UTC), **more)


def due(intervals: IntervalSpec, done: dict[int, int], wanted: IntervalRange = ALL) -> list[str]:
    """As labels with their reasons; `done`: up to which day was known when each day was done."""
    found = {day(number): Done(datetime(2024, 2, known, tzinfo=UTC)) for number, known in done.items()}
    return [f"{intervals.label(run.window)} {run.reason.value}" for run in due_runs(intervals, found, wanted, NOON)]


def test_all_that_are_over_are_due_first():
    assert due(spec(), {}) == [f"2024-02-0{number} missing" for number in (1, 2, 3, 4)]


def test_a_gap_is_due_and_what_is_done_is_not():
    assert due(spec(), {1: 2, 3: 4, 4: 5}) == ["2024-02-02 missing"]


def test_none_is_due_after_the_end():
    assert due(spec(end=datetime(2024, 2, 3, tzinfo=UTC)), {1: 3, 2: 3}) == []


def test_a_batch_has_intervals_in_a_row():
    assert due(spec(batch=2), {}) == ["2024-02-01..2024-02-02 missing", "2024-02-03..2024-02-04 missing"]
    assert due(spec(batch=3), {2: 5}) == ["2024-02-01 missing", "2024-02-03..2024-02-04 missing"]


def test_with_lookback_an_interval_is_done_again_until_it_can_get_no_more_rows():
    # day 1 was done when day 3 was over, which is two days after its own end; day 2 when day 2 was over
    assert due(spec(lookback=2), {1: 4, 2: 3, 3: 5, 4: 5}) == ["2024-02-02 late rows"]
    assert due(spec(lookback=2), {1: 4, 2: 5, 3: 5, 4: 5}) == []


def test_lookback_reaches_what_was_done_long_ago_if_no_run_was_made_since():
    assert due(spec(lookback=1), {1: 2, 2: 3}) == [
        "2024-02-01 late rows", "2024-02-02 late rows", "2024-02-03 missing", "2024-02-04 missing",
    ]  # fmt: skip


def test_a_backfill_does_what_is_missing_in_its_range_also_before_the_start():
    wanted = IntervalRange("2024-01-30", "2024-02-03")
    assert due(spec(), {1: 2}, wanted) == ["2024-01-30 missing", "2024-01-31 missing", "2024-02-02 missing"]


def test_a_restatement_does_what_is_done_again():
    wanted = IntervalRange("2024-02-01", "2024-02-03", is_again=True)
    assert due(spec(), {1: 5}, wanted) == ["2024-02-01 again", "2024-02-02 missing"]


def test_no_interval_is_done_before_it_is_over():
    assert due(spec(), {}, IntervalRange("2024-02-04", "2024-02-09")) == ["2024-02-04 missing"]


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ("2024-02-01 05:00", None, "within one day: intervals begin at 2024-02-01 and 2024-02-02"),
        ("first", None, "`first` is no time"),
        ("2024-02-03", "2024-02-03", "not after"),
    ],
)
def test_a_range_that_cannot_be_meant_is_refused(start, end, message):
    with pytest.raises(JobError) as raised:
        due(spec(), {}, IntervalRange(start, end))
    assert raised.value.diagnostics[0].code == "PEN1650"
    assert message in raised.value.diagnostics[0].message


def test_the_range_of_a_job_with_longer_intervals_is_widened():
    months = IntervalSpec("day", Grain.MONTH, datetime(2023, 12, 1, tzinfo=UTC))
    wanted = IntervalRange("2023-12-30", "2024-01-02", is_again=True, is_widened=True)
    assert [months.label(run.window) for run in due_runs(months, {}, wanted, NOON)] == ["2023-12", "2024-01"]


def test_intervals_in_a_row_are_shown_as_one():
    assert shown_ranges(spec(), [day(1), day(2), day(4)]) == "2024-02-01..2024-02-02, 2024-02-04"


def test_reasons_are_apart_in_batches():
    found = {day(1): Done(datetime(2024, 2, 2, tzinfo=UTC))}
    runs = due_runs(spec(batch=9, lookback=9), found, IntervalRange(), NOON)
    assert [run.reason for run in runs] == [Reason.LATE, Reason.MISSING]
