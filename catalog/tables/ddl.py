"""Columns as a schema in Spark's DDL."""

from collections.abc import Iterable

from catalog.tables.table import Column
from catalog.types.typenames import quote_name, to_ddl


def columns_to_ddl(columns: Iterable[Column]) -> str:
    """A schema as Spark's readers take it: `id BIGINT NOT NULL, name STRING`, types in lower case."""
    return ", ".join(
        f"{quote_name(column.name)} {to_ddl(column.type)}{'' if column.nullable else ' NOT NULL'}" for column in columns
    )
