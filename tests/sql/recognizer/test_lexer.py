"""The tokens of Spark's lexer: words in upper case, signs as written, one mark for each kind of literal."""

import pytest

from sql.recognizer.lexer import END, LexicalError, tokenized


def kinds(text: str) -> list[str]:
    return [kind for kind in tokenized(text).kinds if kind != END]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select A", ["SELECT", "A"]),
        ("a<=>b != c", ["A", "<=>", "B", "!=", "C"]),
        ("x -> x::int |> y", ["X", "->", "X", "::", "INT", "|>", "Y"]),
        ("'it''s' \"q\" r'\\d'", ["'", "'", "'"]),
        ("'a\\'b'", ["'"]),
        ("1 1.5 .5e3 2L 3BD", ["0"] * 5),
        ("1a t.1b", ["1A", "T", ".", "1B"]),
        ("`a``b`.`c`", ["`", ".", "`"]),
        ("a -- b\n, c", ["A", ",", "C"]),
        ("a /* b /* c */ 'd' */ e", ["A", "E"]),
        ("'/*' a '*/'", ["'", "A", "'"]),
        ("select 1;;", ["SELECT", "0"]),
        ("rlike r", ["RLIKE", "R"]),
    ],
)
def test_the_kinds(text, expected):
    assert kinds(text) == expected


def test_the_span_of_a_token():
    text = "select  'a'"
    start, end = tokenized(text).span(1)
    assert text[start:end] == "'a'"


@pytest.mark.parametrize(("text", "offset"), [("select 'abc", 7), ("select `a", 7), ("a # b", 2), ("a /* b", 2)])
def test_where_no_token_starts(text, offset):
    with pytest.raises(LexicalError) as error:
        tokenized(text)
    assert error.value.offset == offset
