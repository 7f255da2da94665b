"""The operators of a query as sites that are rewritten: `||`, and the types and values of arithmetic."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from catalog.compat import Compat
from catalog.types.datatypes import BIGINT, DOUBLE, FLOAT, INT, SMALLINT, TINYINT, Decimal
from sql.seatunnel.functions.numeric import remainder
from sql.seatunnel.functions.strings import as_text, joined
from sql.seatunnel.sites.call import CallSite
from sql.seatunnel.sites.edits import Edits, Parts, Site, query_depth, site
from sql.seatunnel.sites.operands import concatenation, is_sign, product_operands, sum_operands

_T = TokenType
_WHOLE_NUMBERS: Final = (TINYINT, SMALLINT, INT, BIGINT)
_NUMBERS: Final = (*_WHOLE_NUMBERS, FLOAT, DOUBLE)
_DOUBLE_LITERAL: Final = re.compile(r"(\d*\.\d+|\d+\.)D")


def operator_site(edits: Edits, index: int, *, is_typed: bool) -> Site | None:
    """The site of the operator at a token; None if there is none, or it means the same in Spark.

    `is_typed`: sums and products may have other types than in Spark, which takes an analysis of their operands.
    """
    tokens = edits.tokens
    match tokens[index].token_type:
        case _T.SLASH:
            return _arithmetic(edits, index, product_operands(tokens, index))
        case _T.DPIPE if not _continues_chain(tokens, index):
            return _concatenation(edits, index)
        case _T.NEQ:
            token = tokens[index]
            return Site(token.start, token.end + 1, query_depth(tokens, index), 1, lambda: ["IS DISTINCT FROM"])
        case _T.STAR | _T.MOD if is_typed and _is_between_operands(tokens, index):
            return _arithmetic(edits, index, product_operands(tokens, index))
        case _T.PLUS | _T.DASH if is_typed and not is_sign(tokens, index) and _is_between_operands(tokens, index):
            return _arithmetic(edits, index, sum_operands(tokens, index))
    return None


def _is_between_operands(tokens: Sequence[Token], index: int) -> bool:
    """Not the `*` of `select *`, `count(*)` and `t.*`."""
    if index == 0 or index + 1 == len(tokens):
        return False
    is_star = tokens[index - 1].token_type in (_T.DOT, _T.L_PAREN, _T.COMMA, _T.SELECT, _T.DISTINCT)
    return not is_star and tokens[index + 1].token_type not in (_T.FROM, _T.COMMA, _T.R_PAREN)


def _arithmetic(edits: Edits, index: int, operands: tuple[int, int]) -> Site:
    first, last = operands
    call = CallSite(edits.tokens[index].text, [(first, index - 1), (index + 1, last)], edits)
    return site(edits, first, last, partial(_divided if call.name == "/" else _computed, call))


def _computed(call: CallSite) -> Parts | None:
    """Small integers give an INT and floats a DOUBLE; a decimal and a literal such as `1.1` are computed exactly.

    The left operand may be long, so it is analyzed only where its type decides.
    """
    if call.name == "%":
        left, right = call.type(0), call.type(1)
        if None not in (left, right) and (isinstance(left, Decimal) or isinstance(right, Decimal)):
            return remainder(call)
    if call.edits.compat is Compat.SEATUNNEL_3 and call.name == "*" and (product := _product(call)):
        return product
    if literal := _DOUBLE_LITERAL.fullmatch(call.arg(1).value):
        return ["(", call.arg(0), f" {call.name} {literal[1]}BD)"] if isinstance(call.type(0), Decimal) else None
    if literal := _DOUBLE_LITERAL.fullmatch(call.arg(0).value):
        return [f"({literal[1]}BD {call.name} ", call.arg(1), ")"] if isinstance(call.type(1), Decimal) else None
    right = call.type(1)
    if right in (TINYINT, SMALLINT) and call.type(0) in (TINYINT, SMALLINT):
        return call.fill(f"(CAST({{0}} AS INT) {call.name} {{1}})")
    if right == FLOAT and call.type(0) == FLOAT:
        return call.fill(f"(CAST({{0}} AS DOUBLE) {call.name} {{1}})")
    return None


def _product(call: CallSite) -> Parts | None:
    """Of decimals, perhaps with integers, in 3.x: rounded to the larger scale."""
    operands = (call.type(0), call.type(1))
    decimals = [operand for operand in operands if isinstance(operand, Decimal)]
    if not decimals or not all(isinstance(operand, Decimal) or operand in _WHOLE_NUMBERS for operand in operands):
        return None
    precision, scale = max(decimal.precision for decimal in decimals), max(decimal.scale for decimal in decimals)
    return call.fill(f"CAST(({{0}}) * ({{1}}) AS DECIMAL({precision},{scale}))")


def _continues_chain(tokens: Sequence[Token], index: int) -> bool:
    """Whether an earlier `||` begins the chain that this one is in."""
    first, _ = concatenation(tokens, index)
    depth = 0
    for token in tokens[first:index]:
        depth += (token.token_type == _T.L_PAREN) - (token.token_type == _T.R_PAREN)
        if depth == 0 and token.token_type == _T.DPIPE:
            return True
    return False


def _concatenation(edits: Edits, index: int) -> Site:
    first, last = concatenation(edits.tokens, index)
    return site(edits, first, last, partial(_joined, edits, first, last))


def _joined(edits: Edits, first: int, last: int) -> Parts:
    """`a || b` leaves NULLs out, as `concat` does."""
    ranges: list[tuple[int, int]] = []
    depth, start = 0, first
    for at in range(first, last + 1):
        kind = edits.tokens[at].token_type
        depth += (kind == _T.L_PAREN) - (kind == _T.R_PAREN)
        if kind == _T.DPIPE and depth == 0:
            ranges.append((start, at - 1))
            start = at + 1
    call = CallSite("||", [*ranges, (start, last)], edits)
    return joined([as_text(call, argument) for argument in range(call.count)])


def _divided(call: CallSite) -> Parts | None:
    """Integers give an integer, doubles perhaps infinity; a decimal keeps the larger scale and rounds from zero, in 3.x
    to the nearest."""
    left, right = call.type(0), call.type(1)
    if left in _WHOLE_NUMBERS and right in _WHOLE_NUMBERS:
        type = BIGINT if BIGINT in (left, right) else INT
        return call.fill(f"CAST(({{0}}) DIV ({{1}}) AS {type})")
    decimals = [operand for operand in (left, right) if isinstance(operand, Decimal)]
    if None in (left, right):
        return None
    if not decimals:
        is_constant = call.integer_constant(1) or _DOUBLE_LITERAL.fullmatch(call.arg(1).value)
        if is_constant or not all(operand in _NUMBERS for operand in (left, right)):
            return None
        return call.fill("(CASE WHEN ({1}) = 0 THEN ({0}) * DOUBLE('Infinity') ELSE ({0}) / ({1}) END)")
    precision, scale = max(decimal.precision for decimal in decimals), max(decimal.scale for decimal in decimals)
    divisor = "CAST({1} AS DECIMAL(38,18))" if right in (FLOAT, DOUBLE) else "({1})"
    quotient = f"CAST({{0}} AS DECIMAL(38,18)) / {divisor}"
    if call.edits.compat is Compat.SEATUNNEL_3:
        return call.fill(f"CAST({quotient} AS DECIMAL({precision},{scale}))")
    up = f"CASE WHEN {quotient} < 0 THEN floor({quotient}, {scale}) ELSE ceil({quotient}, {scale}) END"
    return call.fill(f"CAST({up} AS DECIMAL({precision},{scale}))")
