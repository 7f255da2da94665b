"""Prints rows as a table at the commit. Not transactional: printed rows cannot be taken back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable
from connectors.interface.run_context import RunContext
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.sink_abilities import SupportsCounts
from connectors.shared.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class ConsoleStaged(Staged):
    """`text`: the rows as they are printed; empty where they are only counted. `rows`: how many are printed."""

    text: str = ""
    rows: int | None = None


class Console(Sink[ConsoleStaged], SupportsCounts[ConsoleStaged]):
    name: ClassVar[str] = "Console"
    doc: ClassVar[str] = "Prints rows, up to a limit, as a table; rows with row kinds have theirs in the first column."
    sink_options: ClassVar[tuple[Option, ...]] = (
        Option("limit", OptionType.INTEGER, "How many rows are printed.", default=20, minimum=0),
        Option(
            "truncate", OptionType.INTEGER, "Characters of a value that are printed; 0: all.", default=40, minimum=0
        ),
        Option("log.print.data", OptionType.BOOLEAN, "Whether rows are printed; else only counted.", default=True),
    )
    staged_type: ClassVar[type[Staged]] = ConsoleStaged
    aborts_without_spark: ClassVar[bool] = True
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, SchemaSaveMode.IGNORE),
        data_save_modes=(DataSaveMode.APPEND_DATA,),
        is_staged=False,
        row_kind_modes=(WriteMode.APPEND,),
    )

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        pass

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        return TargetState(exists=False, is_known=False)

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> ConsoleStaged:
        return ConsoleStaged()

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: ConsoleStaged) -> ConsoleStaged:
        """Render the rows to print."""
        if not task.options.flag("log.print.data"):
            df.write.format("noop").mode("overwrite").save()
            return prepared
        if task.table.has_row_kind:
            df = df.selectExpr(f"{quote(ROW_KIND)} as kind", *(quote(name) for name in task.table.schema.names))
        limit, truncate = task.options.integer("limit"), task.options.integer("truncate")
        text = str(df._jdf.showString(limit, truncate, False))
        return ConsoleStaged(text, sum(line.startswith("|") for line in text.splitlines()) - 1)

    def commit(self, spark: "SparkSession", staged: ConsoleStaged, run: RunContext) -> None:
        if staged.text:
            print(staged.text.rstrip("\n"))

    def written(self, staged: ConsoleStaged) -> tuple[int, None] | None:
        return None if staged.rows is None else (staged.rows, None)

    def abort(self, spark: "SparkSession", staged: ConsoleStaged, run: RunContext) -> None:
        pass


connector = Console()
