"""Analyzes queries with Spark's own analyzer, without running them."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from catalog.quoting import quote
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import Array, Atomic, DataType, Field, Map, Struct
from catalog.types.typetext import TypeTextError, parse_type
from engine.functions.register import register_functions
from engine.validation.analyzer_answers import Accepted, Rejected

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

_POSITION: Final = re.compile(r"\(line (\d+), pos (\d+)\)")


class SparkAnalyzer:
    """A session with empty tables that analyzes queries over them."""

    def __init__(self, spark: SparkSession, tables: Mapping[str, CatalogTable]) -> None:
        """`tables`: by the name under which queries read them; a table whose types are not all known is refused."""
        self._spark = spark
        for name, table in tables.items():
            schema = t.StructType([_field(column.name, column.type, column.nullable) for column in table.all_columns])
            spark.createDataFrame([], schema).createOrReplaceTempView(quote(name))

    def ask(self, query: str) -> Accepted | Rejected:
        session: JavaObject = self._spark._jsparkSession
        register_functions(self._spark, query)
        try:
            schema = t._parse_datatype_json_string(session.sql(query).schema().json())
        except CapturedException as error:
            return Rejected(str(error.getCondition()), str(error._desc), *_place(error, query))
        except Py4JJavaError as error:  # a plain Java exception from the analyzer
            return Rejected("", str(error.java_exception))
        assert isinstance(schema, t.StructType)
        return Accepted(tuple(Column(field.name, _read(field.dataType), field.nullable) for field in schema.fields))


def _read(type: t.DataType) -> DataType:
    match type:
        case t.ArrayType():
            return Array(_read(type.elementType), type.containsNull)
        case t.MapType():
            return Map(_read(type.keyType), _read(type.valueType), type.valueContainsNull)
        case t.StructType():
            return Struct(tuple(Field(field.name, _read(field.dataType), field.nullable) for field in type.fields))
    text = type.simpleString()
    try:
        return parse_type(text)
    except TypeTextError:  # a type that `catalog` lacks
        return Atomic(text)


def _field(name: str, type: DataType, nullable: bool) -> t.StructField:
    return t.StructField(name, _written(type), nullable)


def _written(type: DataType) -> t.DataType:
    match type:
        case Array(element, contains_null):
            return t.ArrayType(_written(element), contains_null)
        case Map(key, value, contains_null):
            return t.MapType(_written(key), _written(value), contains_null)
        case Struct(fields):
            return t.StructType([_field(field.name, field.type, field.nullable) for field in fields])
        case _:
            return t.DataType.fromDDL(str(type))


def _place(error: CapturedException, query: str) -> tuple[int | None, int | None]:
    """The range that Spark reports (end exclusive): the context of an analysis error, line and position
    of a syntax error."""
    contexts: list[Any] = error.getQueryContext()
    if contexts:
        return int(contexts[0].startIndex()), int(contexts[0].stopIndex()) + 1
    if match := _POSITION.search(str(error._desc)):
        lines = query.split("\n")[: int(match[1]) - 1]
        start = sum(len(line) + 1 for line in lines) + int(match[2])
        return start, start + 1
    return None, None
