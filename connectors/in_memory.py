"""Rows kept in the memory of this process, for tests of jobs: Apache SeaTunnel's InMemory sink."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Option, Options, OptionType
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable
from connectors.interface.run_context import RunContext
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.shared.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS: Final[dict[str, list[Any]]] = {}
"""The rows committed by this process, by table name."""

_STAGED: Final[dict[str, list[Any]]] = {}


@dataclass(frozen=True, slots=True)
class InMemoryStaged(Staged):
    """`identity`: the write whose rows are staged in this process; `table`: where they go."""

    identity: str
    table: str


class InMemory(Sink[InMemoryStaged]):
    name: ClassVar[str] = "InMemory"
    doc: ClassVar[str] = "Keeps rows in the memory of the driver's process, for tests: they are lost when it ends."
    sink_options: ClassVar[tuple[Option, ...]] = (
        Option("limit", OptionType.INTEGER, "The most rows that are kept.", default=10_000, minimum=0),
        Option("throw_exception", OptionType.BOOLEAN, "Whether the write fails, to test what then happens."),
        Option("throw_exception_of_committer", OptionType.BOOLEAN, "As `throw_exception`.", default=False),
    )
    staged_type: ClassVar[type[Staged]] = InMemoryStaged
    aborts_without_spark: ClassVar[bool] = True
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, SchemaSaveMode.IGNORE),
        data_save_modes=(DataSaveMode.APPEND_DATA,),
        row_kind_modes=(WriteMode.APPEND,),
    )

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        pass

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        return TargetState(exists=False, is_known=False)

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> InMemoryStaged:
        return InMemoryStaged(task.identity, str(task.table.path))

    def stage(
        self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: InMemoryStaged
    ) -> InMemoryStaged:
        if task.options.flag("throw_exception") or task.options.flag("throw_exception_of_committer"):
            raise run_error("PEN5005", "`throw_exception` is set: the write fails", task.options.span())
        limit = task.options.integer("limit")
        rows = df.limit(limit + 1).collect()
        if len(rows) > limit:
            help = "raise `limit`, or write to a file"
            raise run_error("PEN5005", f"more than {limit:,} rows came to InMemory", task.options.span(), help)
        _STAGED[prepared.identity] = rows
        return prepared

    def commit(self, spark: "SparkSession", staged: InMemoryStaged, run: RunContext) -> None:
        ROWS.setdefault(staged.table, []).extend(_STAGED.pop(staged.identity, []))

    def abort(self, spark: "SparkSession", staged: InMemoryStaged, run: RunContext) -> None:
        _STAGED.pop(staged.identity, None)


connector = InMemory()
