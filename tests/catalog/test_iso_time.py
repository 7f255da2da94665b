from datetime import datetime, timedelta, timezone

import pytest

from catalog.iso_time import iso_time

NOON = datetime(2024, 2, 1, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-02-01T12:00Z", NOON),
        ("2024-02-01T12:00:00z", NOON),
        (" 2024-02-01 13:00:00+01:00 ", NOON),
        ("2024-02-01T12:00:00.5Z", NOON + timedelta(milliseconds=500)),
        ("2024-02-01 12:00:00.123456789", datetime(2024, 2, 1, 12, 0, 0, 123456)),
        ("2024-02-01", datetime(2024, 2, 1)),
    ],
)
def test_times_are_read_alike_on_every_python(text, time):
    assert iso_time(text) == time


@pytest.mark.parametrize("text", ["", "noon", "2024-02-30"])
def test_other_texts_are_none(text):
    with pytest.raises(ValueError, match=r"isoformat|day is out of range"):
        iso_time(text)
