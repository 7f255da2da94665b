"""Spark's pipe syntax (`FROM t |> WHERE … |> SELECT …`) as a tree: a chain of Selects, one for each operator.

sqlglot parses each operator's tokens as a query over the table `|>`, which stands for the rows before it. A step keeps
the step or query before it under `input` and its operator in `meta["pipe"]`; `pipe_steps.py` binds the chain.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

_T = TokenType
INPUT: Final = "|>"
"""The name of the table that is the rows before an operator."""
PIPE: Final = "pipe"
"""The key in a Select's meta that names the operator which it is."""

_SELECTS: Final = frozenset(("WHERE", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET"))
_RELATIONS: Final = frozenset(
    ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "SEMI", "ANTI", "PIVOT", "UNPIVOT", "TABLESAMPLE")
)
_SETS: Final = frozenset(("UNION", "INTERSECT", "EXCEPT", "MINUS"))
OPERATORS: Final = ("WHERE", "SELECT", "EXTEND", "SET", "DROP", "AS", "AGGREGATE", "JOIN", "PIVOT", "UNPIVOT", "UNION",
                    "INTERSECT", "EXCEPT", "ORDER BY", "LIMIT", "OFFSET", "TABLESAMPLE")  # fmt: skip

Parse = Callable[[list[Token]], exp.Expr | None]


class PipeSyntaxError(Exception):
    """An unknown or invalid operator, from one token to another."""

    def __init__(self, first: Token, last: Token, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.first, self.last, self.message, self.help = first, last, message, help


@dataclass(slots=True)
class _Chains:
    """The chains found so far; a bracket that held one holds a query over the table `|>n` for the parser."""

    parse: Parse
    found: list[exp.Expr]


def has_pipes(tokens: Sequence[Token]) -> bool:
    return any(token.token_type == _T.PIPE_GT for token in tokens)


def parse_pipes(tokens: Sequence[Token], parse: Parse) -> exp.Expr:
    """The tree of a query with pipes, at its top or in brackets; raises `PipeSyntaxError`, and what `parse` raises."""
    chains = _Chains(parse, [])
    return _put_back(_chain(_without_inner(list(tokens), chains), chains), chains)


def _without_inner(tokens: list[Token], chains: _Chains) -> list[Token]:
    """The tokens with each bracket that holds a chain of its own, innermost first, replaced by a plain query."""
    made: list[Token] = []
    opened: list[int] = []
    for token in tokens:
        if token.token_type == _T.L_PAREN:
            opened.append(len(made) + 1)
        elif token.token_type == _T.R_PAREN and opened:
            start = opened.pop()
            if has_pipes(made[start:]):
                inner = made[start:]
                chains.found.append(_chain(inner, chains))
                made[start:] = _over(f"{INPUT}{len(chains.found) - 1}", inner[0], inner[-1])
        made.append(token)
    return made


def _put_back(tree: exp.Expr, chains: _Chains) -> exp.Expr:
    """The tree with the chains where the tables stand that were put for them."""
    for table in list(tree.find_all(exp.Table)):
        if table.name.startswith(INPUT) and table.name != INPUT:
            query = table.find_ancestor(exp.Select)
            chain = _put_back(chains.found[int(table.name.removeprefix(INPUT))], chains)
            if query is tree:
                return chain
            assert query is not None
            query.replace(chain)
    return tree


def _chain(tokens: list[Token], chains: _Chains) -> exp.Expr:
    parts = list(_split(tokens, _T.PIPE_GT))
    first, *operators = parts
    if not first:
        raise PipeSyntaxError(tokens[0], tokens[0], "a query is expected before `|>`")
    tree = _query(chains.parse(first), first[0])
    if operators and any(isinstance(tree, exp.Query) and tree.args.get(key) for key in _ENDINGS):
        pipe = next(token for token in tokens if token.token_type == _T.PIPE_GT)
        raise PipeSyntaxError(
            pipe, pipe, "a query that is sorted or limited takes no `|>`", "sort and limit by `|>` too"
        )
    tree.meta["from_first"] = len(list(_split(first, _T.SELECT))) == 1 and isinstance(tree, exp.Select)
    for operator in (*operators[:-1], *(_with_ending(operators[-1]) if operators else ())):
        if not operator:
            raise PipeSyntaxError(tokens[-1], tokens[-1], "an operator is expected after `|>`")
        step = _step(operator, chains.parse)
        step.set("input", tree)
        tree = step
    return tree


def _with_ending(tokens: list[Token]) -> list[list[Token]]:
    """The last operator; ORDER BY and LIMIT behind it, which are the whole query's, as operators of their own."""
    if not tokens or tokens[0].text.upper() not in ("WHERE", "SELECT", "EXTEND", "SET", "DROP", "AS", "AGGREGATE"):
        return [tokens]
    depth, parts = 0, [tokens[:1]]
    for token in tokens[1:]:
        depth += (token.token_type == _T.L_PAREN) - (token.token_type == _T.R_PAREN)
        is_sort = token.token_type in _SORTS and len(parts) == 1
        is_limit = token.token_type in _LIMITS and parts[-1][0].token_type not in _LIMITS
        if depth == 0 and (is_sort or is_limit):
            parts.append([])
        parts[-1].append(token)
    return parts


_ENDINGS: Final = ("order", "limit", "offset", "sort")
_SORTS: Final = frozenset((_T.ORDER_BY, _T.SORT_BY, _T.CLUSTER_BY, _T.DISTRIBUTE_BY))
_LIMITS: Final = frozenset((_T.LIMIT, _T.OFFSET))


def _split(tokens: Sequence[Token], separator: TokenType) -> Iterator[list[Token]]:
    depth, part = 0, list[Token]()
    for token in tokens:
        depth += (token.token_type == _T.L_PAREN) - (token.token_type == _T.R_PAREN)
        if depth == 0 and token.token_type == separator:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _step(tokens: list[Token], parse: Parse) -> exp.Select:
    head, body = tokens[0], tokens[1:]
    word = head.text.upper().split(" ")[0]
    if word in _SELECTS:
        _refuse_second_clause(tokens, word)
        step = _select(parse(_over(INPUT, head, head) + tokens), head)
    elif word in ("SELECT", "EXTEND"):
        step = _selecting(tokens, head, parse)
    elif word == "SET":
        step = _setting(body, head, parse)
    elif word == "DROP":
        step = _dropping(body, head)
    elif word == "AS":
        step = _naming(body, head)
    elif word == "AGGREGATE":
        step = _aggregating(body, head, parse)
    elif word in _RELATIONS:
        step = _select(parse(_over(INPUT, head, head) + tokens), head)
    elif word in _SETS:
        union = parse(_over(INPUT, head, head) + tokens)
        step = exp.Select(expressions=[])
        step.set("operation", union)
    else:
        help = f"it is one of {', '.join(OPERATORS)}"
        raise PipeSyntaxError(head, head, f"`|> {head.text}` is not an operator of Spark", help)
    step.meta[PIPE] = "JOIN" if word in _RELATIONS else "UNION" if word in _SETS else word
    step.meta["start"], step.meta["end"] = head.start, head.end
    return step


def _query(tree: exp.Expr | None, head: Token) -> exp.Expr:
    if not isinstance(tree, (exp.Query, exp.Values)):
        raise PipeSyntaxError(head, head, "a query is expected here")
    return tree


def _select(tree: exp.Expr | None, head: Token) -> exp.Select:
    if not isinstance(tree, exp.Select):
        raise PipeSyntaxError(head, head, f"`|> {head.text}` is not understood")
    return tree


_CLAUSES: Final = frozenset(
    (_T.WHERE, _T.GROUP_BY, _T.HAVING, _T.ORDER_BY, _T.SORT_BY, _T.CLUSTER_BY, _T.DISTRIBUTE_BY, _T.LIMIT, _T.OFFSET)
)


def _refuse_second_clause(tokens: Sequence[Token], word: str) -> None:
    depth = 0
    for token in tokens[1:]:
        depth += (token.token_type == _T.L_PAREN) - (token.token_type == _T.R_PAREN)
        if depth == 0 and token.token_type in _CLAUSES and not (word == "LIMIT" and token.token_type == _T.OFFSET):
            help = f"write `|> {token.text.upper()}`"
            raise PipeSyntaxError(token, token, f"{token.text.upper()} is not allowed in `|> {word}`", help)


def _selecting(tokens: list[Token], head: Token, parse: Parse) -> exp.Select:
    """`SELECT …`, and `EXTEND …`, which is SELECT with all the columns before."""
    _refuse_second_clause(tokens, head.text.upper())
    if len(tokens) < 2:
        raise PipeSyntaxError(head, head, f"something must follow {head.text.upper()}")
    window = next(
        (at for at, token in enumerate(tokens) if token.token_type == _T.WINDOW and at and _opens(tokens, at)), None
    )
    items, rest = (tokens, []) if window is None else (tokens[:window], tokens[window:])
    source = _over(INPUT, head, head)[2:]
    return _select(parse([_made(_T.SELECT, "SELECT", head, head), *items[1:], *source, *rest]), head)


def _opens(tokens: Sequence[Token], at: int) -> bool:
    """Whether WINDOW starts a clause here: `window w as (`."""
    return [token.token_type for token in tokens[at + 2 : at + 4]] == [_T.ALIAS, _T.L_PAREN]


def _setting(tokens: list[Token], head: Token, parse: Parse) -> exp.Select:
    """`SET a = x, b = y`: as `SELECT x AS a, y AS b`."""
    items: list[Token] = []
    for part in _split(tokens, _T.COMMA):
        if len(part) > 1 and part[1].token_type == _T.DOT:
            raise PipeSyntaxError(part[0], part[2], "`|> SET` takes plain column names", f"write `{part[2].text}`")
        if len(part) < 3 or part[1].token_type != _T.EQ:
            at = part[0] if part else head
            raise PipeSyntaxError(at, part[-1] if part else head, "`|> SET` takes `column = expression`")
        items += [_made(_T.COMMA, ",", part[1], part[1])] if items else []
        value = [_made(_T.L_PAREN, "(", part[1], part[1]), *part[2:], _made(_T.R_PAREN, ")", part[-1], part[-1])]
        items += [*value, _made(_T.ALIAS, "AS", part[1], part[1]), part[0]]
    source = _over(INPUT, head, head)[2:]
    return _select(parse([_made(_T.SELECT, "SELECT", head, head), *items, *source]), head)


def _dropping(tokens: list[Token], head: Token) -> exp.Select:
    names = []
    for part in _split(tokens, _T.COMMA):
        if len(part) != 1:
            at = part[1] if part else head
            raise PipeSyntaxError(at, at, "`|> DROP` takes plain column names")
        names.append(_identifier(part[0]))
    return exp.Select(expressions=names)


def _naming(tokens: list[Token], head: Token) -> exp.Select:
    if len(tokens) != 1:
        raise PipeSyntaxError(head, head, "`|> AS` takes one name")
    return exp.Select(expressions=[_identifier(tokens[0])])


def _aggregating(tokens: list[Token], head: Token, parse: Parse) -> exp.Select:
    """`AGGREGATE x GROUP BY y`: keys first, as `SELECT y, x … GROUP BY …`; how many keys stands in the meta."""
    at = next((index for index, token in enumerate(tokens) if token.token_type == _T.GROUP_BY), len(tokens))
    values, keys = tokens[:at], tokens[at + 1 :]
    for token in keys:
        if token.token_type in (_T.ROLLUP, _T.CUBE, _T.GROUPING_SETS) or (
            len(keys) == 1 and token.text.upper() == "ALL"
        ):
            raise PipeSyntaxError(token, token, f"`|> AGGREGATE` takes no GROUP BY {token.text.upper()}")
        if token.token_type in (_T.HAVING, _T.LIMIT):
            raise PipeSyntaxError(
                token, token, f"{token.text.upper()} is not allowed in `|> AGGREGATE`", "write `|> WHERE`"
            )
    if not values and not keys:
        raise PipeSyntaxError(head, head, "`|> AGGREGATE` needs an aggregate or GROUP BY")
    order = next((index for index, token in enumerate(keys) if token.token_type == _T.ORDER_BY), len(keys))
    keys, rest = keys[:order], keys[order:]
    count = len(list(_split(keys, _T.COMMA))) if keys else 0
    comma = [_made(_T.COMMA, ",", head, head)] if keys and values else []
    source = _over(INPUT, head, head)[2:]
    step = _select(parse([_made(_T.SELECT, "SELECT", head, head), *keys, *comma, *values, *source, *rest]), head)
    step.meta["keys"] = count
    return step


def _identifier(token: Token) -> exp.Identifier:
    node = exp.to_identifier(token.text, quoted=token.token_type == _T.IDENTIFIER)
    node.meta.update(start=token.start, end=token.end, line=token.line, col=token.col)
    return node


def _over(name: str, first: Token, last: Token) -> list[Token]:
    """`SELECT * FROM name`, at the place of what it stands for."""
    return [
        _made(_T.SELECT, "SELECT", first, first),
        _made(_T.STAR, "*", first, first),
        _made(_T.FROM, "FROM", first, first),
        _made(_T.IDENTIFIER, name, first, last),
    ]


def _made(kind: TokenType, text: str, first: Token, last: Token) -> Token:
    return Token(kind, text, first.line, first.col, first.start, last.end, [])
