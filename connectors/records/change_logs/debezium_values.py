"""Values as Debezium encodes them: days, milli- and microseconds as numbers, decimals as bytes in base64.

What a number means is in the `schema` that a record may have next to its `payload`; where it has none, in the column's
declared type.
"""

from typing import Final

from catalog.quoting import quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import TIMESTAMP, Decimal, Time
from catalog.types.typenames import to_ddl

TYPES: Final = "__types"
"""The column of a record's own types: a map from a column's name to `struct<name, scale>`; NULL without a schema."""

TYPES_EXPRESSION: Final = (
    "map_from_entries(transform(get(filter(try_variant_get(__json, '$.schema.fields', "
    "'array<struct<field:string,fields:array<struct<field:string,name:string,parameters:map<string,string>>>>>'), "
    "f -> f.field in ('after', 'before') and f.fields is not null), 0).fields, "
    "f -> struct(f.field, struct(f.name as name, try_element_at(f.parameters, 'scale') as scale))))"
)

_MILLIS: Final = ("io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp")
_MICROS: Final = ("io.debezium.time.MicroTimestamp",)
_NANOS: Final = ("io.debezium.time.NanoTimestamp",)
_DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
_BITS: Final = "io.debezium.data.Bits"
_LARGEST_MILLIS: Final = 10**13
_LARGEST_MICROS: Final = 10**16
"""Of timestamps, as Apache SeaTunnel tells them apart: the year 2286."""
_MICROS_OF_DAY: Final = 86_400_000_000


def decimal(name: str, type: Decimal, text: str, found: str) -> str:
    """A decimal: bytes in base64 with the declared scale, or that of the record's schema; `{scale, value}`; a number.

    A text is what it is, where the record's schema says that it is no bytes (`decimal.handling.mode = string`).
    """
    own = _of_record(name, "name")
    scale = f"coalesce(try_cast({_of_record(name, 'scale')} as int), {type.scale})"
    plain = f"try_cast({text} as {to_ddl(type)})"
    is_text = f"schema_of_variant({found}) = 'STRING'"
    is_plain = f"{TYPES} is not null and ({own} is null or {own} <> {quote_text(_DECIMAL)})"
    varying = f"try_variant_get({found}, '$.value', 'string')"
    varying_scale = f"try_variant_get({found}, '$.scale', 'int')"
    return (
        f"case when {text} is null then null when {is_text} and not ({is_plain}) then {_scaled(text, scale, type)} "
        f"when {varying} is not null then {_scaled(varying, varying_scale, type)} else {plain} end"
    )


def whole_number(name: str, plain: str) -> str:
    """SeaTunnel reads bits, which Debezium has as bytes in base64, as 0 where the column is a tinyint."""
    return f"coalesce({plain}, if({_of_record(name, 'name')} = {quote_text(_BITS)}, cast(0 as tinyint), null))"


def date(text: str) -> str:
    """Days since 1970, or an ISO date."""
    days = f"try_cast({text} as int)"
    return f"coalesce(date_add(date'1970-01-01', {days}), try_cast({text} as date))"


def timestamp(column: Column, text: str) -> str:
    """Milli-, micro- or nanoseconds since 1970, or an ISO timestamp."""
    number = f"try_cast({text} as bigint)"
    micros = f"case {_units(column.name, number)} else {_by_size(number, column.scale)} end"
    if column.type == TIMESTAMP:
        numbered = f"timestamp_micros({micros})"
    else:
        numbered = f"timestampadd(MICROSECOND, {micros}, timestamp_ntz'1970-01-01')"
    return f"if({number} is not null, {numbered}, try_cast({text} as {to_ddl(column.type)}))"


def time(name: str, type: Time, text: str) -> str:
    """Milli-, micro- or nanoseconds of the day, or an ISO time."""
    number = f"try_cast({text} as bigint)"
    own = _of_record(name, "name")
    nanos = f"({number} - pmod({number}, 1000)) div 1000"
    declared = f"{number} * 1000" if type.precision <= 3 else f"if({number} < {_MICROS_OF_DAY}, {number}, {nanos})"
    micros = (
        f"case when {own} in ('io.debezium.time.Time', 'org.apache.kafka.connect.data.Time') then {number} * 1000 "
        f"when {own} = 'io.debezium.time.MicroTime' then {number} "
        f"when {own} = 'io.debezium.time.NanoTime' then {nanos} else {declared} end"
    )
    moment = f"cast(timestampadd(MICROSECOND, {micros}, timestamp_ntz'1970-01-01') as string)"
    ddl = to_ddl(type)
    iso = f"regexp_replace({text}, 'Z$', '')"
    return f"try_cast(if({number} is not null, substr({moment}, 12), {iso}) as {ddl})"


def _units(name: str, number: str) -> str:
    """The cases in which the record says its unit."""
    own = _of_record(name, "name")
    named = {_MILLIS: f"try_multiply({number}, 1000L)", _MICROS: number, _NANOS: _micros_of_nanos(number)}
    return " ".join(
        f"when {own} in ({', '.join(map(quote_text, names))}) then {micros}" for names, micros in named.items()
    )


def _by_size(number: str, digits: int | None) -> str:
    """Microseconds by the declared fractional digits (`columnScale`), else by the size of the number."""
    millis, nanos = f"try_multiply({number}, 1000L)", _micros_of_nanos(number)
    if digits is not None:
        return millis if digits <= 3 else number if digits <= 6 else nanos
    size = f"abs({number})"
    return (
        f"case when {size} < {_LARGEST_MILLIS} then {millis} when {size} < {_LARGEST_MICROS} then {number} "
        f"else {nanos} end"
    )


def _micros_of_nanos(number: str) -> str:
    return f"({number} - pmod({number}, 1000)) div 1000"


def _of_record(name: str, part: str) -> str:
    return f"try_element_at({TYPES}, {quote_text(name)}).{part}"


def _scaled(text: str, scale: str, type: Decimal) -> str:
    """The decimal of an unscaled integer, whose bytes are in two's complement, the most significant first."""
    sign = "if(h >= '8', 'F', '0')"
    padded = f"lpad(h, 32, {sign})"
    top = f"(cast(conv(substr({padded}, 1, 8), 16, 10) as bigint) - if(h >= '8', 4294967296L, 0L))"
    middle = f"cast(conv(substr({padded}, 9, 8), 16, 10) as decimal(10,0)) * 18446744073709551616BD"
    low = f"cast(conv(substr({padded}, 17, 16), 16, 10) as decimal(20,0))"
    number = f"try_add(try_multiply(cast({top} as decimal(10,0)), 79228162514264337593543950336BD), {middle} + {low})"
    value = f"try_cast(concat(cast({number} as string), 'E', -({scale})) as {to_ddl(type)})"
    checked = f"if(length(h) between 2 and 32, {value}, null)"
    return f"transform(array(hex(try_to_binary({text}, 'base64'))), h -> {checked})[0]"
