"""Files that arrive are read once, also where the modification time of one lies in the future."""

import os
import time
from pathlib import Path

from connectors.files.formats.arrivals import arrived
from connectors.interface.incremental import Incremental, ReadProgress, Since
from connectors.local_file import connector
from tests.connectors.jobs import options_of

AHEAD = 30 * 24 * 3600
"""A month, in seconds."""


def names(found) -> list[str]:
    (files, _), _ = found
    return [Path(file).name for file in files]


def write(folder: Path, name: str, seconds: float) -> None:
    (folder / name).write_text("{}")
    os.utime(folder / name, (seconds, seconds))


def test_a_file_from_the_future_hides_no_later_file(tmp_path):
    options = options_of(connector.source_options, path=str(tmp_path), file_format_type="json")
    write(tmp_path, "ahead.json", time.time() + AHEAD)
    write(tmp_path, "now.json", time.time() - 60)
    first = arrived(None, options, Incremental(), Since())
    assert names(first) == ["ahead.json", "now.json"]
    write(tmp_path, "next.json", time.time() - 1)
    second = arrived(None, options, Incremental(), Since(first[1]))
    assert names(second) == ["next.json"]
    assert names(arrived(None, options, Incremental(), Since(second[1]))) == []


def test_a_watermark_from_the_future_is_taken_back(tmp_path):
    """State of a version that moved the watermark to the latest file, whatever its time."""
    options = options_of(connector.source_options, path=str(tmp_path), file_format_type="json")
    write(tmp_path, "ahead.json", time.time() + AHEAD)
    _, progress = arrived(None, options, Incremental(), Since())
    assert progress is not None
    ahead = time.strftime("%Y-%m-%d %H:%M:%S.000", time.gmtime(time.time() + AHEAD))
    write(tmp_path, "next.json", time.time() - 1)
    found = arrived(None, options, Incremental(), Since(ReadProgress(ahead, progress.files)))
    assert names(found) == ["next.json"]


def test_a_lag_of_zero_is_not_the_default_of_a_week(tmp_path):
    options = options_of(connector.source_options, path=str(tmp_path), file_format_type="json")
    write(tmp_path, "a.json", 1_700_002_000)
    _, progress = arrived(None, options, Incremental(), Since())
    write(tmp_path, "late.json", 1_700_001_000)
    for lag, expected in (
        ("0", []),
        ("0 hours", []),
        ("10 minutes", []),
        (None, ["late.json"]),
        ("1 hour", ["late.json"]),
    ):
        assert names(arrived(None, options, Incremental(lag=lag), Since(progress))) == expected, lag
