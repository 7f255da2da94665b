"""What a sink can do beyond staging and committing one write: it also subclasses these, and the engine asks
`isinstance`.

    class Orders(Sink[OrdersStaged], SupportsGroupCommit[OrdersStaged]): ...
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from catalog.options import Options
from catalog.tables.savemode import Action, TargetState, WriteMode
from catalog.tables.table import CatalogTable
from connectors.commits.marks import WriteMark
from connectors.interface.run_context import RunContext
from connectors.interface.sink import WriteTask
from connectors.shared.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

S = TypeVar("S", bound=Staged)


class SupportsStatements(ABC):
    """Can show what it will run at the target (`explain --connect`, `run --dry-run`)."""

    @abstractmethod
    def statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        """What the commit will run at the target as it is now; touches nothing."""

    def staging_statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        """DDL of what `stage` makes, where the commit turns that into the target; touches nothing."""
        return ()


class SupportsKnownTable(ABC):
    """Can read the schema of a target without Spark and without a connection: `validate` warns of values that it would
    change."""

    @abstractmethod
    def known_table(self, options: Options) -> CatalogTable | None:
        """The schema of a target that exists; None where it cannot be read so."""


class SupportsCounts(ABC, Generic[S]):
    """Knows how many rows it has staged; for other sinks, Spark's counters are used."""

    @abstractmethod
    def written(self, staged: S) -> tuple[int, int | None] | None:
        """The rows and bytes that were staged; None where they are not known of this write."""


class SupportsStagedRows(ABC, Generic[S]):
    """Can read back what it has staged: rules over all rows are then checked without a second read of the source."""

    @abstractmethod
    def keeps_rows(self, options: Options) -> bool:
        """Whether `staged_rows` returns all columns of the rows, in their types."""

    @abstractmethod
    def staged_rows(self, spark: "SparkSession", task: WriteTask, staged: S) -> "DataFrame | None":
        """The staged rows; called only if `keeps_rows`."""


class SupportsStagedTable(ABC, Generic[S]):
    """Can read its target as the commit will leave it: jobs that are committed together read each other's rows."""

    @abstractmethod
    def stages_table(self, options: Options, mode: WriteMode) -> bool:
        """Whether `staged_table` is there for a write of this mode that does not replace all rows."""

    @abstractmethod
    def staged_table(self, spark: "SparkSession", staged: S, columns: Sequence[str]) -> "DataFrame":
        """All rows that the target will have, these columns of them, once `stage` has staged the write."""


class SupportsClone(ABC):
    """Makes a target of another one without copying its rows."""

    @abstractmethod
    def way_to_clone(self, options: Options, original: Options) -> str | None:
        """How the target becomes one of the original, in a few words; None where rows must be copied. `original`: the
        options of a source that reads it."""

    def leaves_original(self, options: Options) -> bool:
        """Whether the target is a part of the original that its readers do not see, such as a branch."""
        return False

    @abstractmethod
    def clone(self, spark: "SparkSession", options: Options, original: Options, *, replaces: bool) -> None:
        """Do it in one commit; raises where something is there, unless it `replaces` that."""


class SupportsKeptRows(ABC, Generic[S]):
    """What a killed attempt of a run has staged can be committed by a later one (`run --resume ID --continue`)."""

    @abstractmethod
    def kept(self, spark: "SparkSession", staged: S, task: WriteTask) -> S | None:
        """Take over what an earlier attempt of this write has staged completely: the record under which this attempt
        commits or aborts it. None where rows are missing: they are staged again. Called before this attempt stages
        anything; may be repeated. The process that staged them does not abort them any more."""


class PendingCommit(ABC):
    """A commit that lacks only its last step: it is not visible yet, and the target can no longer refuse it."""

    @abstractmethod
    def finish(self) -> None:
        """Make it visible."""

    @abstractmethod
    def cancel(self) -> None:
        """Undo it; raises nothing."""


class SupportsMarks(ABC):
    """Its targets show which writes were committed to them."""

    @abstractmethod
    def mark(self, spark: "SparkSession | None", task: WriteTask) -> WriteMark:
        """What the target has recorded of this write (`task.identity`); changes nothing."""

    def shows_marks_without_spark(self, options: Options) -> bool:
        """Whether `mark` takes None for the session."""
        return False


class SupportsGroupCommit(ABC, Generic[S]):
    """Commits several writes in one transaction, such as all writes to one database."""

    @abstractmethod
    def commit_group(self, staged: S) -> str | None:
        """The group of a write, such as the name of its database; None: this write is committed alone."""

    @abstractmethod
    def commit_all(self, spark: "SparkSession", group: Sequence[S], run: RunContext) -> None:
        """Commit the writes of one group, in the order of the job; idempotent for each of them, as `Sink.commit` is.

        After a kill, a repeated call may get only some of the writes, those that the journal does not
        record as committed.
        """

    def begin_commit(self, spark: "SparkSession", group: Sequence[S], run: RunContext) -> PendingCommit | None:
        """Do what the target may refuse (a violated constraint) before the run decides to commit: a refused run is
        rolled back. After `finish`, `commit_all` is still called, and cleans up. None: `commit_all` does everything."""
        return None


class SupportsMaintenance(ABC, Generic[S]):
    """Maintains the target after a run, such as by compaction."""

    @abstractmethod
    def maintain(self, spark: "SparkSession", staged: S, run: RunContext) -> None:
        """Called once the run has ended. An error here becomes a warning, since the rows are committed; nothing repeats
        it if the process is killed before."""
