"""Spark's schemas as columns, without importing pyspark."""

from typing import TYPE_CHECKING

from catalog.table import CatalogTable, Column
from connectors.file_schema import of_spark_json

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def columns_of(schema: "StructType") -> tuple[Column, ...]:
    return tuple(Column(each.name, of_spark_json(each.dataType.jsonValue()), each.nullable) for each in schema.fields)


def table_of(name: str, schema: "StructType") -> CatalogTable:
    return CatalogTable.of(name, columns_of(schema))
