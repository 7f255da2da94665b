"""Marks in Delta's log: the version of a write's application is what the write stands for."""

from typing import Final

from connectors.commits.marks import MarkState, WriteMark
from connectors.delta.delta_staged import application_of
from connectors.delta.transaction import DeltaTable

_UNKNOWN: Final = 1
"""The version of a write that does not say what it stands for, as of earlier versions of Penstock."""


def version_of(work: str) -> int:
    return int(work, 16) if work else _UNKNOWN


def work_of_version(version: int) -> str:
    return "" if version == _UNKNOWN else f"{version:015x}"


def mark_in(table: DeltaTable, identity: str) -> WriteMark:
    """The mark of a write; ABSENT, too, where the table was restored to a version before it."""
    version = table.committed_version(application_of(identity))
    if version is None:
        return WriteMark(MarkState.ABSENT)
    restored = table.restored_to()
    if restored is not None and restored < table.committed_at(application_of(identity)):
        return WriteMark(MarkState.ABSENT)
    return WriteMark(MarkState.FOUND, work_of_version(version))
