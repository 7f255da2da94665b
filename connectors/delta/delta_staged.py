"""The journal's record of a write to a Delta table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from connectors.commits.micro_batches import MicroBatch
from connectors.lakehouse.keyed_rows import KeyedRows
from connectors.shared.staged import Staged, secret
from connectors.storage.object_store import NO_SETTINGS, StoreSettings


class CommitKind(str, Enum):
    """How staged rows are added to the table."""

    FILES = "files"
    MERGE = "merge"
    VERSIONS = "versions"


def application_of(identity: str, batch: MicroBatch | None = None) -> str:
    """The application id under which Delta's log records a write."""
    return f"penstock/{identity}" if batch is None else f"penstock/stream/{batch.series}"


@dataclass(frozen=True, slots=True)
class DeltaStaged(Staged):
    """The locations of a write, and the contents of its transaction.

    `target` is the table's directory as a URI, `missing` its parents that did not exist (innermost first), `staging` a
    directory next to the run's journal, `prefix` the start of the staged files' names. `metadata` is Delta's
    action for a table that is new or changes, `replaces_…` what the rows replace, `changes` the columns that
    a merge adds to the table or widens, with their types in Spark's JSON. `before`: what staged files rely on in the
    table. `after_commit`: SQL over `{table}`. `store`:
    Hadoop's settings for the table's file system. `cluster_by`: the columns by which a new table is clustered.
    `is_fresh`: the log need not be searched for this write, which reads all of it; not for another process.
    """

    target: str
    missing: tuple[str, ...]
    is_new: bool
    staging: str
    identity: str
    version: int
    run_id: str
    journal: str
    owner: Mapping[str, Any]
    prefix: str
    kind: CommitKind
    replaces_everything: bool
    replaces_schema: bool
    replaces_partitions: bool
    replace_where: str | None
    keyed: KeyedRows | None
    after_commit: tuple[str, ...]
    metadata: str | None = None
    table_id: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    cluster_by: tuple[str, ...] = ()
    store: StoreSettings = NO_SETTINGS
    is_fresh: bool = secret(False)
    batch: int | None = None
    rows: int | None = None
    bytes: int = 0

    @property
    def micro_batch(self) -> MicroBatch | None:
        return MicroBatch.of(self.run_id, self.identity, self.batch)

    @property
    def application(self) -> str:
        return application_of(self.identity, self.micro_batch)
