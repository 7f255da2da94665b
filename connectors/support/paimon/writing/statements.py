"""What the commit of a write does to a Paimon table: for people, before a run."""

from collections.abc import Iterator, Sequence
from typing import Final

from catalog.quoting import quote, quote_text
from catalog.savemode import Action, TargetState
from catalog.typenames import to_ddl
from connectors.support.paimon.table_address import folder_of
from connectors.support.paimon.writing.new_schema import table_options
from connectors.support.sink import WriteTask

_IN_ONE_SNAPSHOT: Final = {
    Action.REPLACE_ROWS: "remove all rows, add the staged data files",
    Action.REPLACE_PARTITIONS: "remove the rows of the staged rows' partitions, add the staged data files",
    Action.ADD_ROWS: "add the staged data files",
    Action.UPSERT_ROWS: "add the staged data files, whose rows replace those of equal key",
    Action.APPLY_CHANGES: "add the staged data files, whose rows replace or delete those of equal key",
}


def planned(task: WriteTask, state: TargetState, actions: Sequence[Action]) -> Iterator[str]:
    """The statements, in order; a change that SQL has no word for is a sentence."""
    table = f"paimon.{quote(folder_of(task.options))}"
    is_new = bool({Action.CREATE, Action.DROP_AND_CREATE} & set(actions))
    if is_new and not task.table.is_open:
        yield _create(table, task)
        if Action.DROP_AND_CREATE in actions:
            yield "the new table takes the place of the old one, which is removed"
    elif state.table is not None:
        missing = [column for column in task.table.columns if state.table.column(column.name) is None]
        if missing:
            listed = ", ".join(f"{quote(column.name)} {to_ddl(column.type)}" for column in missing)
            yield f"ALTER TABLE {table} ADD COLUMNS ({listed})"
    for action in actions:
        if action in _IN_ONE_SNAPSHOT:
            yield f"one snapshot: {_IN_ONE_SNAPSHOT[Action.ADD_ROWS if is_new else action]}"
    if (tag := task.options.optional_string("tag")) is not None:
        yield f"the tag {tag} for that snapshot"


def _create(table: str, task: WriteTask) -> str:
    keys = task.primary_keys if task.write_mode.needs_key else ()
    columns = ", ".join(
        f"{quote(column.name)} {to_ddl(column.type)}"
        + (f" COMMENT {quote_text(column.comment)}" if column.comment else "")
        for column in task.table.columns
    )
    names = {column.name.lower(): column.name for column in task.table.columns}
    properties = {"primary-key": ",".join(keys)} if keys else {}
    properties |= table_options(task.options, keys, names)
    listed = ", ".join(f"{quote_text(key)} = {quote_text(value)}" for key, value in properties.items())
    partitions = ", ".join(map(quote, task.options.strings("partition_by")))
    return (
        f"CREATE TABLE {table} ({columns})"
        + (f" PARTITIONED BY ({partitions})" if partitions else "")
        + f" TBLPROPERTIES ({listed})"
    )
