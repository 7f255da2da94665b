import pytest

from sql.spark_grammar.identifier_clause import constant_text
from sql.syntax.spark_tokens import spark_tokens


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("('a')", "a"),
        ("('a' || 'b' || 1)", "ab1"),
        ("(lower('A') || concat('b', upper('c')))", "abC"),
        ("(concat_ws('.', 'a', null, 'b'))", "a.b"),
        ("(replace('axb', 'x'))", "ab"),
        ("(trim(' a '))", "a"),
    ],
)
def test_strings_are_computed(arguments, text):
    tokens = spark_tokens(arguments)
    assert constant_text(tokens, 0) == (text, len(tokens))


@pytest.mark.parametrize(
    "arguments",
    ["('a' || null)", "(concat_ws(null, 'a'))", "(null)", "(1)", "(a)", "(coalesce('a'))", "(lower('a', 'b'))", "('a'"],
)
def test_others_are_not(arguments):
    assert constant_text(spark_tokens(arguments), 0) == ("", 0)
