"""The interface of sinks: options, capabilities, and the steps by which the engine writes.

Importing a connector imports neither pyspark nor a driver: annotations only, and imports inside the methods that run.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option, Options, Value
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable
from connectors.commits.micro_batches import MicroBatch
from connectors.interface.base import Connector
from connectors.interface.run_context import RunContext
from connectors.shared.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

S = TypeVar("S", bound=Staged)


@dataclass(frozen=True, slots=True)
class SinkCapabilities:
    """What a sink supports; any other mode is a validation error (PEN4004), never a silent no-op.

    `is_staged`: a commit can be repeated. Sinks without it print rows at the commit; `explain` reports them.
    `fills_columns`: the target fills columns that the rows lack; otherwise they are staged as NULL. `row_kind_modes`:
    the write modes that apply row kinds (`catalog.tables.row_kind`): if `WriteTask.table.has_row_kind`, the staged rows
    have the hidden column. Rows with kinds in any other mode are a validation error (PEN4011).
    `allows_concurrent_runs`: the sink sees to runs that write one target at the same time: it locks the target, or its
    commits are resolved against each other. For other sinks, the engine refuses the second run (PEN5007).
    `commits_side_by_side`: runs that replace different rows of one target can be made at once; other sinks let one
    run at a time write a target.
    """

    schema_save_modes: tuple[SchemaSaveMode, ...]
    data_save_modes: tuple[DataSaveMode, ...]
    write_modes: tuple[WriteMode, ...] = (WriteMode.APPEND,)
    is_staged: bool = True
    fills_columns: bool = False
    row_kind_modes: tuple[WriteMode, ...] = ()
    allows_concurrent_runs: bool = False
    commits_side_by_side: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class WriteTask:
    """One write: the incoming table, the save modes, and the run.

    `write_id` is unique in the job and stable between runs. `scratch` is a directory for staged rows that belongs to
    this write alone; nobody has created it yet, and the sink removes it. `owner` is the mark for staging locations, by
    which other runs see whether this one is running; `journal` is the location of its journal. `batch_id`: the
    number of a stream's micro-batch; None for any other run. `looks_for_rows`: `inspect` must find out whether the
    target holds rows. `is_fresh`: nobody can have committed this write before, so that the target need not be searched
    for it. `work`: a digest of what the write stands for (`connectors.commits.marks`), which its mark in the
    target records. `is_of_stream`: the run is a micro-batch. Where `table.has_row_kind`, the rows end in the column
    `catalog.tables.row_kind.ROW_KIND`.
    """

    options: Options
    table: CatalogTable
    schema_save_mode: SchemaSaveMode
    data_save_mode: DataSaveMode
    write_mode: WriteMode
    run: RunContext
    write_id: str
    scratch: str = ""
    owner: Mapping[str, Value] = field(default_factory=dict)
    journal: str = ""
    batch_id: int | None = None
    looks_for_rows: bool = False
    is_fresh: bool = False
    work: str = ""
    is_of_stream: bool = False

    @property
    def run_id(self) -> str:
        return self.run.run_id

    @property
    def asks_for_rows(self) -> bool:
        """Whether `inspect` must know whether the target holds rows; else it may suppose so."""
        return self.looks_for_rows or self.data_save_mode is DataSaveMode.ERROR_WHEN_DATA_EXISTS

    @property
    def identity(self) -> str:
        """The unit that is committed at most once: this write of this run."""
        return f"{self.run_id}.{self.write_id}"

    @property
    def micro_batch(self) -> MicroBatch | None:
        """The place of this write among those of its stream; None for any other run."""
        return MicroBatch.of(self.run_id, self.identity, self.batch_id)

    @property
    def epoch(self) -> int:
        """The epoch of the run's claim; 0 without one."""
        return 0 if self.run.claim is None else self.run.claim.epoch

    @property
    def attempt(self) -> str:
        """Names what this attempt of the write stages. A run that was rolled back and is begun again has another
        epoch, so that a process of the earlier attempt which is still running writes elsewhere."""
        return f"{self.identity}{f'~{self.epoch}' if self.epoch > 1 else ''}"

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """The columns that identify a row: the option `primary_keys`, else the incoming table's primary key."""
        key = self.table.schema.primary_key
        return self.options.strings("primary_keys") or (key.columns if key else ())


