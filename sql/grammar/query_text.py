"""Whole queries as text: what they read by name, and whether they can stand in another."""

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from sql.grammar.recursion import too_deep, with_room
from sql.syntax.spark_tokens import SPARK, spark_tokens


@with_room
def tables_named(query: str) -> tuple[str, ...]:
    """The names of the tables that a query reads, in order of appearance, CTEs left out; none if it does not parse.

    A name of several parts has dots, unquoted.
    """
    try:
        tokens = spark_tokens(query)
        tree = None if too_deep(tokens) else SPARK.parser().parse(tokens, query)[0]
    except (SqlglotError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
        return ()  # the latter are sqlglot's, over a tree that it cannot make
    if tree is None:
        return ()
    defined = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables = sorted(tree.find_all(exp.Table), key=lambda table: _start(table) or 0)
    names = [".".join(part.name for part in table.parts) for table in tables if isinstance(table.this, exp.Identifier)]
    return tuple(dict.fromkeys(name for name in names if name.lower() not in defined))


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
