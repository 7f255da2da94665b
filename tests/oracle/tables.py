"""The tables over which random queries are made: every type, nullable and not."""

from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import (  # fmt: skip
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
    VARIANT,
    Array,
    DataType,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
    Time,
    with_collation,
)

_POINT = Struct((Field("a", INT), Field("b", STRING), Field("c", Array(INT))))

TYPES: dict[str, DataType] = {
    "flag": BOOLEAN,
    "tiny": TINYINT,
    "small": SMALLINT,
    "num": INT,
    "big": BIGINT,
    "flt": FLOAT,
    "dbl": DOUBLE,
    "money": Decimal(10, 2),
    "huge": Decimal(38, 10),
    "whole": Decimal(5, 0),
    "txt": STRING,
    "bin": BINARY,
    "day": DATE,
    "ts": TIMESTAMP,
    "ntz": TIMESTAMP_NTZ,
    "tod": Time(6),
    "ym": Interval("year", "month"),
    "dt": Interval("day", "second"),
    "nums": Array(INT),
    "txts": Array(STRING),
    "dict": Map(STRING, INT),
    "point": _POINT,
    "points": Array(_POINT),
    "doc": VARIANT,
}
"""Columns of `every`: one per type under its name, and its twin `<name>_nn` that is NOT NULL."""

EVERY = CatalogTable.of(
    "every",
    [Column(name, type) for name, type in TYPES.items()]
    + [Column(f"{name}_nn", type, nullable=False) for name, type in TYPES.items()],
)

ORDERS = CatalogTable.of(
    "orders",
    [
        Column("id", BIGINT, nullable=False),
        Column("customer", BIGINT),
        Column("amount", Decimal(10, 2)),
        Column("placed", DATE),
        Column("state", STRING),
        Column("lines", Array(Struct((Field("sku", STRING), Field("qty", INT))))),
    ],
)

CUSTOMERS = CatalogTable.of(
    "customers",
    [
        Column("id", BIGINT, nullable=False),
        Column("name", STRING),
        Column("since", TIMESTAMP),
        Column("score", DOUBLE),
        Column("address", Struct((Field("city", STRING), Field("zip", STRING)))),
    ],
)

_LOW, _UNI = with_collation("UTF8_LCASE"), with_collation("UNICODE")

WORDS = CatalogTable.of(
    "words",
    [
        Column("word", STRING),
        Column("low", _LOW),
        Column("low_nn", _LOW, nullable=False),
        Column("uni", _UNI),
        Column("ai", with_collation("UNICODE_AI")),
        Column("trimmed", with_collation("UTF8_LCASE_RTRIM")),
        Column("lows", Array(_LOW)),
        Column("unis", Array(_UNI)),
        Column("by_low", Map(_LOW, INT)),
        Column("pair", Struct((Field("word", STRING), Field("low", _LOW)))),
        Column("num", INT),
    ],
)
"""Strings with collations."""

ALL = (EVERY, ORDERS, CUSTOMERS, WORDS)
