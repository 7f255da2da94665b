"""System and cryptographic functions of SeaTunnel's SQL as Spark's, and its casts."""

from collections.abc import Mapping
from typing import Final

from catalog.diagnostics.source import PlacedText
from catalog.types.datatypes import (  # fmt: skip
    BIGINT,
    BINARY,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VOID,
    Atomic,
    DataType,
    Decimal,
)
from sql.seatunnel.functions.strings import as_text
from sql.seatunnel.sites.call import CallSite, Rule
from sql.seatunnel.sites.edits import Parts

_INTEGERS: Final = (TINYINT, SMALLINT, INT)
_NUMBERS: Final = (*_INTEGERS, BIGINT, FLOAT, DOUBLE)

TYPE_NAMES: Final = {
    "VARCHAR": "STRING", "TEXT": "STRING", "CHAR": "STRING", "INTEGER": "INT", "LONG": "BIGINT", "BYTE": "TINYINT",
    "BYTES": "BINARY", "DATETIME": "TIMESTAMP", "TIMESTAMP_TZ": "TIMESTAMP", "TIMESTAMPTZ": "TIMESTAMP",
    "BOOL": "BOOLEAN",
}  # fmt: skip
"""Names of types in casts that Spark does not have, or means otherwise."""


def cast_to(call: CallSite, target: str, *, keyword: str = "CAST") -> Parts | None:
    """`CAST(argument AS target)` as SeaTunnel computes it."""
    name = target.upper().replace(" ", "")
    base = name.partition("(")[0]
    if base in TYPE_NAMES and base != "BOOL":
        name = TYPE_NAMES[base]
    type = call.type(0)
    match name.partition("(")[0], type:
        case "STRING", _:
            return as_text(call, 0) if type != STRING else [call.arg(0)]
        case "BINARY", t if t not in (BINARY, STRING, VOID, None):
            return ["CAST(", *as_text(call, 0), " AS BINARY)"]
        case "TIMESTAMP", t if t == BIGINT:
            return call.fill("timestamp_millis({0})")
        case "DATE", t if t in _INTEGERS:
            return call.fill("make_date(CAST({0} DIV 10000 AS INT), CAST({0} DIV 100 % 100 AS INT), {0} % 100)")
        case "TIME", t if t in _INTEGERS:
            return call.fill("make_time(CAST({0} DIV 10000 AS INT), CAST({0} DIV 100 % 100 AS INT), {0} % 100)")
        case "TIME", t if t in (TIMESTAMP, TIMESTAMP_NTZ):
            return call.fill("to_time(date_format({0}, 'HH:mm:ss.SSSSSS'))")
        case "DECIMAL", t if t in (FLOAT, DOUBLE, STRING) or isinstance(t, Decimal):
            return _rounded_up(call, name, keyword)
        case _:
            return [f"{keyword}(", call.arg(0), f" AS {name})"]


def _rounded_up(call: CallSite, target: str, keyword: str) -> Parts:
    """Digits behind the scale round up, toward positive infinity."""
    digits = target.partition("(")[2].rstrip(")").split(",")
    precision, scale = int(digits[0] or 10), int(digits[1]) if len(digits) > 1 else 0
    type = call.type(0)
    if isinstance(type, Decimal) and type.scale <= scale:
        return [f"{keyword}(", call.arg(0), f" AS DECIMAL({precision},{scale}))"]
    whole: Parts = ["ceil(", f"{keyword}(", call.arg(0), f" AS DECIMAL(38,{max(18, scale)})), {scale})"]
    return [f"{keyword}(", *whole, f" AS DECIMAL({precision},{scale}))"]


def _coalesce(call: CallSite) -> Parts | None:
    """The first value that is not NULL, in the first one's type, unless that cuts off digits of a later one."""
    first = call.type(0)
    others = [call.type(index) for index in range(1, call.count)]
    if first is None or first == VOID or any(_has_more_digits(type, first) for type in others):
        return None
    pieces: list[str | PlacedText] = ["coalesce(", call.arg(0)]
    for index in range(1, call.count):
        pieces += [", ", *_in_type(call, index, first)]
    return [*pieces, ")"]


