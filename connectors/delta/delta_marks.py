"""Marks in Delta's log: the version of a write's application is what the write stands for.

    penstock/<run>.<write>            the digest of its work
    penstock/stream/<stream>.<write>  of the last micro-batch: its number, and 31 bits of that digest

Delta keeps an application for ever: a stream has one for all its micro-batches, whose version only grows.
"""

from typing import Final

from connectors.commits.marks import MarkState, WriteMark
from connectors.commits.micro_batches import LATER, MicroBatch
from connectors.delta.delta_staged import application_of
from connectors.delta.transaction import DeltaTable

_UNKNOWN: Final = 1
"""The version of a write that does not say what it stands for, as of earlier versions of Penstock."""
_BITS: Final = 31
_OTHER: Final = "other rows"


def version_of(work: str, batch: MicroBatch | None = None) -> int:
    """The version by which a write is recorded."""
    if batch is None:
        return int(work, 16) if work else _UNKNOWN
    return (batch.number << _BITS) + (1 + int(work, 16) % (2**_BITS - 1) if work else 0)


def work_of_version(version: int) -> str:
    return "" if version == _UNKNOWN else f"{version:015x}"


def mark_of_version(found: int, wanted: int, batch: MicroBatch | None) -> WriteMark:
    """What the version of an application that the log has says of the write that is recorded by the version `wanted`;
    its work is empty where it is the same."""
    if batch is None:
        return WriteMark(MarkState.FOUND, work_of_version(found))
    number, digest = found >> _BITS, found % 2**_BITS
    if number < batch.number:
        return WriteMark(MarkState.ABSENT)
    if number > batch.number:
        return WriteMark(MarkState.FOUND, LATER)
    is_same = digest == wanted % 2**_BITS or 0 in (digest, wanted % 2**_BITS)
    return WriteMark(MarkState.FOUND, "" if is_same else _OTHER)


def recorded(table: DeltaTable, identity: str, version: int, batch: MicroBatch | None) -> tuple[str, WriteMark]:
    """The application that records a write, and its mark. Earlier versions of Penstock had an application for each
    micro-batch."""
    for application, of in ((application_of(identity, batch), batch), (application_of(identity), None)):
        found = table.committed_version(application)
        mark = WriteMark(MarkState.ABSENT) if found is None else mark_of_version(found, version, of)
        if mark.state is MarkState.FOUND or batch is None:
            return application, mark
    return application, mark


def mark_in(table: DeltaTable, identity: str, work: str, batch: MicroBatch | None) -> WriteMark:
    """The mark of a write; ABSENT, too, where the table was restored to a version before it."""
    application, mark = recorded(table, identity, version_of(work, batch), batch)
    if mark.state is MarkState.ABSENT:
        return mark
    restored = table.restored_to()
    if restored is not None and restored < table.committed_at(application):
        return WriteMark(MarkState.ABSENT)
    return mark
