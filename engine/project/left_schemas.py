"""The columns that a job leaves at its targets: those that a job after it reads there.

Of a target that is kept, they are its own, with the columns that the write adds and the types that it widens.
"""

from collections.abc import Iterator

from catalog.tables.evolution import SchemaEvolution
from catalog.tables.savemode import SchemaSaveMode
from catalog.tables.store_assignment import stored_column
from catalog.tables.table import Column
from catalog.types.datatypes import has_unknown
from connectors.interface.sink_abilities import SupportsKnownTable
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.nodes import Plan, Write
from engine.project.written_schemas import Written, filled_columns


def left_schemas(plan: Plan, before: Written) -> dict[Dataset, tuple[Column, ...]]:
    """The columns of each target once the job has run, as far as they are known without a connection. `before`: what
    the jobs before it leave."""
    found = dict(before)
    for write in plan.writes:
        target = dataset_of(write)
        if target is None:
            continue
        columns = tuple(_left(write, found.get(target)))
        if columns and not any(has_unknown(column.type) for column in columns):
            found[target] = columns
        else:
            found.pop(target, None)
    return found


def _left(write: Write, before: tuple[Column, ...] | None) -> Iterator[Column]:
    if write.table.is_open:
        return
    if "file_format_type" in write.options.values and write.options.get("partition_by"):
        return  # a reader finds the types of such columns from the names of directories
    kept = before
    if kept is None and isinstance(write.connector, SupportsKnownTable):
        table = write.connector.known_table(write.options)
        kept = None if table is None else table.columns
    if kept is None or write.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA:
        yield from (*write.table.columns, *filled_columns(write))
        return
    evolution = SchemaEvolution(str(write.options.get("schema_evolution") or SchemaEvolution.FAIL.value).lower())
    rows = {column.name.lower(): column for column in write.table.columns}
    for column in kept:
        given = rows.pop(column.name.lower(), None)
        yield column if given is None else stored_column(column, given.type, evolution)
    if evolution is not SchemaEvolution.FAIL:
        yield from rows.values()
