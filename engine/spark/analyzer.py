"""What Spark's own analyzer says of a query, asked without running anything, and how that differs from `analyze`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from catalog.datatypes import Array, Atomic, DataType, Field, Map, Struct, has_unknown
from catalog.table import CatalogTable, Column
from catalog.typetext import TypeTextError, parse_type
from sql.analyze import Analysis
from sql.select import quote

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

_NAME_OF_THE_MOMENT: Final = re.compile(r" AS \w+#\d+")  # a counter of the session's stands in it: never twice the same
_POSITION: Final = re.compile(r"\(line (\d+), pos (\d+)\)")


@dataclass(frozen=True, slots=True)
class Accepted:
    """The output columns of a query; of their types also the nullability of elements, values and fields."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """Spark's error condition (`UNRESOLVED_COLUMN.WITH_SUGGESTION`), message and the offsets it points to, if any."""

    condition: str
    message: str
    start: int | None = None
    end: int | None = None


class SparkAnalyzer:
    """One session with empty tables, which is asked about queries over them."""

    def __init__(self, spark: SparkSession, tables: Mapping[str, CatalogTable]) -> None:
        """`tables`: by the name under which queries read them; a table whose types are not all known is refused."""
        self._spark = spark
        for name, table in tables.items():
            schema = t.StructType([_field(each.name, each.type, each.nullable) for each in table.all_columns])
            spark.createDataFrame([], schema).createOrReplaceTempView(quote(name))

    def ask(self, query: str) -> Accepted | Rejected:
        session: JavaObject = self._spark._jsparkSession
        try:
            schema = t._parse_datatype_json_string(session.sql(query).schema().json())
        except CapturedException as error:
            return Rejected(str(error.getCondition()), str(error._desc), *_place(error, query))
        except Py4JJavaError as error:  # a bare exception of Java's out of the analyzer
            return Rejected("", str(error.java_exception))
        assert isinstance(schema, t.StructType)
        return Accepted(tuple(Column(each.name, _read(each.dataType), each.nullable) for each in schema.fields))


def differences(expected: Accepted, found: Analysis) -> list[str]:
    """What is wrong with an analysis against Spark's answer, one line each; unknown types are not wrong."""
    if found.table.is_open:
        return []
    if len(expected.columns) != len(found.columns):
        return [f"{len(found.columns)} columns for Spark's {len(expected.columns)}"]
    return [each for pair in zip(expected.columns, found.columns, strict=True) for each in _column_differences(*pair)]


def _column_differences(expected: Column, found: Column) -> Iterator[str]:
    name = expected.name
    if found.name != name and not _NAME_OF_THE_MOMENT.search(name):
        yield f"name {found.name!r} for Spark's {name!r}"
    if has_unknown(found.type):
        return
    if str(found.type) != str(expected.type):
        yield f"{name}: type {found.type} for Spark's {expected.type}"
    elif found.nullable != expected.nullable:
        yield f"{name}: nullable {found.nullable} for Spark's {expected.nullable}"
    elif exact(found.type) != exact(expected.type):
        yield f"{name}: inside {exact(found.type)} for Spark's {exact(expected.type)}"


def exact(type: DataType) -> str:
    """The type's text with `not null` at each element, value and field that is never null."""
    match type:
        case Array(element, contains_null):
            return f"array<{exact(element)}{_mark(contains_null)}>"
        case Map(key, value, contains_null):
            return f"map<{exact(key)},{exact(value)}{_mark(contains_null)}>"
        case Struct(fields):
            return f"struct<{','.join(f'{each.name}:{exact(each.type)}{_mark(each.nullable)}' for each in fields)}>"
        case _:
            return str(type)


def _mark(nullable: bool) -> str:
    return "" if nullable else " not null"


def _read(type: t.DataType) -> DataType:
    match type:
        case t.ArrayType():
            return Array(_read(type.elementType), type.containsNull)
        case t.MapType():
            return Map(_read(type.keyType), _read(type.valueType), type.valueContainsNull)
        case t.StructType():
            return Struct(tuple(Field(each.name, _read(each.dataType), each.nullable) for each in type.fields))
    text = type.simpleString()
    try:
        return parse_type(text)
    except TypeTextError:  # one that `catalog` has no word for
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
            return t.StructType([_field(each.name, each.type, each.nullable) for each in fields])
        case _:
            return t.DataType.fromDDL(str(type))


def _place(error: CapturedException, query: str) -> tuple[int | None, int | None]:
    """Where Spark points (end exclusive): the context of an analysis error, line and position of a syntax error."""
    contexts: list[Any] = error.getQueryContext()
    if contexts:
        return int(contexts[0].startIndex()), int(contexts[0].stopIndex()) + 1
    if match := _POSITION.search(str(error._desc)):
        lines = query.split("\n")[: int(match[1]) - 1]
        start = sum(len(line) + 1 for line in lines) + int(match[2])
        return start, start + 1
    return None, None
