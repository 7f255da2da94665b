"""Numeric and vector functions of SeaTunnel's SQL as Spark's, with the result types of the 2.3 line."""

from collections.abc import Mapping
from typing import Final

from catalog.compat import Compat
from catalog.types.datatypes import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Decimal,
)
from sql.seatunnel.sites.call import CallSite, Rule
from sql.seatunnel.sites.edits import Parts

_INTEGERS: Final = (TINYINT, SMALLINT, INT, BIGINT)


def remainder(call: CallSite) -> Parts | None:
    """By way of decimals; the type is the divisor's."""
    if call.count != 2:
        return None
    type = call.type(1)
    if type is None or (type in _INTEGERS and call.type(0) in _INTEGERS):
        return call.fill("CAST({0} % {1} AS " + str(type) + ")" if type else "({0} % {1})")
    return call.fill(f"CAST(CAST({{0}} AS DECIMAL(38,18)) % CAST({{1}} AS DECIMAL(38,18)) AS {type})")


def _whole(name: str) -> Rule:
    """`ceil` and `floor`: an INT; in 3.x, the type of the argument."""

    def rule(call: CallSite) -> Parts | None:
        if call.edits.compat is Compat.SEATUNNEL_3:
            return _whole_of_type(call, name)
        if call.count == 1:
            return call.fill(f"CAST({name}({{0}}) AS INT)")
        return call.fill(f"CAST({name}({{0}}, {{1}}) AS INT)") if call.count == 2 else None

    return rule


def _whole_of_type(call: CallSite, name: str) -> Parts | None:
    type = call.type(0)
    if type is None or call.count not in (1, 2):
        return None
    if call.count == 2:
        return call.fill(f"CAST({name}({{0}}, {{1}}) AS {type})")
    if type in (FLOAT, DOUBLE):  # from 2^53 on, doubles are whole, and more than a BIGINT holds
        return call.fill(f"CASE WHEN abs({{0}}) < 9007199254740992 THEN CAST({name}({{0}}) AS {type}) ELSE {{0}} END")
    return call.fill(f"CAST({name}({{0}}) AS {type})")


def _round(call: CallSite) -> Parts | None:
    type = call.type(0)
    if not isinstance(type, Decimal) or call.count not in (1, 2):
        return None
    return call.fill(f"CAST(round({{0}}{', {1}' if call.count == 2 else ''}) AS {type})")


def _trunc(call: CallSite) -> Parts | None:
    """Toward zero, a DOUBLE, in 3.x of the argument's type; of a date, Spark's own function."""
    if call.count == 2 and (call.text_constant(1) or call.type(0) in (DATE, TIMESTAMP, TIMESTAMP_NTZ)):
        return None
    digits = "{1}" if call.count == 2 else "0"
    value = "CAST({0} AS DECIMAL(38,18))"
    whole = f"CASE WHEN {{0}} < 0 THEN ceil({value}, {digits}) ELSE floor({value}, {digits}) END"
    type = call.type(0) if call.edits.compat is Compat.SEATUNNEL_3 else None
    return call.fill(f"CAST({whole} AS {type or DOUBLE})")


def _log(call: CallSite) -> Parts | None:
    return call.fill("log10({1})") if call.count == 2 and call.integer_constant(0) == 10 else None


def _trim_scale(call: CallSite) -> Parts | None:
    """The number as a text without zeros at the end of its fraction."""
    if call.count != 1:
        return None
    type = call.type(0)
    if type in _INTEGERS or (isinstance(type, Decimal) and type.scale == 0):
        return call.fill("CAST({0} AS STRING)")
    number = "{0}" if isinstance(type, Decimal) else "CAST({0} AS DECIMAL(38,18))"
    return call.fill(f"trim(TRAILING '.' FROM trim(TRAILING '0' FROM CAST({number} AS STRING)))")


def _reduce(call: CallSite) -> Parts | None:
    """The first numbers of a vector, or its products with random vectors, which every row and run has alike."""
    method = (call.text_constant(2) or "").upper() if call.count == 3 else ""
    if method == "TRUNCATE":
        return call.fill("slice({0}, 1, {1})")
    if method not in _PROJECTIONS:
        return None
    product = _dot("{0}", f"transform(sequence(1, size({{0}})), at_column -> {_PROJECTIONS[method]})")
    return call.fill(f"transform(sequence(1, {{1}}), at_row -> CAST({product} / sqrt({{1}}) AS FLOAT))")


_EVEN: Final = "(xxhash64(at_row, at_column, {}) & 9007199254740991 | 1) / 9007199254740992D"
"""A number between 0 and 1 for each place of a matrix."""
_PROJECTIONS: Final = {
    "RANDOM_PROJECTION": f"sqrt(-2 * ln({_EVEN.format(1)})) * cos(2 * pi() * {_EVEN.format(2)})",
    "SPARSE_RANDOM_PROJECTION": "sqrt(3D) * CASE pmod(xxhash64(at_row, at_column), 6) WHEN 0 THEN 1 WHEN 1 THEN -1 "
    "ELSE 0 END",
}
"""A number of the random matrix: normally distributed, or mostly zero."""


def _sum(of: str) -> str:
    return f"aggregate({of}, 0D, (total, each) -> total + each)"


def _dot(one: str, other: str) -> str:
    return _sum(f"zip_with({one}, {other}, (x, y) -> CAST(x AS DOUBLE) * CAST(y AS DOUBLE))")


_NORM: Final = f"sqrt({_dot('{0}', '{0}')})"

RULES: Final[Mapping[str, Rule]] = {
    "mod": remainder,
    "ceil": _whole("ceil"),
    "ceiling": _whole("ceil"),
    "floor": _whole("floor"),
    "round": _round,
    "sign": "coalesce(CAST(sign({0}) AS INT), 0)",
    "trunc": _trunc,
    "truncate": _trunc,
    "trim_scale": _trim_scale,
    "log": _log,
    "vector_dims": "size({0})",
    "vector_norm": _NORM,
    "inner_product": _dot("{0}", "{1}"),
    "cosine_distance": f"1D - {_dot('{0}', '{1}')} / ({_NORM} * {_NORM.replace('{0}', '{1}')})",
    "l1_distance": _sum("zip_with({0}, {1}, (x, y) -> abs(CAST(x AS DOUBLE) - CAST(y AS DOUBLE)))"),
    "l2_distance": "sqrt("
    + _sum("zip_with({0}, {1}, (x, y) -> power(CAST(x AS DOUBLE) - CAST(y AS DOUBLE), 2))")
    + ")",
    "vector_normalize": f"transform({{0}}, x -> CAST(CAST(x AS DOUBLE) / {_NORM} AS FLOAT))",
    "vector_reduce": _reduce,
}
