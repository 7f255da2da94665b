"""What a staged write rests on, as the journal records it: a later attempt of the run may commit it if all is equal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.state.watermarks import HighWatermark


@dataclass(frozen=True, slots=True)
class StagedBasis:
    """The basis of one staged write.

    `fingerprint`: what its plan means; `positions`: where its sources stood when they were read, by the scans' ids;
    `actions` and `target`: what the commit does, and the columns of the target for which it was staged; `writes`: the
    ids of its pipeline's writes, which are kept together; `watermarks`: those that the pipeline moves.
    """

    fingerprint: str
    positions: Mapping[str, str]
    actions: tuple[str, ...]
    target: str
    writes: tuple[str, ...]
    watermarks: tuple[HighWatermark, ...] = ()

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "StagedBasis":
        moved = tuple(HighWatermark.from_json(watermark) for watermark in record["watermarks"])
        return cls(
            str(record["fingerprint"]),
            dict(record["positions"]),
            tuple(record["actions"]),
            str(record["target"]),
            tuple(record["writes"]),
            moved,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def difference(self, now: "StagedBasis") -> str | None:
        """What differs now, in words; None if the staged rows are what would be staged again."""
        if self.fingerprint != now.fingerprint or self.writes != now.writes:
            return "the job has changed"
        if self.positions != now.positions:
            return "a source has changed"
        if (self.actions, self.target) != (now.actions, now.target):
            return "the target has changed"
        return None


def target_text(columns: Sequence[object]) -> str:
    """The columns of a target as text."""
    return ", ".join(map(str, columns))
