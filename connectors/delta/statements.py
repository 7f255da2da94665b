"""What the commit of a write does to a Delta table: shown by `explain`."""

from catalog.quoting import quote
from connectors.interface.sink import WriteTask
from connectors.lakehouse.statements import TableWords, clauses


def table_syntax(task: WriteTask, name: str | None = None) -> TableWords:
    """The table in statements, by its name in SQL; without one, by its path."""
    options = task.options
    found = clauses(
        using="delta",
        partitions=tuple(map(quote, options.strings("partition_by"))),
        clusters=tuple(map(quote, options.strings("cluster_by"))),
        comment=task.table.comment,
        properties=options.texts_by_key("table_properties"),
    )
    return TableWords(name or f"delta.{quote(options.string('path'))}", "transaction", found)
