"""A sink whose rows are documents of JSON: they are staged as such, and written in Spark's tasks at the commit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.options import Options, Value
from catalog.quoting import quote
from catalog.tables.row_kind import ROW_KIND, RowKind
from catalog.tables.savemode import Action
from catalog.tables.table import Column
from connectors.interface.row_sink import RowSink, RowsStaged, RowWrite
from connectors.interface.run_context import RunContext
from connectors.interface.sink import WriteTask
from connectors.records.json_rows import json_of
from connectors.shared.spark_types import columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DOCUMENT: Final = "value"
POSITION: Final = "position"
IS_DELETE: Final = "is_delete"
_KEY: Final = "key_{}"


class DocumentSink(RowSink):
    """`write_rows` gets these columns of each row:

        value       the row as the text of a JSON object
        position    a number that no other row of the write has, the same where the commit is repeated
        is_delete   whether the rows of this key are to be removed
        …           what `extra_columns` adds

    Where rows are matched by key, those of one key are in one task, in their order.
    """

    stages_rows: ClassVar[bool] = False

    def document(self, columns: Sequence[Column], task: WriteTask) -> str:
        """Spark SQL for the row as the text of a JSON object."""
        return json_of(columns, is_local=task.options.seatunnel is not None)

    def extra_columns(self, columns: Sequence[Column], task: WriteTask) -> Mapping[str, str]:
        """More columns that are staged: Spark SQL over the incoming rows."""
        return {}

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        return ("readers see the rows while the commit writes them: there is no transaction over all of them",)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: RowsStaged) -> RowsStaged:
        columns = [column for column in columns_of(df.schema) if column.name != ROW_KIND]
        # The row before an update may have another key than the one after it, which comes next.
        removed = f"{quote(ROW_KIND)} in ('{RowKind.DELETE.value}', '{RowKind.UPDATE_BEFORE.value}')"
        staged = {
            DOCUMENT: self.document(columns, task),
            POSITION: "monotonically_increasing_id()",
            IS_DELETE: removed if task.table.has_row_kind else "false",
            **self.extra_columns(columns, task),
        }
        if prepared.write.write_mode.needs_key:
            staged |= {_KEY.format(index): quote(name) for index, name in enumerate(prepared.write.primary_keys)}
        chosen = df.selectExpr(*(f"{value} as {quote(name)}" for name, value in staged.items()))
        return super().stage(spark, chosen, task, prepared)

    def arranged(self, df: "DataFrame", write: RowWrite) -> "DataFrame":
        keys = [_KEY.format(index) for index in range(len(write.primary_keys))]
        if not write.write_mode.needs_key or not keys:
            return df
        return df.repartition(*keys).sortWithinPartitions(POSITION).drop(*keys)

    def commit_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        """Raises the error (PEN5005) of the first task that could not write."""
        raise_first_failure(messages)

    def abort_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        """Nothing was written before the commit."""


def failure_in_task(batches: Iterable[object], write: Callable[[], None]) -> Value:
    """Write in a task. Gives what the task returns in place of raising, so that the message is not hidden in Spark's:
    None if nothing failed. Of `batches`, which are the task's, all are taken."""
    try:
        write()
    except RunError as error:
        for _ in batches:
            pass
        [first, *_] = error.diagnostics
        return {"error": first.message, "help": first.help}
    return None


def raise_first_failure(messages: Sequence[Value]) -> None:
    """Raise what the first task that failed returned (PEN5005)."""
    for failure in messages:
        if isinstance(failure, dict) and "error" in failure:
            raise run_error("PEN5005", str(failure["error"]), None, str(failure.get("help") or "") or None)
