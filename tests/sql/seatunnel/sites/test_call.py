"""A call among the tokens of a query: its arguments, and those that are constants."""

from sqlglot.dialects.spark import Spark

from catalog.diagnostics.source import PlacedText
from sql.seatunnel.sites.call import CallSite, argument_ranges
from sql.seatunnel.sites.edits import Edits


def test_the_ranges_of_arguments():
    text = "f(a, g(b, c), (select d))"
    found = Spark().tokenize(text)
    ranges = argument_ranges(found, 1, len(found) - 1)
    assert [text[found[a].start : found[b].end + 1] for a, b in ranges] == ["a", "g(b, c)", "(select d)"]


def test_constants_of_a_call():
    text = "f('a', -3, null, b)"
    found = Edits(PlacedText.bare(text), Spark().tokenize(text), lambda *_: None)
    call = CallSite("f", argument_ranges(found.tokens, 1, len(found.tokens) - 1), found)
    assert call.count == 4
    assert (call.text_constant(0), call.text_constant(3)) == ("a", None)
    assert (call.integer_constant(1), call.integer_constant(0)) == (-3, None)
    assert (call.is_null(2), call.is_null(3)) == (True, False)
    assert "".join(str(getattr(part, "value", part)) for part in call.fill("g({3}, {0})")) == "g(b, 'a')"
