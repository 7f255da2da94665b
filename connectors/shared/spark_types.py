"""Spark's schemas as columns, without importing pyspark."""

from typing import TYPE_CHECKING, Any

from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import Array, DataType, Field, Map, Struct
from catalog.types.typenames import parse_type

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def of_spark_json(type: Any) -> DataType:
    """A type as Spark's JSON of a schema spells it."""
    match type:
        case str():
            return parse_type(type)
        case {"type": "array", "elementType": element}:
            return Array(of_spark_json(element))
        case {"type": "map", "keyType": key, "valueType": value}:
            return Map(of_spark_json(key), of_spark_json(value))
        case {"type": "struct", "fields": fields}:
            return Struct(tuple(Field(field["name"], of_spark_json(field["type"])) for field in fields))
        case {"type": "udt", "sqlType": inner}:
            return of_spark_json(inner)
    raise ValueError(f"no type of Spark's: {type!r}")


def columns_of(schema: "StructType") -> tuple[Column, ...]:
    return tuple(
        Column(field.name, of_spark_json(field.dataType.jsonValue()), field.nullable) for field in schema.fields
    )


def table_of(name: str, schema: "StructType") -> CatalogTable:
    return CatalogTable.of(name, columns_of(schema))
