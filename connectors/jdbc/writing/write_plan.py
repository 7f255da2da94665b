"""The write that a job describes."""

from dataclasses import dataclass

from catalog.tables.table import CatalogTable
from connectors.jdbc.connection import Connection
from connectors.jdbc.writing.staged_rows import Keyed


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The write that a job describes, without its target. `has_index`: whether a new table gets its primary key."""

    connection: Connection
    keyed: Keyed
    query: str | None
    custom_sql: tuple[str, ...]
    batch_size: int
    declared: CatalogTable
    widens: bool = False
    has_index: bool = True
