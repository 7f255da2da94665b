"""Result rules of functions over strings and binaries, and between them and numbers."""

import re
from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    VOID,
    Array,
    DataType,
    Decimal,
    is_numeric,
)
from sql.functions.rules.call import Call, Rule
from sql.types.casts import forces_null
from sql.types.expression_type import Typed
from sql.types.mismatch import Mismatch


def words(call: Call) -> DataType:
    return Array(STRING, False)


def sentences(call: Call) -> DataType:
    return Array(Array(STRING, False), False)


def matched(call: Call) -> Typed:
    """`contains`, `startswith` and `endswith`, which may be null for binaries."""
    both = call.given[0].type == BINARY and call.given[1].type == BINARY
    return Typed(BOOLEAN, call.any_nullable or both)


def hex_(call: Call) -> Typed:
    given = call.given[0]
    return Typed(STRING, call.args[0].nullable or (is_numeric(given.type) and forces_null(given.type, BIGINT)))


def pad(call: Call) -> DataType:
    texts = [call.type(0)] + ([call.type(2)] if len(call.args) > 2 else [])
    return BINARY if all(type == BINARY for type in texts) else STRING


def overlay(call: Call) -> DataType:
    if BINARY in (call.type(0), call.type(1)) and call.type(0) != call.type(1):
        raise Mismatch(f"`overlay` takes {call.type(0)} twice, this is {call.type(1)}", 1)
    return call.type(0)


def elt(call: Call) -> DataType:
    return BINARY if all(arg.type == BINARY for arg in call.given[1:]) else STRING


def to_char(call: Call) -> Typed:
    source = call.args[0]
    if is_numeric(source.type) and (text := call.text(1)) is not None:
        _number_format(text)
    if is_numeric(source.type) and not call.args[1].foldable:
        raise Mismatch(f"`{call.name}` takes a constant format for numbers", 1)
    known = (DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY, STRING, VOID, UNKNOWN)
    if not is_numeric(source.type) and source.type not in known:
        raise Mismatch(f"`{call.name}` takes a number, a point in time or binary, this is {source.type}", 0)
    return Typed(STRING, source.type == STRING or any(arg.nullable for arg in call.args))


def to_number(call: Call) -> DataType:
    text = call.text(1)
    if text is None:
        return UNKNOWN
    before, after = _number_format(text)
    if before + after > 38:
        raise Mismatch(f"'{text}' has {before + after} digits, a decimal holds 38", 1, "PEN3013")
    return Decimal(before + after, after)


_NUMBER_FORMAT: Final = re.compile(
    r"(?P<first>MI|S)?\$?(?P<whole>[09]+(?:[,G][09]+)*)?(?:[.D](?P<part>[09]*))?(?P<last>PR|MI|S)?"
)


def _number_format(text: str) -> tuple[int, int]:
    """The digits of a format before and behind its point; `Mismatch` for what Spark's `ToNumberParser` refuses."""
    found = _NUMBER_FORMAT.fullmatch(text.upper())
    whole, part = (found["whole"] or "", found["part"] or "") if found is not None else ("", "")
    if found is None or not whole + part or (found["first"] and found["first"] == found["last"]):
        message = f"'{text}' is not a format of numbers, which is `[MI|S][$][0|9|G|,][.|D][0|9][PR|MI|S]`"
        raise Mismatch(message, 1, "PEN3013")
    return sum(char in "09" for char in whole), len(part)


RULES: Final[dict[str, Rule]] = {
    "words": words,
    "sentences": sentences,
    "matched": matched,
    "hex": hex_,
    "pad": pad,
    "overlay": overlay,
    "elt": elt,
    "to_char": to_char,
    "to_number": to_number,
}
