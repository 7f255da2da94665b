"""What a sink is: the options it takes, what it can do, and the steps by which the engine writes to it.

Importing a connector imports neither pyspark nor a driver: annotations only, and imports inside the methods that run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, TypeAlias, runtime_checkable

from catalog.diagnostics import Diagnostics
from catalog.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.table import CatalogTable
from connectors.support.option import Option, Options, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class SinkCapabilities:
    """What a sink can do; a mode that is not here is a validation error (PEN4004), never a silent no-op.

    `is_staged`: nothing of a run is visible before its commit. A sink that is not says so in `explain`.
    `fills_columns`: a column that the rows lack is the target's to fill; else it is staged as NULL. `row_kind_modes`:
    the write modes that honour row kinds (`catalog.row_kind`): where `WriteTask.table.has_row_kind`, the staged rows
    have the hidden column. Rows with kinds in any other mode are a validation error (PEN4011).
    """

    schema_save_modes: tuple[SchemaSaveMode, ...]
    data_save_modes: tuple[DataSaveMode, ...]
    write_modes: tuple[WriteMode, ...] = (WriteMode.APPEND,)
    is_staged: bool = True
    fills_columns: bool = False
    row_kind_modes: tuple[WriteMode, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class WriteTask:
    """One write: what comes in, how it is to be saved, and for which run.

    `write_id` is unique in the job and stable between runs. `owner` is what a staging place must be marked with, so
    that other runs can tell whether this one lives, and `journal` where its journal is kept.
    """

    options: Options
    table: CatalogTable
    schema_save_mode: SchemaSaveMode
    data_save_mode: DataSaveMode
    write_mode: WriteMode
    run_id: str
    write_id: str
    owner: Mapping[str, Value] = field(default_factory=dict)
    journal: str = ""


Staged: TypeAlias = Mapping[str, Value]
"""What a write has made or is about to make, as JSON for the journal: a later process ends it from that alone."""


SECRETS: Final = "secrets"
"""The entry of a `Staged` that the journal leaves out: a commit of the same process has it, a later one has not."""


@runtime_checkable
class Sink(Protocol):
    """A connector that writes, in three steps; every step can be done again without harm."""

    name: ClassVar[str]
    doc: ClassVar[str]
    sink_options: ClassVar[tuple[Option, ...]]
    sink_capabilities: ClassVar[SinkCapabilities]
    maven: ClassVar[tuple[str, ...]] = ()
    session_settings: ClassVar[Mapping[str, str]] = {}

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        """Faults that can be seen without the target: options against the incoming schema."""
        ...

    def target(self, options: Options) -> str | None:
        """The directory that the rows go to, the same text however it is written; None where there is none."""
        return None

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        """What `explain` tells of a commit with these actions: where it can be seen half done, what it costs."""
        return ()

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """What is at the target now: whether it exists, holds rows, and its schema."""
        ...

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> Staged:
        """Say where the rows will be staged, touching nothing: the journal keeps it first, so that whatever a killed
        `stage` leaves can be aborted."""
        ...

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: Staged) -> Staged:
        """Write the rows where nobody sees them; gives `prepared` with what `commit` needs beside it."""
        ...

    def keeps_rows(self, options: Options) -> bool:
        """Whether `staged_rows` can give back all columns of the rows, in their types."""
        return False

    def staged_rows(self, spark: "SparkSession", task: WriteTask, staged: Staged) -> "DataFrame | None":
        """The staged rows, for rules that look at all of them before the commit; asked only where `keeps_rows`."""
        return None

    def commit(self, spark: "SparkSession", staged: Staged) -> None:
        """Make the staged rows the target's; idempotent, also after a kill half-way, and removes the staging."""
        ...

    def abort(self, spark: "SparkSession", staged: Staged) -> None:
        """Remove what was staged, the target as it was; idempotent. Called only where `commit` was not."""
        ...
