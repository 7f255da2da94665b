"""What the commit of a write does to a table of Delta, Iceberg or Paimon, as Spark SQL: shown by `explain`.

A change that SQL has no word for is a sentence.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from catalog.quoting import quote, quote_text
from catalog.tables.evolution import SchemaEvolution, widens
from catalog.tables.savemode import Action, TargetState
from catalog.tables.table import CatalogTable
from catalog.types.typenames import to_ddl
from connectors.interface.sink import WriteTask
from connectors.lakehouse.merging import keyed_rows, merge_statement
from connectors.lakehouse.timeline import versions_statement

_STAGED: Final = "staged_rows"
_OF_FILES: Final[Mapping[Action, str]] = {
    Action.REPLACE_ROWS: "remove all data files, add the staged ones",
    Action.REPLACE_PARTITIONS: "remove the data files of the staged rows' partitions, add the staged ones",
    Action.ADD_ROWS: "add the staged data files",
}


@dataclass(frozen=True, slots=True)
class TableWords:
    """A table in statements: its name in SQL, what its format calls one commit (a transaction, a snapshot), the clauses
    of a new table after its columns, and where a merge is made that the commit only publishes."""

    name: str
    commit: str
    clauses: Sequence[str]
    merged_on: str = ""


def planned(task: WriteTask, state: TargetState, actions: Sequence[Action], words: TableWords) -> Iterator[str]:
    """The statements, in order."""
    yield from planned_schema(task, state, actions, words)
    yield from planned_rows(task, actions, words)


def planned_rows(task: WriteTask, actions: Sequence[Action], words: TableWords) -> Iterator[str]:
    """What happens to the rows."""
    creates = {Action.CREATE, Action.DROP_AND_CREATE} & set(actions)
    for action in actions:
        if action in _OF_FILES or (creates and action not in creates):
            yield f"one {words.commit}: {_OF_FILES[Action.ADD_ROWS if creates else action]}"
        elif action is Action.REPLACE_MATCHING:
            condition = task.options.string("replace_where")
            yield f"DELETE FROM {words.name} WHERE {condition}, in the same {words.commit}:"
            yield "add the staged rows"
        elif (keyed := keyed_rows(task)) is not None and action in _BY_KEY:
            columns = task.table.schema.names
            if words.merged_on:
                yield f"{words.merged_on}:"
            if action is Action.ADD_VERSIONS:
                yield versions_statement(words.name, _STAGED, columns, keyed)
            else:
                yield merge_statement(words.name, _STAGED, columns, keyed, "")


_BY_KEY: Final = (Action.UPSERT_ROWS, Action.APPLY_CHANGES, Action.ADD_VERSIONS)


def planned_schema(task: WriteTask, state: TargetState, actions: Sequence[Action], words: TableWords) -> Iterator[str]:
    """The statements that create the table or change its columns."""
    if task.table.is_open:
        return
    if Action.CREATE in actions or Action.DROP_AND_CREATE in actions:
        replaces = "OR REPLACE " if Action.DROP_AND_CREATE in actions else ""
        yield " ".join((f"CREATE {replaces}TABLE {words.name} ({_columns(task.table)})", *words.clauses))
    elif state.table is not None:
        yield from _changed_columns(task, state.table, words.name)


def _columns(table: CatalogTable) -> str:
    """New tables allow NULL in every column, as Spark's writers make them."""
    return ", ".join(
        f"{quote(column.name)} {to_ddl(column.type)}"
        + (f" COMMENT {quote_text(column.comment)}" if column.comment else "")
        for column in table.columns
    )


def _changed_columns(task: WriteTask, target: CatalogTable, name: str) -> Iterator[str]:
    evolution = task.options.choice("schema_evolution", SchemaEvolution)
    if evolution is SchemaEvolution.FAIL:
        return
    missing = [column for column in task.table.columns if target.column(column.name) is None]
    if missing:
        listed = ", ".join(f"{quote(column.name)} {to_ddl(column.type)}" for column in missing)
        yield f"ALTER TABLE {name} ADD COLUMNS ({listed})"
    for column in task.table.columns if evolution is SchemaEvolution.WIDEN else ():
        there = target.column(column.name)
        if there is not None and widens(there.type, column.type):
            yield f"ALTER TABLE {name} ALTER COLUMN {quote(there.name)} TYPE {to_ddl(column.type)}"


def clauses(
    *,
    using: str = "",
    partitions: Sequence[str] = (),
    clusters: Sequence[str] = (),
    comment: str | None = None,
    properties: Mapping[str, str],
) -> tuple[str, ...]:
    """The clauses of CREATE TABLE after the columns; `partitions` and `clusters` as SQL."""
    listed = ", ".join(f"{quote_text(key)} = {quote_text(value)}" for key, value in properties.items())
    found = (
        f"USING {using}" if using else "",
        f"PARTITIONED BY ({', '.join(partitions)})" if partitions else "",
        f"CLUSTER BY ({', '.join(clusters)})" if clusters else "",
        f"COMMENT {quote_text(comment)}" if comment else "",
        f"TBLPROPERTIES ({listed})" if listed else "",
    )
    return tuple(filter(None, found))
