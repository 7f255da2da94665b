"""The columns of a captured table as its log has them at one time, and its changes."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias

from catalog.tables.table import CatalogTable, Column, PrimaryKey, TablePath, TableSchema
from catalog.types.datatypes import DataType

Row: TypeAlias = tuple[Any, ...]
"""The values of a row, in the order of the shape's columns."""


class _Unsent(Enum):
    """A value that the log leaves out, since the update did not change it (PostgreSQL's TOAST)."""

    UNSENT = "unsent"


UNSENT: Final = _Unsent.UNSENT


@dataclass(frozen=True, slots=True)
class ShapeColumn:
    """A column: the type of Spark that holds its values, and the database's own name for the type."""

    name: str
    type: DataType
    native: str
    is_nullable: bool = True


@dataclass(frozen=True, slots=True)
class TableShape:
    """`keys`: the columns that identify a row, by their index; none where the table has no key."""

    name: tuple[str, ...]
    columns: tuple[ShapeColumn, ...]
    keys: tuple[int, ...] = ()
    comment: str | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        return ".".join(self.name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def key_names(self) -> tuple[str, ...]:
        return tuple(self.columns[index].name for index in self.keys)

    def as_table(self) -> CatalogTable:
        """The table of the rows that are read: only its key is NOT NULL, since a delete may have nothing else."""
        columns = tuple(
            Column(column.name, column.type, nullable=index not in self.keys, source_type=column.native)
            for index, column in enumerate(self.columns)
        )
        key = PrimaryKey(self.key_names) if self.keys else None
        path = TablePath(self.name[-1], *reversed(self.name[:-1]))
        return CatalogTable(path, TableSchema(columns, key), comment=self.comment, has_row_kind=True)


@dataclass(frozen=True, slots=True)
class RowChange:
    """One change: the row `before` (None of an insert) and `after` it (None of a delete). Of a row before, only the key
    may be known; the others are None then, and `has_before` is false."""

    shape: TableShape
    before: Row | None
    after: Row | None
    has_before: bool = True
