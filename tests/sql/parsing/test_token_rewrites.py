"""Spark's syntax as tokens that sqlglot parses; what is not such syntax stays."""

import pytest
from sqlglot.dialects.spark import Spark

from sql.parsing.token_rewrites import joined_strings, named_by_text, path_name, plain_names, rewritten


def tokens(query: str):
    return Spark().tokenize(query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("doc:a.b", "doc [ path ]"),
        ("doc:a[0]['c']::int", "doc [ path ] :: int"),
        ("struct(1 a, b)", "struct ( 1 AS a , b )"),
        ("struct(interval 1 day)", "struct ( interval 1 day )"),
        ("cast(null as void)", "cast ( null as null )"),
        ("a is unknown", "a is unknown"),
        ("date '2020-01-01'::string", "( date 2020-01-01 ) :: string"),
        ("select -1::string", "select ( - 1 ) :: string"),
        ("a -1::string", "a - 1 :: string"),
        ("cast(a as struct<x:int>)", "cast ( a as struct < x : int > )"),
    ],
)
def test_a_rewrite(query, expected):
    assert " ".join(token.text for token in rewritten(tokens(query))).lower() == expected.lower()


def test_generated_tokens_have_the_range_of_what_they_replace():
    query = "select doc:a.b"
    path = rewritten(tokens(query))[3]
    assert query[path.start : path.end + 1] == ":a.b"


@pytest.mark.parametrize(
    ("path", "name"),
    [(":a.b", "b"), (":a[0]", "a"), (":a['c d']", "c d"), (":`x y`.B", "B"), (":[0]", None)],
)
def test_the_name_of_a_path_is_its_last(path, name):
    assert path_name(path) == name


def test_a_doubled_quote_joins_two_strings():
    made = joined_strings(tokens("'it''s' 'x'"))
    assert [token.text for token in made] == ["it's", "x"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("identifier('a.b')", ["a", ".", "b"]),
        ("identifier('a' || 'b')", ["ab"]),
        ("identifier('`x.y`.z')", ["x.y", ".", "z"]),
        ("identifier('a b')", ["identifier", "(", "a b", ")"]),
        ("identifier(x)", ["identifier", "(", "x", ")"]),
        ("t.identifier('a')", ["t", ".", "identifier", "(", "a", ")"]),
    ],
)
def test_identifier_names_what_its_text_is(query, expected):
    assert [token.text for token in named_by_text(tokens(query))] == expected


def test_a_keyword_at_a_given_offset_is_a_name():
    query = "x as select"
    kinds = [token.token_type.name for token in plain_names(tokens(query), frozenset((query.index("select"),)))]
    assert kinds == ["VAR", "ALIAS", "VAR"]
