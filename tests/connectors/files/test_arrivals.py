"""Files that arrive are read once, also where the modification time of one lies in the future."""

import os
import time
from pathlib import Path

import pytest

from connectors.files.formats.arrivals import arrived
from connectors.interface.incremental import Incremental, ReadProgress, Since
from connectors.local_file import connector
from tests.connectors.given_options import options_of

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


def listing(folder: Path):
    """Reads the files of a folder as runs do, one after the other."""
    options, progress = options_of(connector.source_options, path=str(folder), file_format_type="json"), None

    def run(lag: str | None = None, initial: str | None = None, *, again: bool = False) -> list[str]:
        nonlocal progress
        since = run.since if again else Since(progress)
        found = arrived(None, options, Incremental(lag=lag, initial=initial), since)
        run.since = Since(since.after, found[1])
        progress = found[1]
        return names(found)

    return run


@pytest.mark.parametrize("lag", ["0", "0 hours", "10 minutes", None])
def test_a_late_file_with_an_old_modification_time_is_read_once(tmp_path, lag):
    read = listing(tmp_path)
    write(tmp_path, "a.json", 1_700_002_000)
    write(tmp_path, "first.json", 1_500_000_000)
    assert read(lag) == ["a.json", "first.json"]
    write(tmp_path, "late.json", 1_700_001_000)
    write(tmp_path, "very_late.json", 1_400_000_000)
    assert read(lag) == ["late.json", "very_late.json"]
    assert read(lag, again=True) == ["late.json", "very_late.json"]  # the same run, begun again
    assert read(lag) == []
    write(tmp_path, "first.json", 1_500_000_001)
    assert read(lag) == ["first.json"]


def test_files_before_initial_stay_unread_and_those_that_come_later_do_not(tmp_path):
    read = listing(tmp_path)
    write(tmp_path, "before.json", 1_700_000_000)
    write(tmp_path, "long_before.json", 1_500_000_000)
    write(tmp_path, "a.json", 1_700_002_000)
    assert read(initial="2023-11-14 22:40:00") == ["a.json"]
    assert read(initial="2023-11-14 22:40:00") == []
    write(tmp_path, "late.json", 1_400_000_000)
    assert read(initial="2023-11-14 22:40:00") == ["late.json"]


def test_state_of_earlier_versions_counts_old_files_as_read_once(tmp_path):
    options = options_of(connector.source_options, path=str(tmp_path), file_format_type="json")
    write(tmp_path, "old.json", 1_500_000_000)
    write(tmp_path, "a.json", 1_700_002_000)
    earlier = ReadProgress("2023-11-14 22:46:40.000", {"a.json": 1_700_002_000_000})
    found = arrived(None, options, Incremental(), Since(earlier))
    assert names(found) == []
    write(tmp_path, "late.json", 1_400_000_000)
    assert names(arrived(None, options, Incremental(), Since(found[1]))) == ["late.json"]
