"""What the commit of a write does to an Iceberg table: shown by `explain`."""

from collections.abc import Iterator, Sequence
from typing import Final

from catalog.options import Options
from catalog.quoting import parse_name, quote
from catalog.tables.savemode import Action, TargetState
from connectors.iceberg.iceberg_options import branch_of
from connectors.iceberg.partitioning import parse_field
from connectors.iceberg.sorting import parse_sort_field
from connectors.iceberg.staging import new_properties
from connectors.interface.sink import WriteTask
from connectors.lakehouse import statements

_ON_A_BRANCH: Final = "on a branch, which the commit publishes as one snapshot"


def planned(task: WriteTask, state: TargetState, actions: Sequence[Action]) -> Iterator[str]:
    """The statements, in order; a change that SQL has no word for is a sentence."""
    name = name_of(task.options)
    fields = [parse_field(text) for text in task.options.strings("partition_by")]
    properties = new_properties(task)
    found = statements.clauses(
        using="iceberg",
        partitions=[field.sql for field in fields],
        comment=properties.pop("comment", None),
        properties=properties,
    )
    words = statements.TableWords(name, "snapshot", found, _ON_A_BRANCH)
    schema = list(statements.planned_schema(task, state, actions, words))
    yield from schema
    sorts = [parse_sort_field(text).sql for text in task.options.strings("sort_by")]
    if sorts and {Action.CREATE, Action.DROP_AND_CREATE} & set(actions):
        yield f"ALTER TABLE {name} WRITE ORDERED BY {', '.join(sorts)}"
    branch = branch_of(task.options)
    for statement in statements.planned_rows(task, actions, words):
        yield statement if branch is None else f"on the branch `{branch}`, {statement}"


def name_of(options: Options) -> str:
    """The table in SQL: of its catalog, or `iceberg` for one of a warehouse or of a catalog of the job's own."""
    if (path := options.optional_string("table_path")) is not None:
        return ".".join(map(quote, parse_name(path)))
    root = options.optional_string("warehouse")
    parts = parse_name(options.string("table"))
    return ".".join(("iceberg", *map(quote, ((root,) if root else ()) + parts)))
