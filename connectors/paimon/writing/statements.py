"""What the commit of a write does to a Paimon table: shown by `explain`."""

from collections.abc import Iterator, Sequence
from typing import Final

from catalog.quoting import quote
from catalog.tables.savemode import Action, TargetState
from connectors.interface.sink import WriteTask
from connectors.lakehouse.statements import TableWords, clauses, planned_schema
from connectors.paimon.table_address import folder_of
from connectors.paimon.table_files import latest_schema, spans_partitions
from connectors.paimon.writing.new_schema import table_options

_IN_ONE_SNAPSHOT: Final = {
    Action.REPLACE_ROWS: "remove all rows, add the staged data files",
    Action.REPLACE_PARTITIONS: "remove the rows of the staged rows' partitions, add the staged data files",
    Action.ADD_ROWS: "add the staged data files",
    Action.UPSERT_ROWS: "add the staged data files, whose rows replace those of equal key",
    Action.APPLY_CHANGES: "add the staged data files, whose rows replace or delete those of equal key",
}

_BY_KEY: Final = (Action.UPSERT_ROWS, Action.APPLY_CHANGES)


def planned(task: WriteTask, state: TargetState, actions: Sequence[Action]) -> Iterator[str]:
    """The statements, in order; a change that SQL has no word for is a sentence."""
    yield from planned_schema(task, state, actions, _words(task))
    if Action.DROP_AND_CREATE in actions:
        yield "the new table takes the place of the old one, which is removed"
    is_new = bool({Action.CREATE, Action.DROP_AND_CREATE} & set(actions))
    for action in actions:
        if action in _IN_ONE_SNAPSHOT:
            spans = action in _BY_KEY and not is_new and spans_partitions(latest_schema(folder_of(task.options)) or {})
            done = _IN_ONE_SNAPSHOT[Action.ADD_ROWS if is_new else action]
            yield f"one snapshot: {done}{', also in other partitions' if spans else ''}"
    if (tag := task.options.optional_string("tag")) is not None:
        yield f"the tag {tag} for that snapshot"


def _words(task: WriteTask) -> TableWords:
    keys = task.primary_keys if task.write_mode.needs_key else ()
    names = {column.name.lower(): column.name for column in task.table.columns}
    properties = {"primary-key": ",".join(keys)} if keys else {}
    found = clauses(
        partitions=tuple(map(quote, task.options.strings("partition_by"))),
        comment=task.table.comment,
        properties=properties | table_options(task.options, keys, names),
    )
    return TableWords(f"paimon.{quote(folder_of(task.options))}", "snapshot", found)
