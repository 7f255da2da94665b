"""The parts of each SELECT whose meaning differs in other engines: table names, lateral views, column names."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote
from sql.seatunnel.sites.call import argument_ranges
from sql.seatunnel.sites.edits import CLOSING, OPENING, Edits, Parts, Site, closing, site

_T = TokenType
_NAMES: Final = frozenset((_T.VAR, _T.IDENTIFIER))
_AFTER_FROM: Final = frozenset(
    ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "CLUSTER", "SORT", "DISTRIBUTE",
     "WINDOW", "QUALIFY", "OFFSET")
)  # fmt: skip


def from_clause(tokens: Sequence[Token], select: int) -> tuple[int, int] | None:
    """The indexes of FROM and of the last token of its clause, for the SELECT at an index; None if it has none."""
    depth, start = 0, None
    for index in range(select + 1, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth < 0:
            return None if start is None else (start, index - 1)
        if depth or kind in (_T.IDENTIFIER, _T.STRING):
            continue
        if kind == _T.FROM and start is None and tokens[index - 1].token_type != _T.DISTINCT:
            start = index
        elif tokens[index].text.upper() in _AFTER_FROM:
            return None if start is None else (start, index - 1)
    return None if start is None else (start, len(tokens) - 1)


def enclosing_select(tokens: Sequence[Token], index: int) -> int | None:
    """The SELECT in whose list or clauses the token stands."""
    depth = 0
    for at in range(index, -1, -1):
        kind = tokens[at].token_type
        depth += (kind in CLOSING) - (kind in OPENING) if at != index else 0
        depth = max(depth, 0)
        if kind == _T.SELECT and depth == 0:
            return at
    return None


def table_sites(edits: Edits, only: str | None) -> Iterator[Site]:
    """With a single input, every table that a query names is that one, however it is called."""
    tokens = edits.tokens
    defined = {
        tokens[at].text.lower()
        for at in range(len(tokens) - 3)
        if tokens[at + 1].token_type == _T.ALIAS
        and tokens[at + 2].token_type == _T.L_PAREN
        and tokens[at + 3].token_type in (_T.SELECT, _T.WITH)
    }
    for index, token in enumerate(tokens[:-1]):
        if only is None or token.token_type not in (_T.FROM, _T.JOIN) or not _begins_name(tokens, index + 1):
            continue
        if _is_inside_call(tokens, index):
            continue
        last = index + 1
        while last + 2 < len(tokens) and tokens[last + 1].token_type == _T.DOT:
            last += 2
        is_function = last + 1 < len(tokens) and tokens[last + 1].token_type == _T.L_PAREN
        name = tokens[last].text
        if is_function or (last == index + 1 and name.lower() in {only.lower(), *defined}):
            continue
        follower = tokens[last + 1] if last + 1 < len(tokens) else None
        has_alias = follower is not None and follower.token_type in (*_NAMES, _T.ALIAS)
        parts: Parts = [quote(only)] if has_alias else [f"{quote(only)} AS {quote(name)}"]
        yield site(edits, index + 1, last, partial(_given, parts), 0)


def _begins_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name begins here; a keyword is one before a dot: `default.orders`."""
    is_dotted = index + 1 < len(tokens) and tokens[index + 1].token_type == _T.DOT
    return tokens[index].token_type in _NAMES or is_dotted


def _is_inside_call(tokens: Sequence[Token], index: int) -> bool:
    """Whether FROM is a word of a call: `extract(YEAR FROM x)`, `trim(BOTH 'x' FROM y)`."""
    depth = 0
    for at in range(index - 1, -1, -1):
        kind = tokens[at].token_type
        depth += (kind in CLOSING) - (kind in OPENING)
        if kind == _T.SELECT and depth == 0:
            return False
        if depth < 0:
            return True
    return True


def _given(parts: Parts) -> Parts:
    return parts


def lateral_sites(edits: Edits, columns: Sequence[str]) -> Iterator[Site]:
    """`LATERAL VIEW EXPLODE(x) AS c`: the column `c` is replaced, or added behind the others; without OUTER, elements
    that are NULL make no row."""
    tokens = edits.tokens
    for select, token in enumerate(tokens):
        clause = from_clause(tokens, select) if token.token_type == _T.SELECT else None
        if clause is None:
            continue
        views = [at for at in range(clause[0], clause[1]) if tokens[at].text.upper() == "LATERAL"
                 and tokens[at + 1].text.upper() == "VIEW"]  # fmt: skip
        if views and all(_view(tokens, at) for at in views):
            rewrite = partial(_exploded, edits, clause[0] + 1, tuple(views), columns)
            yield site(edits, clause[0] + 1, clause[1], rewrite, 0)


