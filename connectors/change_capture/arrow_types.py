"""The types of Arrow that Spark reads as its own."""

from typing import TYPE_CHECKING

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    DataType,
    Decimal,
)

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_type(type: DataType) -> "pa.DataType":
    """The type of Arrow that Spark reads as this one."""
    import pyarrow as pa

    match type:
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(arrow_type(element))
    plain = {
        str(BOOLEAN): pa.bool_(), str(TINYINT): pa.int8(), str(SMALLINT): pa.int16(), str(INT): pa.int32(),
        str(BIGINT): pa.int64(),
        str(FLOAT): pa.float32(), str(DOUBLE): pa.float64(), str(STRING): pa.string(), str(BINARY): pa.binary(),
        str(DATE): pa.date32(), str(TIMESTAMP): pa.timestamp("us", "UTC"), str(TIMESTAMP_NTZ): pa.timestamp("us"),
    }  # fmt: skip
    return plain[str(type)]
