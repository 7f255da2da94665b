"""What a write to an Iceberg table leaves in the journal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from connectors.commits.micro_batches import MicroBatch
from connectors.iceberg.table_address import TableAddress
from connectors.lakehouse.keyed_rows import KeyedRows
from connectors.shared.staged import Staged

WORK: Final = "penstock.work"
"""The property of a snapshot that says what its write stands for."""


class ReplacedPart(str, Enum):
    """What staged files take the place of."""

    NOTHING = "nothing"
    ROWS = "rows"
    PARTITIONS = "partitions"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class NewTable(Staged):
    """The table that a commit creates: Spark's JSON of its columns, how it is partitioned and sorted, its
    properties."""

    columns: str
    partition_by: tuple[str, ...]
    properties: Mapping[str, str]
    sort_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IcebergStaged(Staged):
    """The places of a write and what its one commit does.

    `data` is the directory of its files in the table's location, `missing` the directories above it that were not there
    (innermost first), `staging` a folder next to the run's journal. `fields` is Iceberg's JSON of the schema that the
    files were written in, where the commit creates it. `added`: columns that the commit adds to the table or widens,
    with their types in Spark's JSON. `replace_where`: the rows that the staged ones replace. `branch` holds the result
    of a merge that began at the snapshot `base` of the main branch. `to_branch`: the branch that rows are appended to,
    where it is not the main one. `sequence`: the number of the table's last snapshot
    when rows were staged: the write is looked for in those after it.
    """

    address: TableAddress
    is_new: bool
    replaces: ReplacedPart
    merges: bool
    data: str
    missing: tuple[str, ...]
    staging: str
    identity: str
    run_id: str
    journal: str
    owner: Mapping[str, Any]
    branch: str
    keyed: KeyedRows | None
    partition_by: tuple[str, ...]
    properties: Mapping[str, str]
    sort_by: tuple[str, ...] = ()
    replace_where: str | None = None
    table: NewTable | None = None
    fields: str = ""
    table_id: str = ""
    added: Mapping[str, Any] = field(default_factory=dict)
    base: int | None = None
    sequence: int = 0
    has_branch: bool = False
    rows: int | None = None
    bytes: int = 0
    work: str = ""
    batch: int | None = None
    to_branch: str | None = None

    @property
    def micro_batch(self) -> MicroBatch | None:
        return MicroBatch.of(self.run_id, self.identity, self.batch)

    @property
    def summary(self) -> dict[str, str]:
        """What the snapshot's summary has of the write: by `penstock.write` a repeat finds it."""
        return {
            "penstock.run-id": self.run_id,
            "penstock.write": self.identity,
            "penstock.staged": self.data.rpartition("/")[2],
            **({WORK: self.work} if self.work else {}),
        }
