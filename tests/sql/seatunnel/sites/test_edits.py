"""Text that is rewritten piece by piece, from the inside out."""

from sqlglot.dialects.spark import Spark

from catalog.diagnostics.source import PlacedText
from sql.seatunnel.sites.edits import Edits, Site, closing, query_depth


def edits(text: str) -> Edits:
    return Edits(PlacedText.bare(text), Spark().tokenize(text), lambda *_: None)


def test_the_closing_bracket_and_the_depth_of_queries():
    found = Spark().tokenize("f(a, (select d))")
    assert closing(found, 1) == len(found) - 1
    assert closing(Spark().tokenize("f(a"), 1) is None
    assert query_depth(found, len(found) - 3) == 1


def test_an_outer_site_holds_what_was_rewritten_within_it():
    found = edits("f(g(a))")
    inner = Site(2, 6, 0, 1, lambda: ["h(", found.current(4, 5), ")"])
    outer = Site(0, 7, 0, 1, lambda: ["k(", found.current(2, 6), ")"])
    assert found.run([outer, inner]).value == "k(h(a))"


def test_a_site_without_a_rewrite_stays():
    assert edits("f(a)").run([Site(0, 4, 0, 1, lambda: None)]).value == "f(a)"
