"""The writes of a stream to one target: one for each micro-batch, so that their marks must not grow without bound.

    <stream>.<number>.<write>    the identity of one of them

A stream ends a micro-batch before it begins the next one. So the marks of the last two are enough to see which ones are
committed; those before are removed. A micro-batch with a lower number is of a stream whose state is lost or old.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from connectors.commits.marks import MarkState, WriteMark

LATER: Final = "a later micro-batch"
"""What the mark of a micro-batch stands for where the target has one of a later number."""
KEPT: Final = 2
"""How many of the last marks a target keeps."""


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """The write of one micro-batch of a stream."""

    stream: str
    number: int
    write: str

    @classmethod
    def of(cls, run_id: str, identity: str, number: int | None) -> "MicroBatch | None":
        """By the ids of its run and its write; None for a write of another kind (`number` is None)."""
        ending = f".{number}"
        if number is None or not run_id.endswith(ending):
            return None
        return cls(run_id.removesuffix(ending), number, identity.removeprefix(f"{run_id}."))

    @property
    def series(self) -> str:
        """What all micro-batches of the stream have in common."""
        return f"{self.stream}.{self.write}"

    def identity_of(self, number: int) -> str:
        return f"{self.stream}.{number}.{self.write}"

    def number_of(self, identity: str) -> int | None:
        """The number of the micro-batch of this series that has this identity; None for any other write."""
        start, end = f"{self.stream}.", f".{self.write}"
        inner = identity[len(start) : -len(end)]
        return int(inner) if inner.isdecimal() and identity == f"{start}{inner}{end}" else None

    def is_before(self, identities: Iterable[str]) -> bool:
        """Whether one of these is of a later micro-batch."""
        return any((number := self.number_of(each)) is not None and number > self.number for each in identities)

    def mark_by(self, identities: Iterable[str]) -> WriteMark:
        """The mark of a micro-batch that a target does not have itself, by the others that it has."""
        return WriteMark(MarkState.FOUND, LATER) if self.is_before(identities) else WriteMark(MarkState.ABSENT)
