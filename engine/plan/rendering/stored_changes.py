"""What happens to the columns of rows in a target that exists, for `run --dry-run` and `explain --connect`."""

from collections.abc import Iterator, Sequence

from catalog.options import store_assignment
from catalog.tables.evolution import SchemaEvolution, StoreAssignment, diff
from catalog.tables.savemode import Action
from catalog.tables.store_assignment import may_change, shown_type, stored_column
from catalog.tables.table import CatalogTable, Column
from engine.plan.nodes import Write


def stored_changes(write: Write, target: CatalogTable, actions: Sequence[Action]) -> Iterator[str]:
    """Each difference between the rows and the target, and what the commit makes of it; none for equal schemas."""
    if Action.DROP_AND_CREATE in actions:
        yield from (str(change) for change in diff(target.schema, write.table.schema))
        return
    evolution = SchemaEvolution(str(write.options.get("schema_evolution") or SchemaEvolution.FAIL.value).lower())
    policy = store_assignment(write.options)
    for column in target.columns:
        given = write.table.column(column.name)
        if given is None:
            yield _missing(column)
        elif str(given.type) != str(column.type):
            yield _retyped(column, given, evolution, policy)
    for given in write.table.columns:
        if target.column(given.name) is None:
            does = "is added" if evolution is not SchemaEvolution.FAIL else "is not in the target"
            yield f"`{given.name}` {given.type} {does}"


def _missing(column: Column) -> str:
    return f"`{column.name}` {column.type} is not in the rows: {'its default' if column.default else 'NULL'} is stored"


def _retyped(column: Column, given: Column, evolution: SchemaEvolution, policy: StoreAssignment) -> str:
    stored = stored_column(column, given.type, evolution)
    if stored is not column:
        return f"`{column.name}` is widened from {column.type} to {stored.type}"
    checked = ""
    if may_change(given.type, column):
        checked = {
            StoreAssignment.LOSSLESS: "; a value that does not fit without loss fails the run",
            StoreAssignment.ANSI: ", rounded or cut where it does not fit",
            StoreAssignment.STRICT: ", which `store_assignment = strict` refuses",
        }[policy]
    return f"`{column.name}` {given.type} is stored as {shown_type(column)}{checked}"
