import pytest

from sql.parsing.spark_tokens import spark_tokens
from sql.recognizer.identifier_clause import constant_text, name_parts


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("('a')", "a"),
        ("('a' || 'b' || 1)", "ab1"),
        ("(lower('A') || concat('b', upper('c')))", "abC"),
        ("(concat_ws('.', 'a', null, 'b'))", "a.b"),
        ("(replace('axb', 'x'))", "ab"),
        ("(trim(' a '))", "a"),
        ("('a' 'b')", "ab"),
        ("(('a') || true)", "atrue"),
        ("(cast('a' as string) || 'b'::string)", "ab"),
        ("(substring('xab', 2, 1))", "a"),
        ("(right('xa', 1) || left('bx', 1))", "ab"),
        ("(coalesce(null, 'a'))", "a"),
        ("(concat())", ""),
    ],
)
def test_strings_are_computed(arguments, text):
    tokens = spark_tokens(arguments)
    assert constant_text(tokens, 0) == (text, len(tokens))


@pytest.mark.parametrize(
    "arguments",
    [
        *("('a' || null)", "(concat_ws(null, 'a'))", "(null)", "(1)", "(true)", "(a)"),
        *("(format_string('a'))", "(lower('a', 'b'))", "(left('a', 'b'))", "('a'", "(cast('1' as int))"),
    ],
)
def test_others_are_not(arguments):
    assert constant_text(spark_tokens(arguments), 0) is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ["a"]),
        (" s . x -- y", ["s", "x"]),
        ("`a.b`.1c", ["a.b", "1c"]),
        ("`a``b`", ["a`b"]),
        ("select", ["select"]),
        *[
            (text, None)
            for text in ("", "a.", ".a", "a b", "a-b", "12", "1e5", "1L", "ä", "``", "a;", "'a'", "a.*", "`a")
        ],
    ],
)
def test_the_parts_of_a_name(text, parts):
    assert name_parts(text) == parts
