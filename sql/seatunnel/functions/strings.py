"""String functions of SeaTunnel's SQL as Spark's (semantics: its `sql-functions` page and its engine)."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote_text
from catalog.types.datatypes import BINARY, DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, Array, Map, Struct, Time
from sql.seatunnel.sites.call import CallSite, Rule
from sql.seatunnel.sites.edits import Parts

_FLAGS: Final = {"i": "i", "n": "s", "m": "m"}
"""Flags of SeaTunnel's regular expressions, as Java writes them in a pattern."""

ON_A_DAY: Final = "to_timestamp(concat('1970-01-01 ', CAST({0} AS STRING)))"
"""A time as a point in time, which can be formatted."""


def as_text(call: CallSite, index: int) -> Parts:
    """The argument as Java's `toString` shows it."""
    argument = call.arg(index)
    match call.type(index):
        case t if t == STRING:
            return [argument]
        case t if t in (TIMESTAMP, TIMESTAMP_NTZ):
            shown: Parts = ["replace(CAST(", argument, " AS STRING), ' ', 'T')"]
            return ["regexp_replace(", *shown, r", '(T\\d\\d:\\d\\d):00$', '$1')"]
        case t if t == BINARY:
            return ["decode(", argument, ", 'UTF-8')"]
        case _:
            return ["CAST(", argument, " AS STRING)"]


def joined(parts: "list[Parts]") -> Parts:
    """Texts one after the other, NULLs left out."""
    pieces: list[str | PlacedText] = ["concat_ws(''"]
    for part in parts:
        pieces += [", ", *part]
    return [*pieces, ")"]


def _concat(call: CallSite) -> Parts:
    return joined([as_text(call, index) for index in range(call.count)])


def _concat_ws(call: CallSite) -> Parts | None:
    if call.count < 2:
        return None
    pieces: list[str | PlacedText] = ["concat_ws(coalesce(", call.arg(0), ", '')"]
    for index in range(1, call.count):
        is_array = isinstance(call.type(index), Array)
        pieces += [", ", *([call.arg(index)] if is_array else as_text(call, index))]
    return [*pieces, ")"]


def _rawtohex(call: CallSite) -> Parts:
    if call.type(0) == BINARY:
        return call.fill("lower(hex({0}))")
    return ["lower(hex(encode(", *as_text(call, 0), ", 'UTF-16BE')))"]


def _octets(template: str) -> Callable[[CallSite], Parts]:
    return lambda call: call.fill(f"CAST({template} AS BIGINT)")


def _locate(text: int, search: int) -> Callable[[CallSite], Parts | None]:
    """The place of a text in another, 0 if there is none; a negative start searches from the end."""

    def rule(call: CallSite) -> Parts | None:
        if call.count not in (2, 3):
            return None
        inside, what = f"{{{text}}}", f"{{{search}}}"
        start = call.integer_constant(2) if call.count == 3 else 1
        if start is None:
            return call.fill(f"coalesce(locate({what}, {inside}, greatest({{2}}, 1)), 0)")
        if start >= 0:
            return call.fill(f"coalesce(locate({what}, {inside}, {max(start, 1)}), 0)")
        before = f"left({inside}, length({inside}) + ({start}) + length({what}))"
        last = f"locate(reverse({what}), reverse({before}))"
        return call.fill(
            f"coalesce(CASE WHEN {last} = 0 THEN 0 ELSE length({before}) - {last} - length({what}) + 2 END, 0)"
        )

    return rule


def _pad(name: str) -> Callable[[CallSite], Parts | None]:
    def rule(call: CallSite) -> Parts | None:
        if call.count < 3:
            return None
        constant = call.text_constant(2)
        padding = "coalesce(nullif(left({2}, 1), ''), ' ')" if constant is None else quote_text(constant[:1] or " ")
        return call.fill(f"{name}({{0}}, {{1}}, {padding})")

    return rule


def _trim(where: str) -> Callable[[CallSite], Parts | None]:
    def rule(call: CallSite) -> Parts | None:
        if call.count < 2:
            return None
        constant = call.text_constant(1)
        character = "coalesce(nullif(left({1}, 1), ''), ' ')" if constant is None else quote_text(constant[:1] or " ")
        return call.fill(f"trim({where} {character} FROM {{0}})")

    return rule


def _pattern(call: CallSite, index: int, flags: int) -> Parts | None:
    """The regular expression with its flags written in it; None if the flags are not known."""
    if call.count <= flags or call.is_null(flags):
        return [call.arg(index)]
    given = call.text_constant(flags)
    if given is None or set(given) - {*_FLAGS, "c"}:
        return None
    after = given.replace("c", "ic")
    is_insensitive = after.rfind("i") > after.rfind("c")
    letters = "".join(_FLAGS[flag] for flag in "nm" if flag in given) + ("iu" if is_insensitive else "")
    constant = call.text_constant(index)
    if not letters:
        return [call.arg(index)]
    if constant is not None:
        return [quote_text(f"(?{letters}){constant}")]
    return [f"concat('(?{letters})', ", call.arg(index), ")"]


def _regexp_replace(call: CallSite) -> Parts | None:
    pattern = _pattern(call, 1, 3) if call.count in (3, 4) else None
    return None if pattern is None else ["regexp_replace(", call.arg(0), ", ", *pattern, ", ", call.arg(2), ")"]


def _regexp_like(call: CallSite) -> Parts | None:
    pattern = _pattern(call, 1, 2) if call.count in (2, 3) else None
    return None if pattern is None else ["regexp_like(", call.arg(0), ", ", *pattern, ")"]


