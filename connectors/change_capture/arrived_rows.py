"""The changes of a micro-batch as a DataFrame, with the columns that the job reads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from catalog.diagnostics.diagnostic import run_error
from catalog.diagnostics.source import Span
from catalog.quoting import quote
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING
from connectors.change_capture.capture_options import SCHEMA_CHANGES
from connectors.change_capture.log_server import LogServer
from connectors.change_capture.net_changes import KindRow, all_changes, net_changes
from connectors.change_capture.table_shape import RowChange, ShapeColumn, TableShape
from connectors.jdbc.reading import converted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, eq=False, slots=True)
class WantedRows:
    """`known`: the columns that the table had when its stream began, with the database's types. `is_declared`: the job
    names the columns to read, so that others are passed over; `follows`: it takes those that are added."""

    table: CatalogTable
    known: tuple[tuple[str, str], ...]
    is_declared: bool
    follows: bool
    has_all: bool
    span: Span | None = None


def kind_rows(changes: Sequence[RowChange], has_all: bool) -> list[KindRow]:
    """Changes as rows with kinds. Raises PEN5493 where the table was emptied."""
    for change in changes:
        if change.before is None and change.after is None:
            message = f"`{change.shape.text}` was truncated, which row kinds cannot express"
            help = (
                "begin anew with a snapshot, into another target: name another checkpoint, "
                "`env { stream.checkpoint = … }`, and another `slot.name`"
            )
            raise run_error("PEN5493", message, None, help)
    is_keyed = all(change.shape.keys for change in changes)
    return list(net_changes(changes) if is_keyed and not has_all else all_changes(changes))


def rows_of(
    spark: "SparkSession", server: LogServer, shape: TableShape, rows: Sequence[KindRow], wanted: WantedRows
) -> "DataFrame":
    """The rows with the wanted columns, ROW_KIND last. `shape`: the table's columns where there is no row.

    Raises PEN5492 where the table's columns have changed in a way that the job does not allow, PEN5495 for a value that
    its type cannot hold.
    """
    found: DataFrame | None = None
    for of, listed in _by_shape(rows, shape):
        part = _converted(_typed(spark, server, of, listed), of, wanted)
        found = part if found is None else found.unionByName(part, allowMissingColumns=wanted.table.is_open)
    assert found is not None, "there is a part without rows"
    return found


def with_declared(df: "DataFrame", shape_columns: Sequence[Column], wanted: CatalogTable) -> "DataFrame":
    """Rows of a snapshot with the columns and types that the job reads, ROW_KIND last."""
    natural = {column.name.lower(): column for column in shape_columns}
    columns = wanted.columns if not wanted.is_open else tuple(shape_columns)
    values = []
    for column in columns:
        there = natural.get(column.name.lower())
        if there is None:
            known = "known: " + ", ".join(f"`{name.name}`" for name in shape_columns)
            raise run_error("PEN5004", f"the captured table has no column `{column.name}`", None, known)
        values.append(f"{converted(quote(there.name), there.type, column.type)} as {quote(column.name)}")
    return df.selectExpr(*values, f"'+I' as {quote(ROW_KIND)}")


def _by_shape(rows: Sequence[KindRow], shape: TableShape) -> Iterable[tuple[TableShape, list[KindRow]]]:
    """Rows of the same columns together, in the order in which these appear; the log has one object for them."""
    found: dict[int, list[KindRow]] = {}
    for row in rows:
        found.setdefault(id(row[2]), []).append(row)
    return [(listed[0][2], listed) for listed in found.values()] if found else [(shape, [])]


def _typed(spark: "SparkSession", server: LogServer, shape: TableShape, rows: Sequence[KindRow]) -> "DataFrame":
    import pyarrow as pa
    from pyspark.sql.types import StructType

    columns = list(zip(*(row for _, row, _ in rows), strict=True)) if rows else [() for _ in shape.columns]
    arrays = [_array(server, values, column, shape) for values, column in zip(columns, shape.columns, strict=True)]
    arrays.append(pa.array([kind for kind, _, _ in rows], pa.string()))
    table = pa.table(arrays, names=[*shape.names, ROW_KIND])
    ddl = columns_to_ddl([*(Column(column.name, column.type) for column in shape.columns), Column(ROW_KIND, STRING)])
    schema = cast("StructType", StructType.fromDDL(ddl))
    return spark.createDataFrame(table, schema) if rows else spark.createDataFrame([], schema)


def _array(server: LogServer, values: Sequence[object], column: ShapeColumn, shape: TableShape) -> object:
    try:
        return server.arrow(values, column)
    except (ValueError, TypeError, OverflowError) as error:
        message = f"a value of `{shape.text}`.`{column.name}` ({column.native}) is not {column.type}: {error}"
        raise run_error("PEN5495", message) from error


def _converted(df: "DataFrame", shape: TableShape, wanted: WantedRows) -> "DataFrame":
    check_columns(shape, wanted)
    there = {column.name.lower(): column for column in shape.columns}
    if wanted.table.is_open:
        return df
    values = []
    for column in wanted.table.columns:
        found = there.get(column.name.lower())
        value = "null" if found is None else quote(found.name)
        natural = column.type if found is None else found.type
        text = converted(value, natural, column.type) if found is not None else _null(column)
        values.append(f"{text} as {quote(column.name)}")
    return df.selectExpr(*values, quote(ROW_KIND))


def _null(column: Column) -> str:
    from catalog.types.typenames import to_ddl

    return f"cast(null as {to_ddl(column.type)})"


def check_columns(shape: TableShape, wanted: WantedRows) -> None:
    """Raise PEN5492 where the columns of a table are others than when its stream began, and the job does not say what
    to make of it."""
    there = {column.name.lower(): column for column in shape.columns}
    known = {name.lower(): native for name, native in wanted.known}
    read = known.keys() if wanted.table.is_open else {column.name.lower() for column in wanted.table.columns}
    for name in read:
        if name in known and name not in there:
            message = f"the column `{name}` of `{shape.text}` was dropped or renamed"
            help = "name the columns to read in `schema`, without it, and run the job again: it goes on"
            raise run_error("PEN5492", message, wanted.span, help)
        if name in known and name in there and _kind(known[name]) != _kind(there[name].native):
            message = f"the column `{name}` of `{shape.text}` was {known[name]}, and is {there[name].native}"
            help = "take a new snapshot: name another checkpoint, `env { stream.checkpoint = … }`"
            raise run_error("PEN5492", message, wanted.span, help)
    if wanted.is_declared or wanted.follows:
        return
    for name, column in there.items():
        if name not in known:
            message = f"the column `{column.name}` ({column.native}) was added to `{shape.text}`"
            help = f"`{SCHEMA_CHANGES} = true` adds it to the rows; a `schema` says which columns to read"
            raise run_error("PEN5492", message, wanted.span, help)


def _kind(native: str) -> str:
    return native.lower()
