"""What the commit of a write does to a Delta table, as Spark SQL: for people, before a run."""

from collections.abc import Iterator, Sequence
from typing import Final

from catalog.quoting import quote, quote_text
from catalog.savemode import Action, TargetState
from catalog.typenames import to_ddl
from connectors.support.delta.delta_staged import KeyedRows
from connectors.support.delta.merging import merge_statement, versions_statement
from connectors.support.sink import WriteTask

_STAGED: Final = "staged_rows"
_IN_ONE_TRANSACTION: Final = {
    Action.REPLACE_ROWS: "remove all data files, add the staged ones",
    Action.REPLACE_PARTITIONS: "remove the data files of the staged rows' partitions, add the staged ones",
    Action.ADD_ROWS: "add the staged data files",
}


def planned(task: WriteTask, state: TargetState, actions: Sequence[Action], keyed: KeyedRows | None) -> Iterator[str]:
    """The statements, in order; a change of the log that SQL has no word for is a sentence."""
    table = f"delta.{quote(task.options.string('path'))}"
    is_new = {Action.CREATE, Action.DROP_AND_CREATE} & set(actions)
    if is_new and not task.table.is_open:
        yield _create(table, task, is_replaced=Action.DROP_AND_CREATE in actions)
    elif state.table is not None:
        missing = [column for column in task.table.columns if state.table.column(column.name) is None]
        if missing:
            listed = ", ".join(f"{quote(column.name)} {to_ddl(column.type)}" for column in missing)
            yield f"ALTER TABLE {table} ADD COLUMNS ({listed})"
    columns = task.table.schema.names
    for action in actions:
        if action in _IN_ONE_TRANSACTION or (is_new and action not in is_new):
            yield f"one transaction: {_IN_ONE_TRANSACTION.get(action, _IN_ONE_TRANSACTION[Action.ADD_ROWS])}"
        elif action is Action.REPLACE_MATCHING:
            yield f"DELETE FROM {table} WHERE {task.options.optional_string('replace_where')}, in the same transaction:"
            yield "add the staged data files"
        elif action in (Action.UPSERT_ROWS, Action.APPLY_CHANGES) and keyed is not None:
            yield merge_statement(table, _STAGED, columns, keyed, "")
        elif action is Action.ADD_VERSIONS and keyed is not None:
            yield versions_statement(table, _STAGED, columns, keyed)


def _create(table: str, task: WriteTask, *, is_replaced: bool) -> str:
    columns = ", ".join(
        f"{quote(column.name)} {to_ddl(column.type)}{'' if column.nullable else ' NOT NULL'}"
        + (f" COMMENT {quote_text(column.comment)}" if column.comment else "")
        for column in task.table.columns
    )
    partitions = task.options.strings("partition_by")
    properties = task.options.texts_by_key("table_properties")
    text = f"{'CREATE OR REPLACE' if is_replaced else 'CREATE'} TABLE {table} ({columns}) USING delta"
    if partitions:
        text += f" PARTITIONED BY ({', '.join(map(quote, partitions))})"
    if clusters := task.options.strings("cluster_by"):
        text += f" CLUSTER BY ({', '.join(map(quote, clusters))})"
    if properties:
        listed = ", ".join(f"{quote_text(key)} = {quote_text(value)}" for key, value in properties.items())
        text += f" TBLPROPERTIES ({listed})"
    return text