def _regexp_substr(call: CallSite) -> Parts | None:
    if call.count == 2:
        return call.fill("regexp_substr({0}, {1})")
    if call.count < 6:
        return ["CAST(NULL AS STRING)"]
    pattern = _pattern(call, 1, 4)
    if pattern is None:
        return None
    text = [call.arg(0)] if call.is_null(2) or call.integer_constant(2) == 1 else call.fill("substring({0}, {2})")
    group = ["0"] if call.is_null(5) else [call.arg(5)]
    occurrence = ["0"] if call.is_null(3) else [call.arg(3), " - 1"]
    return ["get(regexp_extract_all(", *text, ", ", *pattern, ", ", *group, "), ", *occurrence, ")"]


def _split(call: CallSite) -> Parts | None:
    """As Java splits: no empty parts at the end, NULL for an empty text."""
    if call.count != 2:
        return None
    constant = call.text_constant(1)
    if constant is not None and _matches_nothing(constant):
        return call.fill("filter(split(nullif({0}, ''), {1}), part -> part <> '')")
    end = quote_text(f"(?:{constant})+$") if constant is not None else "concat('(?:', {1}, ')+$')"
    return call.fill(f"split(regexp_replace(nullif({{0}}, ''), {end}, ''), {{1}})")


def _matches_nothing(pattern: str) -> bool:
    """Whether a pattern such as `|` matches the empty text, so that it separates all characters."""
    try:
        return re.fullmatch(pattern, "") is not None
    except re.error:  # a pattern of Java's
        return False


def _substring(call: CallSite) -> Parts | None:
    if call.count not in (2, 3):
        return None
    text: Parts = [call.arg(0)]
    if call.type(0) in (TIMESTAMP, TIMESTAMP_NTZ):
        text = ["date_format(", call.arg(0), ", 'yyyy-MM-dd HH:mm:ss')"]
    rest = ", {1}), '')"
    if call.count == 3 and not call.is_null(2):
        rest = ", {1}, {2}), '')" if call.integer_constant(2) is not None else f", {{1}}, coalesce({{2}}, {_ALL})), '')"
    return ["nullif(substring(", *text, *call.fill(rest)]


def _to_char(call: CallSite) -> Parts | None:
    type = call.type(0)
    if call.count == 2 and type in (DATE, TIMESTAMP, TIMESTAMP_NTZ):
        return call.fill("date_format({0}, {1})")
    if call.count == 2 and isinstance(type, Time):
        return call.fill(f"date_format({ON_A_DAY}, {{1}})")
    if call.count == 2 and (type is None or isinstance(type, Array | Map | Struct)):
        return None
    return as_text(call, 0)


def _to_base64(call: CallSite) -> Parts:
    if call.type(0) == BINARY:
        return call.fill("base64({0})")
    charset = [call.arg(1)] if call.count == 2 else ["'UTF-8'"]
    return ["base64(encode(", *as_text(call, 0), ", ", *charset, "))"]


def _from_base64(call: CallSite) -> Parts:
    return call.fill("decode(unbase64({0}), " + ("{1})" if call.count == 2 else "'UTF-8')"))


_ALL: Final = 2**31 - 1
_LETTERS: Final = "regexp_replace({0}, '^[^A-Za-z]+', '')"
_CHARACTER: Final = "decode(unhex(right(lpad(hex(CAST({0} AS BIGINT)), 8, '0'), 4)), 'UTF-16BE')"
_INSERT: Final = (
    "CASE WHEN {0} IS NULL THEN {3} WHEN {3} IS NULL OR {3} = '' OR {1} < 1 OR {2} <= 0 OR {1} > length({0}) + 1 "
    "THEN {0} ELSE overlay({0}, {3}, {1}, {2}) END"
)
_TRANSLATE: Final = "translate({0}, {1}, concat({2}, substring({1}, length({2}) + 1)))"


def _murmur64(call: CallSite) -> Parts | None:
    return ["penstock_murmur64(", *as_text(call, 0), ")"] if call.count == 1 else None


RULES: Final[Mapping[str, Rule]] = {
    "ascii": "nullif(ascii({0}), 0)",
    "bit_length": _octets("bit_length({0})"),
    "char_length": _octets("length({0})"),
    "length": _octets("length({0})"),
    "octet_length": _octets("octet_length({0})"),
    "char": _CHARACTER,
    "chr": _CHARACTER,
    "concat": _concat,
    "concat_ws": _concat_ws,
    "hextoraw": "decode(unhex({0}), 'UTF-16BE')",
    "rawtohex": _rawtohex,
    "insert": _INSERT,
    "locate": _locate(1, 0),
    "position": lambda call: _locate(1, 0)(CallSite(call.name, call.ranges[:2], call.edits)),  # without a start
    "instr": _locate(0, 1),
    "lpad": _pad("lpad"),
    "rpad": _pad("rpad"),
    "ltrim": _trim("LEADING"),
    "rtrim": _trim("TRAILING"),
    "trim": _trim("BOTH"),
    "regexp_replace": _regexp_replace,
    "regexp_like": _regexp_like,
    "regexp_substr": _regexp_substr,
    "replace": lambda call: call.fill("replace({0}, {1}, coalesce({2}, ''))") if call.count == 3 else None,
    "murmur64": _murmur64,
    "soundex": f"CASE WHEN {{0}} = '' THEN '0000' ELSE soundex({_LETTERS}) END",
    "split": _split,
    "substring": _substring,
    "substr": _substring,
    "to_char": _to_char,
    "translate": _TRANSLATE,
    "to_base64": _to_base64,
    "from_base64": _from_base64,
}
