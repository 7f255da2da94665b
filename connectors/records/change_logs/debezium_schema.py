"""The columns that records of Debezium describe: their `schema` names those of the row before and after a change.

{"type": "int64", "optional": true, "name": "io.debezium.time.MicroTimestamp", "field": "ordered_at"}
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from catalog.options import Options
from catalog.quoting import quote, quote_text
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
    DataType,
    Decimal,
)
from connectors.records.change_logs.change_log import CHANGE, CHANGE_LOGS
from connectors.records.change_logs.read_changes import conditions, table_of_change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOG: Final = CHANGE_LOGS["debezium_json"]
_FIELDS: Final = (
    "array<struct<field:string,fields:array<"
    "struct<field:string,type:string,name:string,parameters:map<string,string>>>>>"
)
_ROW_FIELDS: Final = (
    f"to_json(get(filter(try_variant_get(__json, '$.schema.fields', {quote_text(_FIELDS)}), "
    "f -> f.field in ('after', 'before') and f.fields is not null), 0).fields)"
)
_TYPES: Final[Mapping[str, DataType]] = {
    "boolean": BOOLEAN, "int8": TINYINT, "int16": SMALLINT, "int32": INT, "int64": BIGINT, "float": FLOAT,
    "float32": FLOAT, "double": DOUBLE, "float64": DOUBLE, "string": STRING, "bytes": BINARY,
}  # fmt: skip
_NAMED_TYPES: Final[Mapping[str, DataType]] = {
    "io.debezium.time.Date": DATE,
    "org.apache.kafka.connect.data.Date": DATE,
    "io.debezium.time.Timestamp": TIMESTAMP_NTZ,
    "io.debezium.time.MicroTimestamp": TIMESTAMP_NTZ,
    "io.debezium.time.NanoTimestamp": TIMESTAMP_NTZ,
    "org.apache.kafka.connect.data.Timestamp": TIMESTAMP_NTZ,
    "io.debezium.time.ZonedTimestamp": TIMESTAMP,
    "io.debezium.time.ZonedTime": STRING,
    "io.debezium.time.Year": INT,
    "io.debezium.data.Json": STRING,
    "io.debezium.data.Xml": STRING,
    "io.debezium.data.Uuid": STRING,
    "io.debezium.data.Enum": STRING,
    "io.debezium.data.EnumSet": STRING,
    "io.debezium.data.Ltree": STRING,
}
_DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
_MOST_DIGITS: Final = 38


def described_columns(texts: "DataFrame", options: Options) -> tuple[tuple[str, DataType | None], ...]:
    """The names and types of the columns that records describe, in the order of their first record; the type is that of
    the last one, None where it is not supported. `texts` has the value of each record in `__text`."""
    described = (
        texts.selectExpr("timestamp", "partition", "offset", "try_parse_json(__text) as __json")
        .selectExpr("*", f"{_LOG.envelope} as {quote(CHANGE)}")
        .selectExpr("*", "'' as __op", *table_of_change(_LOG))
        .where(" and ".join(conditions(options)))
        .selectExpr(f"{_ROW_FIELDS} as fields", "struct(timestamp, partition, offset) as at")
        .where("fields is not null")
        .groupBy("fields")
    )
    rows = described.agg({"at": "min"}).orderBy("min(at)").collect()
    found: dict[str, DataType | None] = {}
    for row in rows:
        found.update(_columns(json.loads(row["fields"])))
    return tuple(found.items())


def _columns(fields: list[dict[str, Any]]) -> Iterator[tuple[str, DataType | None]]:
    for field in fields:
        yield str(field["field"]), type_of_field(field)


def type_of_field(field: Mapping[str, Any]) -> DataType | None:
    """The type of a field of Kafka Connect's schema, as JSON has it; None where it is not supported: arrays, structs,
    times of the day, decimals of more than 38 digits."""
    name, given = field.get("name"), field.get("parameters") or {}
    if name == _DECIMAL:
        precision, scale = int(given.get("connect.decimal.precision", _MOST_DIGITS)), int(given.get("scale", 0))
        return Decimal(precision, scale) if 0 <= scale <= precision <= _MOST_DIGITS else None
    if name is not None:
        return _NAMED_TYPES.get(str(name))
    return _TYPES.get(str(field.get("type")))
