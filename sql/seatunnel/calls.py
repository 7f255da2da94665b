"""The calls and casts of a query, and its operators, as sites that are rewritten."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from sql.seatunnel.functions import RULES
from sql.seatunnel.functions.system import cast_to
from sql.seatunnel.functions.times import extracted
from sql.seatunnel.operators import operator_site
from sql.seatunnel.sites.call import CallSite, argument_ranges
from sql.seatunnel.sites.edits import Edits, Parts, Site, closing, site

_T = TokenType
_NO_CALL_AFTER: Final = frozenset(
    (_T.DOT, _T.ALIAS, _T.FROM, _T.JOIN, _T.VAR, _T.IDENTIFIER, _T.R_PAREN, _T.R_BRACKET, _T.NUMBER, _T.STRING)
)
_INNER_WORDS: Final = frozenset(("FROM", "BOTH", "LEADING", "TRAILING", "PLACING", "IN"))


def call_sites(edits: Edits, *, is_typed: bool) -> Iterator[Site]:
    """The sites of all calls and operators (`is_typed`: see there); which of them come first, `Site.phase` says."""
    tokens = edits.tokens
    for index in range(len(tokens)):
        if (operator := operator_site(edits, index, is_typed=is_typed)) is not None:
            yield operator
        elif index + 1 < len(tokens) and tokens[index + 1].token_type == _T.L_PAREN:
            end = closing(tokens, index + 1)
            if end is not None and (site := _call(edits, index, end)):
                yield site


def _call(edits: Edits, index: int, end: int) -> Site | None:
    tokens = edits.tokens
    name = tokens[index].text.lower()
    before = tokens[index - 1].token_type if index else None
    if before in _NO_CALL_AFTER and not _may_precede_call(tokens, index - 1):
        return None
    if name in ("cast", "try_cast"):
        return _cast(edits, index, end)
    if name == "extract":
        return _extract(edits, index, end)
    rule = RULES.get(name)
    if rule is None or tokens[index].token_type == _T.STRING:
        return None
    ranges = argument_ranges(tokens, index + 1, end)
    if any(_has_inner_word(tokens, first, last) for first, last in ranges):
        return None
    call = CallSite(name, ranges, edits)
    rewrite = partial(_filled, call, rule) if isinstance(rule, str) else partial(rule, call)
    return site(edits, index, end, rewrite)


def _filled(call: CallSite, template: str) -> Parts | None:
    """None if the call has fewer arguments than the template's: the analysis then reports it."""
    needed = max((number for number in range(9) if f"{{{number}}}" in template), default=-1) + 1
    return call.fill(template) if call.count == needed else None


def _may_precede_call(tokens: Sequence[Token], index: int) -> bool:
    """Whether a plain word is one behind which an expression begins, not an operand."""
    token = tokens[index]
    return token.token_type == _T.VAR and token.text.upper() in ("OUTER", "VIEW", "RETURN")


def _has_inner_word(tokens: Sequence[Token], first: int, last: int) -> bool:
    depth = 0
    for token in tokens[first : last + 1]:
        depth += (token.token_type == _T.L_PAREN) - (token.token_type == _T.R_PAREN)
        if depth == 0 and token.text.upper() in _INNER_WORDS and token.token_type not in (_T.STRING, _T.IDENTIFIER):
            return True
    return False


def _cast(edits: Edits, index: int, end: int) -> Site | None:
    tokens = edits.tokens
    depth = 0
    for at in range(end - 1, index + 1, -1):
        depth += (tokens[at].token_type == _T.R_PAREN) - (tokens[at].token_type == _T.L_PAREN)
        if depth == 0 and tokens[at].token_type == _T.ALIAS:
            call = CallSite("cast", [(index + 2, at - 1)], edits)
            target = edits.text.value[tokens[at + 1].start : tokens[end].start]
            return site(edits, index, end, partial(cast_to, call, target, keyword=tokens[index].text.upper()))
    return None


def _extract(edits: Edits, index: int, end: int) -> Site | None:
    tokens = edits.tokens
    if index + 3 >= end or tokens[index + 3].text.upper() != "FROM":
        return None
    call = CallSite("extract", [(index + 4, end - 1)], edits)
    return site(edits, index, end, partial(_extracted, call, tokens[index + 2].text))


def _extracted(call: CallSite, field: str) -> Parts | None:
    template = extracted(field, call.type(0))
    return None if template is None else call.fill(template)
