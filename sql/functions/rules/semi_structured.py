"""Result rules of functions over JSON, CSV and variants, whose type a schema may name."""

import json
import re
from functools import reduce
from typing import Final

from sqlglot import exp

from catalog.types.avro_types import AvroSchemaError, type_of_avro
from catalog.types.datatypes import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Field,
    Map,
    Struct,
)
from sql.functions.rules.call import Call, Rule
from sql.parsing.call_names import call_name
from sql.parsing.typed_literals import is_date, read_timestamp
from sql.types.casts import can_cast
from sql.types.mismatch import Mismatch
from sql.types.type_names import parse_schema, schema_error


def to_variant_object(call: Call) -> DataType:
    if not _fits_variant(call.type(0)):
        raise Mismatch(f"{call.type(0)} can't become a variant", 0)
    return VARIANT


def _fits_variant(type: DataType) -> bool:
    match type:
        case Array(element):
            return _fits_variant(element)
        case Map(key, value):
            return key in (STRING, UNKNOWN) and _fits_variant(value)
        case Struct(fields):
            return all(_fits_variant(field.type) for field in fields)
        case _:
            return type != VOID and can_cast(type, VARIANT)


def from_json(call: Call) -> DataType:
    found = _schema(call, 1)
    if found != UNKNOWN and not isinstance(found, (Struct, Array, Map)) and found != VARIANT:
        raise Mismatch(f"the schema of JSON is a struct, an array, a map or a variant, this is {found}", 1)
    return found


def from_csv(call: Call) -> DataType:
    found = _schema(call, 1)
    if found != UNKNOWN and not isinstance(found, Struct):
        raise Mismatch(f"the schema of CSV is a struct, this is {found}", 1)
    return found


def from_avro(call: Call) -> DataType:
    text = call.text(1)
    if text is None:
        return UNKNOWN
    try:
        type = type_of_avro(text)
    except AvroSchemaError as error:
        raise Mismatch(str(error), 1) from error
    return type if len(call.args) < 3 else UNKNOWN  # which may name a mode, in which every part may be null


def protobuf(call: Call) -> DataType:
    """Spark's module for Protobuf was published for no version of Spark 4.1, so that a run cannot have it."""
    raise Mismatch(f"`{call.name}` needs spark-protobuf, of which there is no jar for Spark 4.1", None, "PEN3006")


def variant_get(call: Call) -> DataType:
    if len(call.args) < 3:
        return VARIANT
    return _schema(call, 2)


def _schema(call: Call, index: int) -> DataType:
    """The type that a literal argument names; unknown where it is no literal."""
    text = call.text(index)
    if text is None:
        return _sampled(call.nodes[index])
    error = schema_error(text)
    if error is not None:
        raise Mismatch(f"'{text}' is not a schema: {error}", index)
    return parse_schema(text) or UNKNOWN


def _sampled(node: exp.Expr) -> DataType:
    """The type of `schema_of_json('…')` and `schema_of_csv('…')` over a literal; unknown of anything else."""
    name = call_name(node).lower() if isinstance(node, exp.Anonymous) else ""
    if name not in ("schema_of_json", "schema_of_csv") or len(node.expressions) != 1:
        return UNKNOWN
    sample = node.expressions[0]
    if not isinstance(sample, exp.Literal) or not sample.is_string:
        return UNKNOWN
    if name == "schema_of_csv":
        return _type_of_line(sample.name)
    try:
        return _with_strings(_type_of(json.loads(sample.name)))
    except (ValueError, RecursionError):
        return UNKNOWN


def _type_of_line(line: str) -> DataType:
    """Of numbers, booleans, words, dates and times; of cells with quotes or escapes within nothing is said."""
    if not line or any(sign in line for sign in "\\\n\r\t") or not _CELLS.fullmatch(line):
        return UNKNOWN
    cells = [_type_of_cell(cell[1:-1] if cell[:1] == '"' else cell) for cell in _CELL.findall(line)]
    if UNKNOWN in cells:
        return UNKNOWN
    return Struct(tuple(Field(f"_c{index}", type) for index, type in enumerate(cells)))


def _type_of_cell(cell: str) -> DataType:
    if re.fullmatch(r"[+-]?\d+", cell):
        number = int(cell)
        return INT if -(2**31) <= number < 2**31 else BIGINT if -(2**63) <= number < 2**63 else UNKNOWN
    if re.fullmatch(r"[+-]?\d*\.\d+", cell):
        return DOUBLE
    if re.fullmatch(r"\d{4}-\d\d-\d\d", cell) and is_date(cell):
        return DATE
    if _MOMENT.fullmatch(cell):
        return STRING if read_timestamp(cell) is None else TIMESTAMP
    if cell.lower() in ("true", "false"):
        return BOOLEAN
    if not cell or "," in cell or "/" in cell:
        return STRING
    return STRING if re.fullmatch(r"[A-Za-z_ ]*[A-Za-z][A-Za-z_ ]*", cell) and cell not in _NUMBER_WORDS else UNKNOWN


_MOMENT: Final = re.compile(
    r"(\d{4}-\d{1,2}(-\d{1,2}([ T]\d{1,2}:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?)?|\d{1,2}:\d\d(:\d\d)?)"
)
_CELL: Final = re.compile(r'(?:(?<=,)|^)("[^"]*"|[^",]*)(?=,|$)')
_CELLS: Final = re.compile(r'("[^"]*"|[^",]*)(,("[^"]*"|[^",]*))*')
_NUMBER_WORDS: Final = frozenset(("NaN", "Inf", "Infinity"))


def _type_of(value: object) -> DataType:
    match value:
        case bool():
            return BOOLEAN
        case int():
            return BIGINT if -(2**63) <= value < 2**63 else UNKNOWN
        case float():
            return DOUBLE
        case dict():
            return Struct(tuple(Field(str(name), _type_of(value[name])) for name in sorted(value)))
        case list():
            nothing: DataType = VOID
            return Array(reduce(_merged, map(_type_of, value), nothing))
        case None:
            return VOID
        case _:
            return STRING


def _merged(one: DataType, other: DataType) -> DataType:
    """What holds values of both types in a JSON array (`JsonInferSchema.compatibleType`)."""
    match one, other:
        case _ if other in (one, VOID):
            return one
        case _ if one == VOID:
            return other
        case _ if {one, other} == {BIGINT, DOUBLE}:
            return DOUBLE
        case Array(), Array():
            return Array(_merged(one.element, other.element))
        case Struct(), Struct():
            fields = {field.name: field.type for field in one.fields}
            for field in other.fields:
                fields[field.name] = _merged(fields.get(field.name, VOID), field.type)
            return Struct(tuple(Field(name, fields[name]) for name in sorted(fields)))
        case _:
            return UNKNOWN if UNKNOWN in (one, other) else STRING


def _with_strings(type: DataType) -> DataType:
    """The type with strings where only NULLs were seen."""
    match type:
        case Array():
            return Array(_with_strings(type.element))
        case Struct():
            return Struct(tuple(Field(field.name, _with_strings(field.type)) for field in type.fields))
        case _:
            return STRING if type == VOID else type


RULES: Final[dict[str, Rule]] = {
    "from_json": from_json,
    "from_avro": from_avro,
    "protobuf": protobuf,
    "from_csv": from_csv,
    "variant_get": variant_get,
    "to_variant_object": to_variant_object,
}
