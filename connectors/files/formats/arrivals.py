"""Files that arrived since a run: known by name and modification time, so that each is read once.

A file counts as new when it was not read yet, or has changed since, whatever its modification time is. Names are
remembered for files modified within `lag` (default: 7 days) before the latest one, also after they are removed; of
older ones, a digest for as long as they are in the directory. A file whose time lies in the future is read and
remembered, and moves the watermark to now at most.
"""

import base64
import hashlib
import os
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.iso_time import iso_time
from catalog.options import Options
from catalog.tables.table import Column
from catalog.types.datatypes import TIMESTAMP
from connectors.files.formats.chosen_files import FileList, listed, passes
from connectors.interface.incremental import Incremental, ReadProgress, Since, duration, incremental_of
from connectors.storage.filesystem import as_uri, files_at
from connectors.storage.paths import is_hidden, local_path, spark_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODIFICATION_TIME: Final = Column("file modification time", TIMESTAMP)
_LAG: Final = timedelta(days=7)
_DIGITS: Final = 12
"""The length of a digest."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


def check_arrivals(options: Options, diagnostics: Diagnostics) -> None:
    """Report what cannot be read file by file (PEN2011)."""
    asked = incremental_of(options)
    if asked is None or asked.column is not None:
        return
    if options.string("archive_compress_codec").lower() != "none":
        message = "files in archives cannot be read as they arrive"
        diagnostics.error("PEN2011", message, options.span("incremental"), "unpack them first, or name a `column`")
    path = options.string("path")
    if local_path(path) is None and any(sign in path for sign in "*?[{"):
        message = f"`{path}` is a pattern: files that arrive in another file system are read from a directory"
        diagnostics.error("PEN2011", message, options.span("path"), "name the directory")


def arrived(
    spark: "SparkSession", options: Options, asked: Incremental, since: Since
) -> tuple[FileList, ReadProgress | None]:
    """The files that one run reads, and how far that goes; None where none was ever read."""
    root, times = _modification_times(spark, options)
    given = duration(asked.lag) if asked.lag else None
    lag = _milliseconds(_LAG if given is None else given)
    before = _Known(since.after)
    new = {name: time for name, time in times.items() if _is_new(name, time, asked, before, lag)}
    if since.until is not None:
        return _files(root, _read_until(since.until, before, times, new)), since.until
    if not new and (since.after is None or since.after.older is not None):
        return _files(root, {}), since.after
    latest = min(max(*new.values(), _watermark(since.after) if since.after else 0, 0), _now())
    seen = {**(since.after.files if since.after else {}), **times}
    recent = {name: time for name, time in seen.items() if time >= latest - lag}
    older = "".join(sorted(_digest(name, time) for name, time in times.items() if time < latest - lag))
    return _files(root, new), ReadProgress(_text(latest), recent, older)


def files_text(spark: "SparkSession", options: Options) -> str:
    """A digest of the files that a source reads: equal as long as none is added, removed or changed."""
    root, times = _modification_times(spark, options)
    is_here = local_path(spark_path(options.string("path"))) is not None
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(times):
        stat = os.stat(f"{root}/{name}") if is_here else None
        seen = times[name] if stat is None else (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        found.update(f"{name}\0{seen}\0".encode())
    return f"{len(times)} files {found.hexdigest()}"


class _Known:
    """The files that earlier runs have read, or left out."""

    def __init__(self, progress: ReadProgress | None) -> None:
        older = (progress.older if progress else None) or ""
        self.progress = progress
        self.files = progress.files if progress else {}
        self.digests = {older[start : start + _DIGITS] for start in range(0, len(older), _DIGITS)}

    def has(self, name: str, time: int) -> bool:
        return self.files.get(name) == time or (bool(self.digests) and _digest(name, time) in self.digests)


def _read_until(
    until: ReadProgress, before: _Known, times: Mapping[str, int], new: Mapping[str, int]
) -> dict[str, int]:
    """The files that the run which reached `until` has read; one that is gone since is among them, and fails the
    read."""
    known = _Known(until)
    gone = {name: time for name, time in until.files.items() if name not in times and before.files.get(name) != time}
    return {**{name: time for name, time in new.items() if known.has(name, time)}, **gone}


def _digest(name: str, time: int) -> str:
    return base64.b64encode(hashlib.blake2b(f"{time} {name}".encode(), digest_size=9).digest()).decode()


def _is_new(name: str, time: int, asked: Incremental, known: _Known, lag: int) -> bool:
    after = known.progress
    if after is None:
        return asked.initial is None or time >= _instant(asked.initial)
    if after.older is not None:
        return not known.has(name, time)
    if not after.files:  # set by `penstock state --reset`: nothing says what was read before
        return time > _watermark(after)
    return time >= _watermark(after) - lag and after.files.get(name) != time  # of an earlier version


def _watermark(progress: ReadProgress) -> int:
    """The watermark in milliseconds, at most now: one that lies ahead would leave out what arrives until then."""
    return min(_instant(progress.value), _now())


def _now() -> int:
    return _milliseconds(datetime.now(timezone.utc) - _EPOCH)


def _files(root: str, times: Mapping[str, int]) -> FileList:
    return [as_uri(f"{root}/{name}") for name in sorted(times)], as_uri(root)


def _modification_times(spark: "SparkSession", options: Options) -> tuple[str, dict[str, int]]:
    """The directory, and of each file in it that the source reads the milliseconds since 1970."""
    path = spark_path(options.string("path"))
    if local_path(path) is not None:
        root, found = listed(spark, path)
        times = {os.path.relpath(file, root): os.stat(file).st_mtime_ns // 1_000_000 for file in found}
    else:
        files, root = files_at(spark, path)
        if files.is_file(root):
            root = root.rpartition("/")[0]
        found_times = files.modification_times(root)
        times = {name: time for name, time in found_times.items() if not any(map(is_hidden, name.split("/")))}
    return root, {name: time for name, time in times.items() if passes(f"{root}/{name}", options)}


def _milliseconds(time: timedelta) -> int:
    return time // timedelta(milliseconds=1)


def _instant(text: str) -> int:
    found = iso_time(text)
    return _milliseconds((found if found.tzinfo else found.replace(tzinfo=timezone.utc)) - _EPOCH)


def _text(instant: int) -> str:
    return (_EPOCH + timedelta(milliseconds=instant)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
