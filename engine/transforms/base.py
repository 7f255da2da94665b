"""The interfaces of transforms: options, and how a transform becomes a query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, runtime_checkable

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText
from catalog.options import Option, Options
from catalog.quoting import quote, quote_text
from catalog.tables.row_kind import ROW_KIND, RowKind
from catalog.tables.table import CatalogTable, TablePath
from catalog.tables.violation import OnViolation
from sql.rewrite.select_query import Projection, Select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@runtime_checkable
class TableTransform(Protocol):
    """A transform of one table: a Select over it. Several inputs are united first.

    The table has the name that the job gives the input or, with the attribute `reads_path = True`, its own path.
    """

    name: ClassVar[str]
    doc: ClassVar[str]
    options: ClassVar[tuple[Option, ...]]

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        """The query over `table`, whose path's last name it reads; None if an error was reported. An open table's
        columns are not known: nothing may be said of those that it does not list."""
        ...


@runtime_checkable
class RowKindTransform(TableTransform, Protocol):
    """A transform of one table that reads row kinds: its Select may name the hidden column (`row_kind_of`)."""

    def keeps_row_kind(self, options: Options) -> bool:
        """Whether the output rows have kinds if the input rows do."""
        ...


@runtime_checkable
class RoutingTransform(TableTransform, Protocol):
    """A transform of one table that routes some of its rows into another table."""

    def routed(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> tuple[str, Select] | None:
        """The path of the other table and its query over `table`; None if there is none."""
        ...


def row_kind_of(table: CatalogTable) -> str:
    """Spark SQL for the kind of a row; without kinds, all rows are inserts."""
    return quote(ROW_KIND) if table.has_row_kind else quote_text(RowKind.INSERT.value)


@runtime_checkable
class QueryTransform(Protocol):
    """A transform of several named inputs: a query that a user wrote."""

    name: ClassVar[str]
    doc: ClassVar[str]
    options: ClassVar[tuple[Option, ...]]

    def query(
        self, inputs: Mapping[str, CatalogTable], options: Options, diagnostics: Diagnostics
    ) -> PlacedText | None:
        """The query; it reads the inputs by their names."""
        ...


@dataclass(frozen=True, slots=True)
class TableGroup:
    """A table that a `SetTransform` yields: its path, and the tables of its input, by their places, that it holds."""

    path: TablePath
    members: tuple[int, ...]


@runtime_checkable
class SetTransform(Protocol):
    """A transform of a set of tables: it renames, leaves out or unites tables, without changing rows."""

    name: ClassVar[str]
    doc: ClassVar[str]
    options: ClassVar[tuple[Option, ...]]

    def groups(
        self, tables: Sequence[CatalogTable], options: Options, diagnostics: Diagnostics
    ) -> tuple[TableGroup, ...] | None:
        """The tables that it yields; None if an error was reported."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Route:
    """A table that a `RouteTransform` makes: the value of the table column by which its rows are known, the table as
    it is declared, and the query over the input that makes it."""

    value: str
    table: CatalogTable
    select: Select


@runtime_checkable
class RouteTransform(Protocol):
    """A transform that makes a set of tables of one stream of rows, by a column that names each row's table."""

    name: ClassVar[str]
    doc: ClassVar[str]
    options: ClassVar[tuple[Option, ...]]

    def routes(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> tuple[Route, ...] | None:
        """The tables; None where an error was reported."""
        ...

    def on_unknown_table(self, options: Options, diagnostics: Diagnostics) -> tuple[OnViolation, str | None]:
        """What rows of no listed table do, and the output that they are quarantined in."""
        ...


@runtime_checkable
class NativeTransform(Protocol):
    """A transform of one table in code, for what SQL cannot express; Python code gets Arrow batches.

    `is_expensive`: its rows are computed once, however many read them.
    """

    name: ClassVar[str]
    doc: ClassVar[str]
    options: ClassVar[tuple[Option, ...]]
    is_expensive: ClassVar[bool]

    def output(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable | None:
        """The output table for `table`; None if an error was reported, or the columns are not known."""
        ...

    def apply(self, df: "DataFrame", table: CatalogTable, options: Options) -> "DataFrame":
        """The rows of `df` as those of `table`, its output. Columns of `df` that `table` does not list (the hidden row
        kind) stay."""
        ...


@runtime_checkable
class StatefulTransform(NativeTransform, Protocol):
    """A transform in code that, over a stream, keeps state from batch to batch: Spark runs it, on streaming
    DataFrames."""

    keeps_state: ClassVar[bool]


Transform: TypeAlias = TableTransform | QueryTransform | NativeTransform | SetTransform | RouteTransform


def check_columns(table: CatalogTable, names: Mapping[str, str], options: Options, diagnostics: Diagnostics) -> bool:
    """Whether `table` has the columns; `names` maps each to its option (dotted), for the location of errors."""
    missing = [name for name in names if table.column(name) is None]
    if table.is_open:
        return not missing
    for name in missing:
        diagnostics.error(
            "PEN3004",
            f"column `{name}` does not exist in `{table.path.table}`",
            options.span(names[name]),
            did_you_mean(name, table.schema.names),
        )
    return not missing


def with_columns(table: CatalogTable, added: Mapping[str, str]) -> Select:
    """All columns of `table`, and the added ones (name = expression) after them; one of a column's name replaces it."""
    new = {name.lower(): expression for name, expression in added.items()}
    kept = tuple(Projection(name, new.pop(name.lower(), quote(name))) for name in table.schema.names)
    more = tuple(Projection(name, expression) for name, expression in added.items() if name.lower() in new)
    return Select(table.path.table, kept + more)