def _has_more_digits(type: DataType | None, first: DataType) -> bool:
    """Whether a number may have digits behind the point that the type `first` has no place for."""
    places = first.scale if isinstance(first, Decimal) else 0 if first in (*_INTEGERS, BIGINT) else None
    if places is None:
        return False
    return type in (FLOAT, DOUBLE) or (isinstance(type, Decimal) and type.scale > places)


def _in_type(call: CallSite, index: int, wanted: DataType) -> Parts:
    type = call.type(index)
    if type is None or type in (wanted, VOID) or not isinstance(wanted, Atomic | Decimal):
        return [call.arg(index)]
    return as_text(call, index) if wanted == STRING else ["CAST(", call.arg(index), f" AS {wanted})"]


def _nullif(call: CallSite) -> Parts | None:
    """NULL where both are equal; a text never equals a number."""
    if call.count != 2:
        return None
    types = (call.type(0), call.type(1))
    if STRING in types and any(type_ in _NUMBERS or isinstance(type_, Decimal) for type_ in types):
        return [call.arg(0)]
    return None


def _multi_if(call: CallSite) -> Parts | None:
    if call.count < 3 or call.count % 2 == 0:
        return None
    pieces: list[str | PlacedText] = ["CASE"]
    for index in range(0, call.count - 1, 2):
        pieces += [" WHEN ", call.arg(index), " THEN ", call.arg(index + 1)]
    return [*pieces, " ELSE ", call.arg(call.count - 1), " END"]


def _array(call: CallSite) -> Parts | None:
    """Elements of unlike types: texts where any is one, else doubles."""
    types = [call.type(index) for index in range(call.count)]
    if len(set(types)) < 2 or None in types:
        return None
    if STRING in types:
        shown = [as_text(call, index) for index in range(call.count)]
    elif all(type_ in _NUMBERS or type_ == VOID for type_ in types) and (DOUBLE in types or FLOAT in types):
        shown = [["CAST(", call.arg(index), " AS DOUBLE)"] for index in range(call.count)]
    else:
        return None
    pieces: list[str | PlacedText] = ["array("]
    for index, part in enumerate(shown):
        pieces += [", " if index else "", *part]
    return [*pieces, ")"]


def _key(call: CallSite) -> str:
    constant = call.text_constant(1)
    if constant is None:
        return "CASE WHEN startswith({1}, 'base64:') THEN unbase64(substring({1}, 8)) ELSE " + _HASHED + " END"
    return "unbase64(substring({1}, 8))" if constant.startswith("base64:") else _HASHED


_HASHED: Final = "substring(unhex(sha2({1}, 256)), 1, 16)"


def _aes_encrypt(call: CallSite) -> Parts | None:
    if call.count == 2:
        return call.fill(f"base64(aes_encrypt(encode({{0}}, 'UTF-8'), {_key(call)}, 'CBC', 'PKCS'))")
    if call.count != 3:
        return None
    whole = f"aes_encrypt(encode({{0}}, 'UTF-8'), {_key(call)}, 'CBC', 'PKCS', encode({{2}}, 'UTF-8'))"
    return call.fill(f"base64(substring({whole}, 17))")


def _aes_decrypt(call: CallSite) -> Parts | None:
    if call.count == 2:
        return call.fill(f"decode(aes_decrypt(unbase64({{0}}), {_key(call)}, 'CBC', 'PKCS'), 'UTF-8')")
    if call.count != 3:
        return None
    given = "concat(encode({2}, 'UTF-8'), unbase64({0}))"
    return call.fill(f"decode(aes_decrypt({given}, {_key(call)}, 'CBC', 'PKCS'), 'UTF-8')")


def _des(direction: str) -> Rule:
    def rule(call: CallSite) -> Parts | None:
        if call.count != 2:
            return None
        return [f"penstock_des_{direction}(", call.arg(0), ", ", *as_text(call, 1), ")"]

    return rule


RULES: Final[Mapping[str, Rule]] = {
    "coalesce": _coalesce,
    "ifnull": _coalesce,
    "nullif": _nullif,
    "multi_if": _multi_if,
    "array": _array,
    "aes_encrypt": _aes_encrypt,
    "aes_decrypt": _aes_decrypt,
    "des_encrypt": _des("encrypt"),
    "des_decrypt": _des("decrypt"),
}
