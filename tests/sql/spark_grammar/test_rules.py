"""The rules of types and clauses: how much of a text each reads."""

import pytest

from sql.spark_grammar.clauses import grouping, organization, windows
from sql.spark_grammar.cursor import Cursor, NotSparkError
from sql.spark_grammar.data_types import data_type
from sql.spark_grammar.lexer import tokenized


def rest(rule, text: str) -> str:
    """What the rule leaves of a text."""
    tokens = tokenized(text)
    cursor = Cursor(tokens, query=lambda _: None)
    rule(cursor)
    return text[tokens.span(cursor.at)[0] :] if cursor.at < len(tokens.matches) else ""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("int)", ")"),
        ("decimal(10, 2) x", "x"),
        ("array<map<string, int>> x", "x"),
        ("struct<a int, b: string not null comment 'c'>)", ")"),
        ("struct<> x", "x"),
        ("interval day to second x", "x"),
        ("timestamp without time zone x", "x"),
        ("string collate utf8_binary x", "x"),
    ],
)
def test_a_type(text, left):
    assert rest(data_type, text) == left


@pytest.mark.parametrize("text", ["array<int", "map<int>", "struct<a>", "decimal(a)", "(", "int(-1)"])
def test_no_type(text):
    with pytest.raises(NotSparkError):
        rest(data_type, text)


@pytest.mark.parametrize(
    ("rule", "text", "left"),
    [
        (grouping, "a, rollup(b, (c, d)) order", "order"),
        (grouping, "a grouping sets ((a), ()) having", "having"),
        (grouping, "a, b with cube having", "having"),
        (grouping, "(a, b)", ""),
        (windows, "window w as (order by a), v as (w) order", "order"),
        (windows, "window", "window"),
        (organization, "order by a desc nulls last, b limit 3 offset 1)", ")"),
        (organization, "distribute by a sort by b union", "union"),
        (organization, "limit all)", ")"),
        (organization, ")", ")"),
    ],
)
def test_a_clause(rule, text, left):
    assert rest(rule, text) == left


@pytest.mark.parametrize(("rule", "text"), [(grouping, ""), (grouping, "rollup(a"), (organization, "order by")])
def test_a_clause_that_is_not_complete(rule, text):
    with pytest.raises(NotSparkError):
        rest(rule, text)
