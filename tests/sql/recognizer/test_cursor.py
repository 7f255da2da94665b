"""The cursor of the grammar's rules: what it takes, tries and takes back."""

import pytest

from sql.recognizer.cursor import Cursor, NotSparkError, is_name
from sql.recognizer.expressions import expression, value
from sql.recognizer.lexer import tokenized


def cursor(text: str) -> Cursor:
    return Cursor(tokenized(text), lambda _: None, expression, value)


def test_words_are_taken_together_or_not_at_all():
    here = cursor("group by a")
    assert not here.take_all("GROUP", "SETS")
    assert here.at == 0
    assert here.take_all("GROUP", "BY")
    assert here.kind == "A"


def test_a_rule_that_does_not_fit_leaves_nothing_behind():
    here = cursor("(a, b")
    assert not here.takes(Cursor.names)
    assert (here.at, here.aliases) == (0, [])
    assert cursor("(a, b)").takes(Cursor.names)


def test_a_rule_that_would_fit_reads_nothing():
    here = cursor("(a, b)")
    assert here.would_take(Cursor.names)
    assert (here.at, here.aliases) == (0, [])


def test_what_is_expected_and_missing():
    with pytest.raises(NotSparkError):
        cursor("a").expect("A", ")")


def test_a_dotted_name_ends_before_a_point_without_a_name():
    here = cursor("a.b.c.*")
    here.dotted_name()
    assert here.kind == "."


@pytest.mark.parametrize(
    ("text", "is_clause"),
    [("from t", True), ("from, t", False), ("group by a", True), ("group a", False), ("where", False), ("a b", False)],
)
def test_a_word_that_goes_on_with_the_query(text, is_clause):
    assert cursor(text).is_clause() is is_clause


@pytest.mark.parametrize(("kind", "fits"), [("A", True), ("`", True), ("1A", True), ("0", False), ("(", False)])
def test_a_name(kind, fits):
    assert is_name(kind) is fits
