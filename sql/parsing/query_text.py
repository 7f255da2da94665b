"""Whole queries as text: what they read by name, and whether they can stand in another."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from sql.parsing.parse import parse
from sql.parsing.pipe_syntax import INPUT
from sql.parsing.recursion import with_room
from sql.parsing.spark_tokens import spark_tokens


@with_room
def tables_read(query: str) -> tuple[str, ...] | None:
    """The names of the tables that a query reads, in order of appearance, CTEs left out; None if it does not parse.

    A name of several parts has dots, unquoted.
    """
    tree = parse(query).tree
    if tree is None:
        return None
    tables = sorted(tree.find_all(exp.Table), key=lambda table: _start(table) or 0)
    return tuple(
        dict.fromkeys(
            ".".join(part.name for part in table.parts)
            for table in tables
            if isinstance(table.this, exp.Identifier) and table.name != INPUT and not is_cte(table)
        )
    )


def tables_named(query: str) -> tuple[str, ...]:
    """The same; none if the query does not parse."""
    return tables_read(query) or ()


def is_cte(table: exp.Table) -> bool:
    """Whether the name is that of a CTE which is visible there.

    A CTE sees those before it, and itself only under RECURSIVE: `with orders as (select * from orders)` reads a table.
    """
    if len(table.parts) > 1:
        return False
    name = table.name.lower()
    node: exp.Expr = table
    while node.parent is not None:
        if any(cte.alias.lower() == name for cte in _visible(node.parent, node)):
            return True
        node = node.parent
    return False


def is_one_statement(query: str) -> bool:
    """Whether the text is one query that may stand in brackets: no `;`, every bracket closed."""
    try:
        tokens = spark_tokens(query)
    except SqlglotError:
        return False
    depth = 0
    for token in tokens:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth < 0 or token.token_type == TokenType.SEMICOLON:
            return False
    return depth == 0


def _start(node: exp.Table) -> int | None:
    start = node.parts[0].meta.get("start")
    return start if isinstance(start, int) else None


def _visible(parent: exp.Expr, node: exp.Expr) -> Iterator[exp.Expr]:
    """The CTEs of `parent` that its part `node` sees; the steps of a pipe see those before the first."""
    if isinstance(parent, exp.With):
        position = next(index for index, cte in enumerate(parent.expressions) if cte is node)
        yield from parent.expressions[: position + bool(parent.args.get("recursive"))]
        return
    query: exp.Expr | None = parent
    while query is not None:
        clause = query.args.get("with_")
        if clause is not None and clause is not node:
            yield from clause.expressions
        query = query.args.get("input")