def refuse_unknown_columns(
    names: Iterable[str], option: str, options: Options, table: CatalogTable, diagnostics: Diagnostics
) -> None:
    """Report the columns that the option names and the rows do not have (PEN4008)."""
    for name in names:
        if not table.is_open and table.column(name) is None:
            hint = did_you_mean(name, table.schema.names)
            diagnostics.error("PEN4008", f"the rows have no column `{name}`", options.span(option), hint)


def refuse_without_key(
    mode: WriteMode, key_option: str, options: Options, table: CatalogTable, diagnostics: Diagnostics
) -> bool:
    """Report a write mode that needs a key (PEN2011) where neither the option nor the rows name one; whether it did."""
    key = table.schema.primary_key
    if not mode.needs_key or table.is_open or options.strings(key_option) or (key and key.columns):
        return False
    message = f"write_mode {mode.value} needs a key, and the rows have none"
    diagnostics.error("PEN2011", message, options.span("write_mode"), f'{key_option} = ["id"]')
    return True


def refuse_plain_rows(mode: WriteMode, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report write_mode changelog (PEN2011) if nothing says which rows are deletes."""
    if mode is WriteMode.CHANGELOG and not table.has_row_kind and not options.optional_string("delete_condition"):
        message = "write_mode changelog needs rows with row kinds, or `delete_condition`"
        diagnostics.error("PEN2011", message, options.span("write_mode"), "write_mode = upsert writes plain rows")


class Sink(Connector, Generic[S]):
    """A connector that writes, in three steps; every step can safely be repeated. `sink_abilities` has what it may do
    in addition.

    `staged_type` is the class that its steps pass on (`Sink[TableStaged]`), and as which the journal is read.
    `aborts_without_spark`: `abort` takes None for the session where the staging directory is on this machine's disk.
    """

    sink_options: ClassVar[tuple[Option, ...]]
    sink_capabilities: ClassVar[SinkCapabilities]
    staged_type: ClassVar[type[Staged]]
    aborts_without_spark: ClassVar[bool] = False
    required_attributes: ClassVar[tuple[str, ...]] = ("sink_options", "sink_capabilities", "staged_type")

    @abstractmethod
    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        """Report errors that can be found without the target, such as options that do not fit the incoming schema."""

    def offered_options(self) -> tuple[Option, ...]:
        """The sink's options; its save and write modes name what it supports."""
        can = self.sink_capabilities
        modes: dict[str, tuple[Enum, ...]] = {
            "schema_save_mode": can.schema_save_modes,
            "data_save_mode": can.data_save_modes,
            "write_mode": can.write_modes,
        }
        return tuple(
            replace(option, offered=tuple(str(mode.value) for mode in modes[option.name]))
            if option.name in modes
            else option
            for option in self.sink_options
        )

    def default_write_mode(self, options: Options, table: CatalogTable) -> WriteMode:
        """The write mode of the table's rows if the job names none."""
        return self.sink_capabilities.write_modes[0]

    def row_kind_modes(self, options: Options) -> tuple[WriteMode, ...]:
        """The write modes that apply row kinds, with these options."""
        return self.sink_capabilities.row_kind_modes

    def target(self, options: Options) -> str | None:
        """The location of the target, normalized; None if there is none."""
        return None

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        """Notes for `explain` on a commit with these actions: whether it can be seen half done, what it costs."""
        return ()

    @abstractmethod
    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """The current state of the target: whether it exists and holds rows, and its schema."""

    @abstractmethod
    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> S:
        """Return where the rows will be staged, without changing anything. The journal records it before `stage`, so
        that the remains of a killed `stage` can be aborted."""

    @abstractmethod
    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: S) -> S:
        """Write the rows where readers do not see them; returns `prepared` with what `commit` needs in addition."""

    @abstractmethod
    def commit(self, spark: "SparkSession", staged: S, run: RunContext) -> None:
        """Make the staged rows the target's; idempotent, also after a kill half-way, and removes the staging."""

    def staged_jars(self, staged: S) -> tuple[str, ...]:
        """Coordinates of the jars that another process needs to end the write."""
        return self.maven

    @abstractmethod
    def abort(self, spark: "SparkSession", staged: S, run: RunContext) -> None:
        """Remove what was staged and leave the target unchanged; idempotent. Called only if `commit` was not."""


AnySink: TypeAlias = Sink[Any]
"""Any sink; only the sink itself knows its staged class."""
