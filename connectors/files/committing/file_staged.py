"""The locations of a write of files, and the modes of its commit."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from connectors.commits.marks import MarkState, WriteMark
from connectors.commits.micro_batches import MicroBatch
from connectors.files.committing.folded_marks import identities
from connectors.files.foreign_files import MARKS
from connectors.shared.staged import Staged
from connectors.storage.filesystem import Files, as_uri, files_at
from connectors.storage.object_store import NO_SETTINGS, StoreSettings
from connectors.storage.paths import file_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S = TypeVar("S", bound="FileStaged")

REPLACE: Final = "replace"
APPEND: Final = "append"
PARTITIONS: Final = "partitions"


@dataclass(frozen=True, slots=True)
class FileStaged(Staged):
    """The locations of a write, as URIs. `missing`: the target's parents that did not exist, innermost first; `store`:
    Hadoop's settings for the target; `epoch`: that of the run's claim when it began;
    `work`: what its mark stands for; `is_of_stream`: it is of a micro-batch."""

    target: str
    root: str
    missing: tuple[str, ...]
    staging: str
    identity: str
    run_id: str
    mode: str
    journal: str
    owner: Mapping[str, Any]
    store: StoreSettings = NO_SETTINGS
    epoch: int = 0
    work: str = ""
    is_of_stream: bool = False
    batch: int | None = None

    @property
    def micro_batch(self) -> MicroBatch | None:
        return MicroBatch.of(self.run_id, self.identity, self.batch)

    def at(self: S, staging: str) -> S:
        """The same, staged in another directory."""
        return replace(self, staging=staging)


def missing_folders(files: Files, folder: str) -> Iterator[str]:
    """The folder and its parents that do not exist, innermost first."""
    least = 3 if "://" in folder else 1  # slashes, below a file system's root
    while folder.count("/") >= least and not files.exists(folder):
        yield folder
        folder = folder.rpartition("/")[0]


def staged_data(spark: "SparkSession", staged: FileStaged) -> str:
    """The location of the staged files, as Spark reads it."""
    return as_uri(f"{files_at(spark, staged.staging)[1]}/data")


def mark_of(identity: str) -> str:
    """The mark of a write, by its path in the target and in the staged files."""
    return f"{MARKS}/{file_name(identity)}.json"


def has_mark(files: Files, staged: FileStaged, target: str) -> bool:
    """Whether the target, a path of `files`, carries the mark of this run's write."""
    return files.exists(f"{target}/{mark_of(staged.identity)}")


def found_mark(files: Files, identity: str, target: str, batch: MicroBatch | None = None) -> WriteMark:
    """The mark of a write in a target, a path of `files`."""
    path = f"{target}/{mark_of(identity)}"
    if not files.exists(path):
        return WriteMark(MarkState.ABSENT) if batch is None else batch.mark_by(identities(files, target))
    try:
        return WriteMark(MarkState.FOUND, str(json.loads(files.read(path)).get("work") or ""))
    except (ValueError, AttributeError):
        return WriteMark(MarkState.FOUND)
