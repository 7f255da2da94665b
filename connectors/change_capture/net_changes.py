"""The changes of a micro-batch as rows with kinds: all of them, or one for each key.

A sink that finds rows by their key needs one row for each: what the changes of the micro-batch make of it in all.

    insert 1, update 1, update 2, delete 2      +I of 1 with its last values, -D of 2
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from catalog.diagnostics.diagnostic import run_error
from catalog.tables.row_kind import RowKind
from connectors.change_capture.table_shape import UNSENT, Row, RowChange, TableShape

KindRow: TypeAlias = tuple[str, Row, TableShape]
"""A row with its kind and the columns that it has."""

_INSERT, _BEFORE, _AFTER, _DELETE = (kind.value for kind in RowKind)


def all_changes(changes: Iterable[RowChange]) -> Iterator[KindRow]:
    """Each change, in the order of the log: an update as the row before it, where that is known, and the one after.

    Raises PEN5491 where the log lacks a value of a row.
    """
    known: dict[Row, Row] = {}
    for change in changes:
        shape, before, after = change.shape, change.before, change.after
        if after is not None:
            after = _whole(change, known)
            if shape.keys:
                known[_key(shape, after)] = after
        if before is None and after is not None:
            yield _INSERT, after, shape
        elif before is not None and after is None:
            yield _DELETE, before, shape
        elif before is not None and after is not None:
            if change.has_before:
                yield _BEFORE, before, shape
            elif shape.keys and _key(shape, before) != _key(shape, after):
                yield _DELETE, before, shape
                yield _INSERT, after, shape
                continue
            yield _AFTER, after, shape


def net_changes(changes: Iterable[RowChange]) -> Iterator[KindRow]:
    """One row for each key; the last one. Raises PEN5491 as `all_changes`."""
    rows: dict[Row, tuple[bool, Row | None, Row | None, TableShape]] = {}

    def put(key: Row, was_there: bool, row: Row | None, gone: Row | None, shape: TableShape) -> None:
        earlier = rows.get(key)
        rows[key] = (was_there if earlier is None else earlier[0], row, gone, shape)

    known: dict[Row, Row] = {}
    for change in changes:
        shape, before, after = change.shape, change.before, change.after
        old = _key(shape, before) if before is not None else None
        if after is not None:
            after = _whole(change, known)
            new = _key(shape, after)
            known[new] = after
            if old is not None and old != new:
                put(old, True, None, before, shape)
                put(new, False, after, None, shape)
            else:
                put(new, before is not None, after, None, shape)
        elif old is not None:
            known.pop(old, None)
            put(old, True, None, before, shape)
    for was_there, row, gone, shape in rows.values():
        if row is not None:
            yield _AFTER if was_there else _INSERT, row, shape
        elif was_there and gone is not None:
            yield _DELETE, gone, shape


def _key(shape: TableShape, row: Row) -> Row:
    return tuple(row[index] for index in shape.keys)


def _whole(change: RowChange, known: dict[Row, Row]) -> Row:
    """The row after a change, with values that the log leaves out from the row before it."""
    after = change.after
    assert after is not None, "is called for rows that are there"
    if UNSENT not in after:
        return after
    shape = change.shape
    earlier = change.before if change.has_before else None
    if earlier is None and shape.keys:
        key = _key(shape, change.before if change.before is not None else after)
        earlier = known.get(key)
    if earlier is None or len(earlier) != len(after):
        earlier = after
    whole = tuple(earlier[index] if value is UNSENT else value for index, value in enumerate(after))
    if UNSENT in whole:
        name = shape.columns[whole.index(UNSENT)].name
        message = (
            f"an update of `{shape.text}` has no value for `{name}`: PostgreSQL does not log a long value that an "
            "update leaves as it is"
        )
        help = (
            f"`ALTER TABLE {shape.text} REPLICA IDENTITY FULL` logs it from then on; then take a new snapshot: name "
            "another checkpoint, `env { stream.checkpoint = … }`, and another `slot.name`"
        )
        raise run_error("PEN5491", message, None, help)
    return whole
