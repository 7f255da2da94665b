"""What a write to a Paimon table leaves in the journal."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from connectors.commits.micro_batches import MicroBatch
from connectors.lakehouse.keyed_rows import KeyedRows
from connectors.shared.staged import Staged, secret

WORK: Final = "penstock.work"
"""The property of a snapshot that says what its write stands for."""


class PaimonOverwrite(str, Enum):
    """What staged files take the place of."""

    NOTHING = "nothing"
    ROWS = "rows"
    PARTITIONS = "partitions"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class PaimonStaged(Staged):
    """The locations of a write and what its one commit does.

    `target` is the table's directory, `missing` the directories that did not exist (innermost first). Files are staged
    in `folder`: the table's own directory, where their names begin with `name`; or, if the table is made anew, a
    directory next to it, which takes its place. `staging` is a directory next to the run's journal. `schema` is the
    schema file that the staged files belong to, `adds_schema` says whether the commit adds it to the table.
    `keys_of`: the snapshot whose keys decided where rows were written, 0 before the first one; the commit fails if a
    later one changed rows. `base`: the latest snapshot when rows were staged, 0 before the first one: the write is
    looked for in those after it. `emptied`: the partition that a write without rows replaces, by column. `is_fresh`:
    the snapshots need not be searched for this write; not for another process. `changes`: the rows that the merge
    inserts, updates and deletes, if they are counted.
    """

    target: str
    folder: str
    missing: tuple[str, ...]
    is_new: bool
    replaces: PaimonOverwrite
    staging: str
    name: str
    identity: str
    run_id: str
    owner: Mapping[str, Any]
    keyed: KeyedRows | None
    tag: str | None
    schema: str = ""
    adds_schema: bool = False
    rows: int | None = None
    bytes: int = 0
    keys_of: int | None = None
    base: int = 0
    emptied: Mapping[str, str | None] | None = None
    changes: tuple[int, ...] = ()
    work: str = ""
    batch: int | None = None
    is_fresh: bool = secret(False)

    @property
    def micro_batch(self) -> MicroBatch | None:
        return MicroBatch.of(self.run_id, self.identity, self.batch)

    @property
    def properties(self) -> dict[str, str]:
        """What the snapshot's properties have of the write: by `penstock.write` a repeat finds it."""
        named = {"penstock.run-id": self.run_id, "penstock.write": self.identity, "penstock.staged": self.name}
        return {**named, **({WORK: self.work} if self.work else {})}
