"""Hours, days and months of a time zone, as the intervals of a job: none is left out, and none is there twice."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.job.model.intervals import Grain, IntervalSpec

UTC = timezone.utc
ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia",
    "America/Sao_Paulo", "America/Havana", "Africa/Monrovia",
)  # fmt: skip


def spec(grain: Grain = Grain.DAY, zone: str = "UTC", **more) -> IntervalSpec:
    return IntervalSpec("day", grain, datetime(2013, 1, 1, tzinfo=UTC), zone=zone, **more)


def hours(zone: str, day: str) -> float:
    calendar = spec(Grain.DAY, zone)
    start = calendar.parsed(day)
    return (calendar.after(start) - start) / timedelta(hours=1)


@pytest.mark.parametrize(
    ("zone", "day", "expected"),
    [
        ("Europe/Berlin", "2024-03-31", 23),
        ("Europe/Berlin", "2024-10-27", 25),
        ("Europe/Berlin", "2024-05-01", 24),
        ("America/Sao_Paulo", "2018-11-04", 23),  # midnight is skipped
        ("America/Havana", "2024-11-03", 25),  # midnight is there twice
        ("Australia/Lord_Howe", "2024-04-07", 24.5),
        ("UTC", "2024-03-31", 24),
    ],
)
def test_a_day_is_as_long_as_in_its_zone(zone, day, expected):
    assert hours(zone, day) == expected


@pytest.mark.parametrize(("day", "expected"), [("2024-03-31", 23), ("2024-10-27", 25)])
def test_a_day_has_as_many_hours_as_it_is_long(day, expected):
    days, by_hour = spec(Grain.DAY, "Europe/Berlin"), spec(Grain.HOUR, "Europe/Berlin")
    start = days.parsed(day)
    assert len(list(by_hour.between(start, days.after(start)))) == expected


def test_a_day_that_a_zone_left_out_is_no_interval():
    days = spec(Grain.DAY, "Pacific/Apia")
    found = [days.label(each) for each in days.between(days.parsed("2011-12-29"), days.parsed("2012-01-01"))]
    assert found == ["2011-12-29", "2011-12-31"]


@given(
    st.sampled_from(ZONES),
    st.sampled_from(list(Grain)),
    st.datetimes(datetime(1975, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),
)
def test_every_instant_is_in_one_interval_and_intervals_follow_each_other(zone, grain, instant):
    calendar = spec(grain, zone)
    start = calendar.floor(instant)
    end = calendar.after(start)
    assert start <= instant < end
    assert calendar.floor(start) == start
    assert calendar.floor(end) == end
    assert calendar.floor(end - timedelta(microseconds=1)) == start
    assert calendar.parsed(calendar.boundary_label(start)) in (start, calendar.floor(start)) or zone != "UTC"


@pytest.mark.parametrize(
    ("grain", "zone", "start", "expected"),
    [
        (Grain.DAY, "UTC", "2024-02-01", ("2024-02-01", "2024-02-02", "2024-02-01")),
        (Grain.MONTH, "UTC", "2024-02", ("2024-02-01", "2024-03-01", "2024-02-01")),
        (Grain.HOUR, "UTC", "2024-02-01 05:00", ("2024-02-01 05:00:00", "2024-02-01 06:00:00", "2024-02-01")),
        (
            Grain.DAY, "Europe/Berlin", "2024-03-31",
            ("2024-03-30 23:00:00", "2024-03-31 22:00:00", "2024-03-31"),
        ),
    ],
)  # fmt: skip
def test_variables_say_where_an_interval_begins_and_ends(grain, zone, start, expected):
    calendar = spec(grain, zone)
    first = calendar.parsed(start)
    (interval,) = calendar.between(first, calendar.after(first))
    assert tuple(calendar.variables(interval).values()) == expected
