"""Shared by native transforms: output tables, and rows as Arrow batches."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options, Value
from catalog.quoting import quote
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import DataType
from catalog.types.typenames import TypeTextError, to_spark, type_of_value
from connectors.shared.mapped_rows import mapped_rows
from engine.transforms.support import arrow_rows

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame


def with_added(table: CatalogTable, added: Mapping[str, DataType]) -> CatalogTable:
    """The table with columns added; an existing column of that name is replaced, at its position."""
    new = {name.lower(): Column(name, type) for name, type in added.items()}
    kept = [
        replace(column, type=new.pop(key).type, nullable=True) if (key := column.name.lower()) in new else column
        for column in table.columns
    ]
    return replace(table, schema=replace(table.schema, columns=(*kept, *new.values())))


def declared_columns(
    value: Value, option: str, options: Options, diagnostics: Diagnostics
) -> dict[str, DataType] | None:
    """A list of `{dest_field, dest_type = string}` as names and types; None if an error was reported."""
    mark = diagnostics.mark()
    found: dict[str, DataType] = {}
    for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
        if not isinstance(item, Mapping) or not item.get("dest_field"):
            diagnostics.error("PEN2005", "a column needs `dest_field`", options.span(f"{option}.{index}"))
            continue
        try:
            found[str(item["dest_field"])] = type_of_value(item.get("dest_type") or "string").type
        except TypeTextError as error:
            diagnostics.error("PEN4001", str(error), options.span(f"{option}.{index}.dest_type"))
    return None if mark.has_errors else found


def by_batches(
    df: "DataFrame",
    table: CatalogTable,
    run: "Callable[[Iterator[pyarrow.RecordBatch], pyarrow.Schema], Iterator[pyarrow.RecordBatch]]",
    *modules: ModuleType,
) -> "DataFrame":
    """The rows of `df` through `run`, as those of `table`; hidden columns of `df` stay, behind the others.

    `modules`: what `run` comes from; they are sent to the workers, where Penstock need not be installed.
    """
    from pyspark import cloudpickle
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    listed = {column.name.lower() for column in table.columns}
    ddl = ", ".join(f"{quote(column.name)} {to_spark(column.type)}" for column in table.columns)
    wanted = StructType(list(StructType.fromDDL(ddl)))  # type: ignore[call-overload]
    for field in df.schema:
        if field.name.lower() not in listed and field.name.startswith("_"):
            wanted.add(field)
    schema = to_arrow_schema(wanted)

    def rows(batches: "Iterable[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        return run(iter(batches), schema)

    for module in (arrow_rows, *modules):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return mapped_rows(df, rows, wanted)


def texts(value: Value) -> Sequence[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
