"""Values of rows in the binary log of MySQL and MariaDB.

Each column has a decoder: a function of the bytes and an offset, which gives the value and where it ends. The format is
that of MySQL's manual of internals, "Binlog Event" and "Storage of temporal values"; MariaDB's is the same.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal as DecimalNumber
from functools import partial
from struct import Struct
from typing import Any, Final, TypeAlias

Decoder: TypeAlias = Callable[[bytes, int], tuple[Any, int]]

TINY, SHORT, LONG, FLOAT, DOUBLE, TIMESTAMP, LONGLONG, INT24, DATE = 1, 2, 3, 4, 5, 7, 8, 9, 10
TIME, DATETIME, YEAR, VARCHAR, BIT, TIMESTAMP2, DATETIME2, TIME2 = 11, 12, 13, 15, 16, 17, 18, 19
JSON, NEWDECIMAL, ENUM, SET, BLOB, VAR_STRING, STRING, GEOMETRY = 245, 246, 247, 248, 252, 253, 254, 255

META_BYTES: Final[Mapping[int, int]] = {
    FLOAT: 1, DOUBLE: 1, BLOB: 1, JSON: 1, GEOMETRY: 1, TIMESTAMP2: 1, DATETIME2: 1, TIME2: 1,
    VARCHAR: 2, BIT: 2, NEWDECIMAL: 2, VAR_STRING: 2, STRING: 2, ENUM: 2, SET: 2,
}  # fmt: skip
"""How many bytes of a table map describe a column of a type; none for the others."""

STORED_AS: Final[Mapping[int, tuple[str, ...]]] = {
    TINY: ("tinyint",), SHORT: ("smallint",), INT24: ("mediumint",), LONG: ("int",), LONGLONG: ("bigint",),
    FLOAT: ("float",), DOUBLE: ("double",), NEWDECIMAL: ("decimal",), YEAR: ("year",), DATE: ("date",), BIT: ("bit",),
    TIME: ("time",), TIME2: ("time",), DATETIME: ("datetime",), DATETIME2: ("datetime",),
    TIMESTAMP: ("timestamp",), TIMESTAMP2: ("timestamp",), VARCHAR: ("varchar", "varbinary"),
    VAR_STRING: ("varchar", "varbinary"), STRING: ("char", "binary"), ENUM: ("enum",), SET: ("set",),
    BLOB: ("tinyblob", "blob", "mediumblob", "longblob", "tinytext", "text", "mediumtext", "longtext"),
}  # fmt: skip
"""The types of columns that are stored so; a JSON of MySQL and a geometry are not read."""

_INTEGERS: Final = {
    TINY: (Struct("<b"), Struct("<B")), SHORT: (Struct("<h"), Struct("<H")), LONG: (Struct("<i"), Struct("<I")),
    LONGLONG: (Struct("<q"), Struct("<Q")),
}  # fmt: skip
_CHARSETS: Final = {
    "utf8mb4": "utf-8", "utf8mb3": "utf-8", "utf8": "utf-8", "ascii": "ascii", "latin1": "cp1252", "ucs2": "utf-16-be",
    "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be", "gbk": "gbk", "gb2312": "gb2312",
    "gb18030": "gb18030", "big5": "big5", "sjis": "shift_jis", "cp932": "cp932", "euckr": "euc_kr", "ujis": "euc_jp",
    "latin2": "iso8859_2", "latin5": "iso8859_9", "latin7": "iso8859_13", "greek": "iso8859_7", "hebrew": "iso8859_8",
    "cp1250": "cp1250", "cp1251": "cp1251", "cp1256": "cp1256", "cp1257": "cp1257", "cp850": "cp850", "cp852": "cp852",
    "cp866": "cp866", "koi8r": "koi8_r", "koi8u": "koi8_u", "tis620": "tis_620", "eucjpms": "euc_jp",
}  # fmt: skip
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DIGIT_BYTES: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


def decoder(code: int, meta: bytes, column_type: str, charset: str | None) -> Decoder:
    """The decoder of a column: `code` and `meta` as the table map has them, `column_type` as the server describes it
    (`int(10) unsigned`), and the character set of its text. Raises ValueError for a column that is not read."""
    if code == STRING:
        code, meta = _of_string(meta)
    if code in _INTEGERS:
        return partial(_fixed, _INTEGERS[code]["unsigned" in column_type])
    if code in _SIMPLE:
        return _SIMPLE[code]
    if code == INT24:
        return partial(_int24, "unsigned" in column_type)
    if code == NEWDECIMAL:
        return _decimal(meta[0], meta[1])
    if code in (TIME2, DATETIME2, TIMESTAMP2):
        return partial({TIME2: _time2, DATETIME2: _datetime2, TIMESTAMP2: _timestamp2}[code], meta[0])
    if code == BIT:
        return partial(_big_endian, (meta[0] + 8 * meta[1] + 7) // 8)
    if code == ENUM:
        return partial(_enum, meta[0], listed_values(column_type))
    if code == SET:
        return partial(_set, meta[0], listed_values(column_type))
    if code in (VARCHAR, VAR_STRING, STRING, BLOB):
        width = meta[0] if code == BLOB else 1 if int.from_bytes(meta[:2], "little") < 256 else 2
        padded = int(re.search(r"\d+", column_type)[0]) if column_type.startswith("binary(") else 0  # type: ignore[index]
        return partial(_bytes, width, _codec(charset), padded)
    raise ValueError(f"columns of the type {column_type} are not read from the log")


def listed_values(column_type: str) -> tuple[str, ...]:
    """The values of `enum('a','it''s')`."""
    return tuple(text.replace("''", "'") for text in re.findall(r"'((?:[^']|'')*)'", column_type))


def time_text(micros: int, digits: int) -> str:
    """A TIME of so many microseconds as MySQL writes it, with so many digits of its seconds."""
    sign, rest = ("-" if micros < 0 else ""), abs(micros)
    seconds, fraction = divmod(rest, 1_000_000)
    text = f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:06d}"[: len(text) + 1 + digits] if digits else text


def _codec(charset: str | None) -> str | None:
    if charset is None or charset == "binary":
        return None
    if charset not in _CHARSETS:
        raise ValueError(f"text of the character set {charset} is not read")
    return _CHARSETS[charset]


def _of_string(meta: bytes) -> tuple[int, bytes]:
    """The real type of a column that is stored as a string, and its meta data: ENUM, SET and long CHARs hide there."""
    first, second = meta[0], meta[1]
    if first in (ENUM, SET):
        return first, bytes([second])
    if first and first & 0x30 != 0x30:
        return STRING, (second | (((first & 0x30) ^ 0x30) << 4)).to_bytes(2, "little")
    return STRING, bytes([second, 0])


def _fixed(form: Struct, data: bytes, offset: int) -> tuple[Any, int]:
    return form.unpack_from(data, offset)[0], offset + form.size


def _int24(is_unsigned: bool, data: bytes, offset: int) -> tuple[int, int]:
    return int.from_bytes(data[offset : offset + 3], "little", signed=not is_unsigned), offset + 3


def _big_endian(size: int, data: bytes, offset: int) -> tuple[int, int]:
    return int.from_bytes(data[offset : offset + size], "big"), offset + size


def _bytes(width: int, codec: str | None, padded: int, data: bytes, offset: int) -> tuple[Any, int]:
    start = offset + width
    end = start + int.from_bytes(data[offset:start], "little")
    value = data[start:end]
    return (value.ljust(padded, b"\0") if codec is None else value.decode(codec)), end


def _enum(size: int, values: Sequence[str], data: bytes, offset: int) -> tuple[str, int]:
    index = int.from_bytes(data[offset : offset + size], "little")
    return (values[index - 1] if index else ""), offset + size


def _set(size: int, values: Sequence[str], data: bytes, offset: int) -> tuple[str, int]:
    bits = int.from_bytes(data[offset : offset + size], "little")
    return ",".join(value for place, value in enumerate(values) if bits >> place & 1), offset + size


def _decimal(precision: int, scale: int) -> Decoder:
    whole = precision - scale
    parts = [whole % 9, *[9] * (whole // 9)], [*[9] * (scale // 9), scale % 9]
    sizes = [(digits, _DIGIT_BYTES[digits]) for part in parts for digits in part if digits]
    total = sum(size for _, size in sizes)

    def decode(data: bytes, offset: int) -> tuple[DecimalNumber, int]:
        end = offset + total
        is_negative = not data[offset] & 0x80
        stored = bytes([data[offset] ^ 0x80]) + data[offset + 1 : end]
        if is_negative:
            stored = bytes(byte ^ 0xFF for byte in stored)
        number, position = 0, 0
        for digits, size in sizes:
            number = number * 10**digits + int.from_bytes(stored[position : position + size], "big")
            position += size
        sign = "-" if is_negative else ""
        return DecimalNumber(f"{sign}{number}E-{scale}"), end  # which is exact, whatever the context

    return decode


def _year(data: bytes, offset: int) -> tuple[int, int]:
    return (1900 + data[offset] if data[offset] else 0), offset + 1


def _date(data: bytes, offset: int) -> tuple[date, int]:
    value = int.from_bytes(data[offset : offset + 3], "little")
    return _day(value >> 9, value >> 5 & 15, value & 31), offset + 3


def _day(year: int, month: int, day: int) -> date:
    if not (year and month and day):
        raise ValueError(f"{year:04d}-{month:02d}-{day:02d} is no date")
    return date(year, month, day)


def _fraction(digits: int, data: bytes, offset: int) -> tuple[int, int]:
    """Microseconds, of which so many digits are stored."""
    size = (digits + 1) // 2
    return int.from_bytes(data[offset : offset + size], "big") * 100 ** (3 - size), offset + size


def _datetime2(digits: int, data: bytes, offset: int) -> tuple[datetime, int]:
    value = int.from_bytes(data[offset : offset + 5], "big") - 0x8000000000
    micros, end = _fraction(digits, data, offset + 5)
    months = value >> 22
    day = _day(months // 13, months % 13, value >> 17 & 31)
    return datetime(day.year, day.month, day.day, value >> 12 & 31, value >> 6 & 63, value & 63, micros), end


def _timestamp2(digits: int, data: bytes, offset: int) -> tuple[datetime, int]:
    seconds = int.from_bytes(data[offset : offset + 4], "big")
    micros, end = _fraction(digits, data, offset + 4)
    return _instant(seconds, micros), end


def _instant(seconds: int, micros: int) -> datetime:
    if not seconds and not micros:
        raise ValueError("0000-00-00 00:00:00 is no time")
    return _EPOCH + timedelta(seconds=seconds, microseconds=micros)


def _time2(digits: int, data: bytes, offset: int) -> tuple[str, int]:
    size = (digits + 1) // 2
    end = offset + 3 + size
    value = int.from_bytes(data[offset:end], "big") - (0x800000 << 8 * size)
    rest = abs(value)
    fraction, clock = rest & ((1 << 8 * size) - 1), rest >> 8 * size
    seconds = (clock >> 12 & 0x3FF) * 3600 + (clock >> 6 & 63) * 60 + (clock & 63)
    micros = seconds * 1_000_000 + fraction * 100 ** (3 - size)
    return time_text(-micros if value < 0 else micros, digits), end


def _old_datetime(data: bytes, offset: int) -> tuple[datetime, int]:
    day, clock = divmod(int.from_bytes(data[offset : offset + 8], "little"), 1_000_000)
    found = _day(day // 10_000, day // 100 % 100, day % 100)
    return datetime(found.year, found.month, found.day, clock // 10_000, clock // 100 % 100, clock % 100), offset + 8


def _old_timestamp(data: bytes, offset: int) -> tuple[datetime, int]:
    return _instant(int.from_bytes(data[offset : offset + 4], "little"), 0), offset + 4


def _old_time(data: bytes, offset: int) -> tuple[str, int]:
    value = int.from_bytes(data[offset : offset + 3], "little", signed=True)
    rest = abs(value)
    seconds = rest // 10_000 * 3600 + rest // 100 % 100 * 60 + rest % 100
    return time_text((-seconds if value < 0 else seconds) * 1_000_000, 0), offset + 3


_SIMPLE: Final[Mapping[int, Decoder]] = {
    FLOAT: partial(_fixed, Struct("<f")),
    DOUBLE: partial(_fixed, Struct("<d")),
    YEAR: _year,
    DATE: _date,
    DATETIME: _old_datetime,
    TIMESTAMP: _old_timestamp,
    TIME: _old_time,
}
