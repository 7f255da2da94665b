"""Tables: path, columns, keys and options."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from catalog.diagnostics.shown_names import shown_name
from catalog.types.datatypes import DataType


@dataclass(frozen=True, slots=True)
class TablePath:
    """Name of a table; `table` is never empty."""

    table: str
    schema: str | None = None
    database: str | None = None
    catalog: str | None = None

    def __post_init__(self) -> None:
        if not self.table:
            raise ValueError("a table has a name")

    @classmethod
    def parse(cls, text: str) -> "TablePath":
        """`table`, `database.table`, `database.schema.table` or `catalog.database.schema.table`."""
        parts = text.split(".")
        if not 1 <= len(parts) <= 4 or not all(parts):
            raise ValueError(f"`{text}` is not a table path: one to four names with dots between")
        match parts:
            case [table]:
                return cls(table)
            case [database, table]:
                return cls(table, None, database)
            case [database, schema, table]:
                return cls(table, schema, database)
            case [catalog, database, schema, table]:
                return cls(table, schema, database, catalog)
        raise AssertionError(parts)

    def __str__(self) -> str:
        return ".".join(part for part in (self.catalog, self.database, self.schema, self.table) if part)


UNTYPED: Final = {"untyped": "true"}
"""The options of a column that is a string only because its source has no types and nobody declared one."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `length` in characters (or bytes for binary), `source_type` as the system it comes from spells it."""

    name: str
    type: DataType
    nullable: bool = True
    default: object = None
    comment: str | None = None
    length: int | None = None
    scale: int | None = None
    source_type: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_untyped(self) -> bool:
        """Whether the column has no declared or inferred type (`UNTYPED`)."""
        return "untyped" in self.options

    def __str__(self) -> str:
        return f"{shown_name(self.name)} {shown_name(str(self.type))}" + ("" if self.nullable else " not null")

    def __reduce__(self) -> "tuple[Callable[..., Column], tuple[object, ...]]":
        """Faster to read back than what dataclasses do: a project has ten thousands of them."""
        own = (self.name, self.type, self.nullable, self.default, self.comment, self.length, self.scale)
        return Column, (*own, self.source_type, self.options)


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    columns: tuple[str, ...]
    name: str | None = None


class ConstraintType(str, Enum):
    UNIQUE_KEY = "UNIQUE_KEY"
    INDEX_KEY = "INDEX_KEY"
    FOREIGN_KEY = "FOREIGN_KEY"


@dataclass(frozen=True, slots=True)
class ConstraintKey:
    """A constraint; columns with their sort order, `ASC` or `DESC`."""

    name: str
    type: ConstraintType
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TableSchema:
    """Columns and keys. Column names must differ in more than case; keys must name existing columns."""

    columns: tuple[Column, ...]
    primary_key: PrimaryKey | None = None
    constraint_keys: tuple[ConstraintKey, ...] = ()
    _by_name: Mapping[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names: dict[str, Column] = {}
        for column in self.columns:
            folded = column.name.lower()
            if folded in names:
                raise ValueError(f"two columns are named `{folded}`")
            names[folded] = column
        object.__setattr__(self, "_by_name", names)
        keyed = list(self.primary_key.columns) if self.primary_key else []
        keyed += [name for key in self.constraint_keys for name, _ in key.columns]
        if missing := next((name for name in keyed if name.lower() not in names), None):
            raise ValueError(f"a key names the column `{missing}`, which the table does not have")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column | None:
        """The column of that name, ignoring case."""
        return self._by_name.get(name.lower())

    def __str__(self) -> str:
        return ", ".join(str(column) for column in self.columns)


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table as an edge of the plan carries it.

    `has_row_kind`: rows carry a kind (`+I -U +U -D`), a hidden column on Spark.
    `is_open`: the columns are not all known, so an unlisted name is no error.
    `repeated`: columns whose name an earlier one has, each with its position among all (0-based): the rows of a query
    may have them, those of a target may not.
    """

    path: TablePath
    schema: TableSchema
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    has_row_kind: bool = False
    is_open: bool = False
    repeated: tuple[tuple[int, Column], ...] = ()

    def __post_init__(self) -> None:
        if missing := next((name for name in self.partition_keys if self.schema.column(name) is None), None):
            raise ValueError(f"the partition key `{missing}` is not a column of `{self.path}`")

    @classmethod
    def of(cls, name: str, columns: Iterable[Column]) -> "CatalogTable":
        """A table of these columns, without keys."""
        return cls(TablePath.parse(name), TableSchema(tuple(columns)))

    @classmethod
    def unknown(cls, name: str) -> "CatalogTable":
        """A table of which only the name is known."""
        return cls(TablePath(name), TableSchema(()), is_open=True)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.schema.columns

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """All columns, with the repeated ones at their positions."""
        columns = list(self.schema.columns)
        for place, column in self.repeated:
            columns.insert(place, column)
        return tuple(columns)

    def column(self, name: str) -> Column | None:
        return self.schema.column(name)

    def renamed(self, name: str) -> "CatalogTable":
        return replace(self, path=TablePath(name))
