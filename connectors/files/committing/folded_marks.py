"""Folds the marks of a stream's micro-batches, which would be one small file for each of them.

    _penstock/<stream>.<number>.<write>.json           the mark of a micro-batch
    _penstock/<stream>.<first>-<last>.<write>.json     the files that a hundred of them have added

A mark lists the files of its commit, which are not foreign to the target (`foreign_files`): so marks are folded, not
deleted, and folded ones again. A stream of a million micro-batches has some two hundred of them.
"""

import json
from contextlib import suppress
from typing import Final

from connectors.commits.micro_batches import KEPT, MicroBatch
from connectors.files.foreign_files import MARKS, listed
from connectors.storage.filesystem import Files
from connectors.storage.paths import file_name

FOLDED: Final = 100
"""How many marks become one."""

Range = tuple[int, int]


def fold_marks(files: Files, target: str, batch: MicroBatch) -> None:
    """Fold the marks of the stream that nobody asks for any more, if there are many. An error of the store is not
    raised: the commit is done, and a later one folds them."""
    if batch.number % FOLDED == 0:
        with suppress(OSError):
            while (due := _due(_ranges(files, target, batch), batch)) is not None:
                _fold(files, target, batch, due)


def _due(ranges: list[Range], batch: MicroBatch) -> list[Range] | None:
    """The ranges of marks of about one width of which there are enough; None where there are not."""
    by_width: dict[int, list[Range]] = {}
    for first, last in sorted(ranges):
        if last <= batch.number - KEPT:
            by_width.setdefault(_width(last - first + 1), []).append((first, last))
    return next((due for due in by_width.values() if len(due) >= FOLDED), None)


def _width(count: int) -> int:
    """0 for one micro-batch, 1 up to those of a fold, 2 up to those of a fold of folds, …"""
    width, most = 0, 1
    while count > most:
        width, most = width + 1, most * FOLDED
    return width


def _fold(files: Files, target: str, batch: MicroBatch, ranges: list[Range]) -> None:
    names = [path for each in ranges if files.exists(path := _path(target, batch, *each))]
    added = [name for path in names for name in listed(files.read(path))]
    folded = _path(target, batch, min(first for first, _ in ranges), max(last for _, last in ranges))
    files.write(folded, json.dumps({"files": added}))
    for path in names:
        if path != folded:
            files.delete(path)


def _path(target: str, batch: MicroBatch, first: int, last: int) -> str:
    number = str(first) if first == last else f"{first}-{last}"
    return f"{target}/{MARKS}/{file_name(f'{batch.stream}.{number}.{batch.write}')}.json"


def _ranges(files: Files, target: str, batch: MicroBatch) -> list[Range]:
    """The numbers that the marks of the stream in the target stand for."""
    found = []
    for name in identities(files, target):
        inner = name[len(batch.stream) + 1 : -len(batch.write) - 1]
        first, _, last = inner.partition("-")
        if name == f"{batch.stream}.{inner}.{batch.write}" and first.isdecimal() and (last or "0").isdecimal():
            found.append((int(first), int(last or first)))
    return found


def identities(files: Files, target: str) -> list[str]:
    """The writes of which a target has marks, by their identities; folded ones by their ranges."""
    names = files.children(f"{target}/{MARKS}")
    return [name.removesuffix(".json").replace(";", ":") for name in names if name.endswith(".json")]
