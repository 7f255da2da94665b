"""Numeric and vector functions of SeaTunnel's SQL as Spark's, with the result types of the 2.3 line."""

from collections.abc import Mapping
from typing import Final

from catalog.datatypes import BIGINT, DATE, INT, SMALLINT, TIMESTAMP, TIMESTAMP_NTZ, TINYINT, Decimal
from sql.dialect.sites.call import CallSite, Rule
from sql.dialect.sites.edits import Parts

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
    """`ceil` and `floor`: an INT; with digits, the nearest decimal as a double."""

    def rule(call: CallSite) -> Parts | None:
        if call.count == 1:
            return call.fill(f"CAST({name}({{0}}) AS INT)")
        return call.fill(f"CAST({name}({{0}}, {{1}}) AS INT)") if call.count == 2 else None

    return rule


def _round(call: CallSite) -> Parts | None:
    type = call.type(0)
    if not isinstance(type, Decimal) or call.count not in (1, 2):
        return None
    return call.fill(f"CAST(round({{0}}{', {1}' if call.count == 2 else ''}) AS {type})")


def _trunc(call: CallSite) -> Parts | None:
    """Toward zero, a DOUBLE; of a date, Spark's own function."""
    if call.count == 2 and (call.text_constant(1) or call.type(0) in (DATE, TIMESTAMP, TIMESTAMP_NTZ)):
        return None
    digits = "{1}" if call.count == 2 else "0"
    value = "CAST({0} AS DECIMAL(38,18))"
    whole = f"CASE WHEN {{0}} < 0 THEN ceil({value}, {digits}) ELSE floor({value}, {digits}) END"
    return call.fill(f"CAST({whole} AS DOUBLE)")


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
    is_cut = call.count == 3 and (call.text_constant(2) or "").upper() == "TRUNCATE"
    return call.fill("slice({0}, 1, {1})") if is_cut else None


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
