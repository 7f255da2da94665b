"""The values of documents as those of JSON, and rows of JSON as documents of the columns' types."""

import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime, timezone
from typing import Any, Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
)
from connectors.documents.exact_json import plain

_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d:\d\d)?\Z"
)


def json_value(value: Any) -> Any:
    """The value of a document in JSON's types: ids, decimals and times as texts, bytes in base64."""
    from bson import Binary, Code, DBRef, Decimal128, ObjectId, Regex, Timestamp

    match value:
        case Mapping():
            return {name: json_value(item) for name, item in value.items()}
        case list():
            return [json_value(item) for item in value]
        case bytes() | Binary():
            return b64encode(value).decode()
        case datetime():
            return value.isoformat()
        case Timestamp():
            return value.as_datetime().isoformat()
        case float() if not math.isfinite(value):
            return str(value).replace("inf", "Infinity").replace("nan", "NaN")
        case ObjectId() | Decimal128() | Code() | Regex() | DBRef():
            return str(value)
        case bool() | int() | float() | str() | None:
            return value
    return str(value)


def extended_text(document: Mapping[str, Any]) -> str:
    """The document as canonical extended JSON."""
    from bson.json_util import CANONICAL_JSON_OPTIONS, dumps

    return dumps(document, json_options=CANONICAL_JSON_OPTIONS)


def bson_value(value: Any, type: DataType | None) -> Any:
    """A value of JSON (`connectors.documents.exact_json`) as a document has it; without a type, as it is."""
    if value is None:
        return None
    match type, value:
        case Struct(fields), dict():
            types = {field.name: field.type for field in fields}
            return {name: bson_value(item, types.get(name)) for name, item in value.items()}
        case Array(element, _), list():
            return [bson_value(item, element) for item in value]
        case Map(_, of, _), dict():
            return {name: bson_value(item, of) for name, item in value.items()}
        case Decimal(), _:
            return _decimal(value)
    made = _MADE.get(type) if type is not None else None
    return made(value) if made is not None else plain(value) if isinstance(value, str) else value


def _decimal(value: Any) -> Any:
    from bson import Decimal128

    return Decimal128(plain(str(value)))


def _long(value: Any) -> Any:
    from bson import Int64

    return Int64(value)


def _time(value: Any) -> datetime:
    """Milliseconds: MongoDB's dates have no more digits."""
    found = _TIME.match(str(value))
    if found is None:
        return datetime.fromisoformat(str(value))
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    moment = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros)
    if zone in (None, "Z"):
        return moment.replace(tzinfo=timezone.utc)
    return datetime.fromisoformat(f"{moment.isoformat()}{zone}")


def _date(value: Any) -> datetime:
    found = date.fromisoformat(str(value))
    return datetime(found.year, found.month, found.day, tzinfo=timezone.utc)


def _number(value: Any) -> float:
    return float(plain(str(value)))


_MADE: Final[Mapping[DataType, Callable[[Any], Any]]] = {
    BIGINT: _long,
    FLOAT: _number,
    DOUBLE: _number,
    DATE: _date,
    TIMESTAMP: _time,
    TIMESTAMP_NTZ: _time,
    BINARY: b64decode,
}