def _view(tokens: Sequence[Token], at: int) -> tuple[int, int, str, bool] | None:
    """Where the generator's argument begins and ends, the column, and whether it is OUTER; None for Spark's own form,
    which names a table before the columns."""
    is_outer = tokens[at + 2].text.upper() == "OUTER"
    name = at + 2 + is_outer
    end = closing(tokens, name + 1) if tokens[name].text.upper() == "EXPLODE" else None
    if end is None or end + 2 >= len(tokens) or tokens[end + 1].token_type != _T.ALIAS:
        return None
    first, last = argument_ranges(tokens, name + 1, end)[0]
    return first, last, tokens[end + 2].text, is_outer


def _exploded(edits: Edits, first: int, views: Sequence[int], columns: Sequence[str]) -> Parts:
    tokens = edits.tokens
    parts: list[str | PlacedText] = [edits.current(tokens[first].start, tokens[views[0] - 1].end + 1)]
    names = list(columns)
    for at in views:
        view = _view(tokens, at)
        if view is None:
            raise AssertionError("the view was looked at before")
        start, end, column, is_outer = view
        argument = edits.current(tokens[start].start, tokens[end].end + 1)
        folded = column.lower()
        kept = [f"`exploded`.{quote(column)}" if name.lower() == folded else f"`rows`.{quote(name)}" for name in names]
        if folded not in (name.lower() for name in names):
            names.append(column)
            kept.append(f"`exploded`.{quote(column)}")
        outer = " OUTER" if is_outer else ""
        inner: Parts = ["(SELECT * FROM ", *parts, ") AS `rows`"]
        view_text: Parts = [f" LATERAL VIEW{outer} explode(", argument, f") `exploded` AS {quote(column)}"]
        nulls = "" if is_outer else f" WHERE `exploded`.{quote(column)} IS NOT NULL"
        parts = [f"(SELECT {', '.join(kept)} FROM ", *inner, *view_text, f"{nulls})"]
    named = next(token for token in reversed(tokens[first : views[0]]) if token.token_type in _NAMES)
    return [*parts, f" AS {quote(named.text)}"]


def name_sites(edits: Edits) -> Iterator[Site]:
    """An output column without a name is called as its expression is written."""
    tokens = edits.tokens
    for select, token in enumerate(tokens):
        if token.token_type != _T.SELECT:
            continue
        start = select + 2 if tokens[select + 1].token_type == _T.DISTINCT else select + 1
        for first, last in argument_ranges(tokens, start - 1, _list_end(tokens, start)):
            if name := _name(edits, tokens[first : last + 1]):
                rewrite = partial(_named, edits, first, last, name)
                yield site(edits, first, last, rewrite, 2)


def _list_end(tokens: Sequence[Token], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind in OPENING) - (kind in CLOSING)
        is_end = depth == 0 and kind not in (_T.IDENTIFIER, _T.STRING)
        if depth < 0 or (is_end and (kind == _T.FROM or tokens[index].text.upper() in _AFTER_FROM)):
            return index
    return len(tokens)


_ENDS: Final = frozenset((
    _T.VAR, _T.IDENTIFIER, _T.NUMBER, _T.STRING, _T.R_PAREN, _T.R_BRACKET, _T.END, _T.NULL, _T.TRUE, _T.FALSE,
    _T.CURRENT_DATE, _T.CURRENT_TIME, _T.CURRENT_TIMESTAMP,
))  # fmt: skip


def _name(edits: Edits, item: Sequence[Token]) -> str | None:
    """The name of an item that has none and is no column; None for any other."""
    if len(item) == 1 and item[0].token_type in (*_NAMES, _T.STAR):
        return None
    if item[-1].token_type == _T.STAR or any(token.token_type == _T.ALIAS for token in _outermost(item)):
        return None
    if len(item) > 1 and item[-1].token_type not in (_T.R_PAREN, _T.R_BRACKET, _T.END, _T.NUMBER, _T.STRING):
        before = item[-2].token_type
        is_cast = len(item) > 2 and item[-3].token_type == _T.DCOLON
        if before == _T.DOT or before in _ENDS or is_cast:  # a column, or an alias without AS
            return None
    written = edits.text.value[item[0].start : item[-1].end + 1]
    return re.sub(r"\s+", " ", written.replace("`", ""))


def _outermost(item: Sequence[Token]) -> Iterator[Token]:
    depth = 0
    for token in item:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        if depth == 0:
            yield token


def _named(edits: Edits, first: int, last: int, name: str) -> Parts:
    tokens = edits.tokens
    return [edits.current(tokens[first].start, tokens[last].end + 1), f" AS {quote(name)}"]
