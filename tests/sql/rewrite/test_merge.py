"""What may be put into what: pure, safe, references, and the merge of two Selects."""

import pytest

from catalog.diagnostics.source import PlacedText, SourceFile
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BIGINT, DATE, DOUBLE, INT, STRING, Decimal
from sql.analyze import analyze
from sql.parsing.query_text import is_one_statement, tables_named
from sql.rewrite.fragments import is_pure, references
from sql.rewrite.merge import merge_selects, select_from_text
from sql.rewrite.safety import may_raise
from sql.rewrite.select_query import Projection, Select, text_of

TABLE = CatalogTable.of(
    "s",
    [Column("a", INT), Column("b", BIGINT), Column("t", STRING), Column("d", DATE), Column("m", Decimal(10, 2))],
)
TYPES = {column.name: column.type for column in TABLE.columns} | {"x": DOUBLE}


@pytest.mark.parametrize(
    "expression",
    ["a", "`a b`.c", "a + 1", "upper(trim(t))", "case when a > 1 then b end", "a in (1, 2)", "get(split(t, ','), 0)"],
)
def test_pure(expression):
    assert is_pure(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "rand()", "uuid()", "my_function(a)", "(select 1)", "a in (select 1)", "exists (select 1)", "sum(a)",
        "count(*)", "row_number() over (order by a)", "explode(array(a))", "transform(t, x -> x)", "current_date",
        "current_timestamp()", "struct(a)", "named_struct('a', a)", "a b", "a, b", "a from t", "*", "a; b", "(a",
        "monotonically_increasing_id()", "input_file_name()", "{x}", ":x", "?", "a as b", "", "ai_query('m', t)",
    ],
)  # fmt: skip
def test_not_pure(expression):
    assert not is_pure(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "a", "a > 1", "a = b", "t = 'x'", "t is not null and a < 3", "not (a between 1 and 2)", "a in (1, 2)",
        "upper(t) = 'X'", "x > 1", "length(t) > 3", "concat(t, 'x')", "true", "d = d", "m is null",
    ],
)  # fmt: skip
def test_cannot_raise(expression):
    assert not may_raise(expression, TYPES)


@pytest.mark.parametrize(
    "expression",
    [
        "a + 1", "a / b", "t = 1", "a = 'x'", "cast(t as int)", "t::int", "m > 1", "d = '2020-01-01'", "not t",
        "element_at(t, 1)", "upper(a) = 'X'", "a > 99999999999999999999", "-a", "a in (1, 'x')", "t and true", "zz = 1",
        "concat(a, t)", "a > 1.5",
    ],
)  # fmt: skip
def test_may_raise(expression):
    assert may_raise(expression, TYPES)


def test_references_are_placed_in_the_expression():
    found = references("s.a + `b` + c.d - S.`a`", "s")
    assert found is not None
    assert [(each.column, "s.a + `b` + c.d - S.`a`"[each.start : each.end]) for each in found] == [
        ("a", "s.a"), ("b", "`b`"), ("c", "c"), ("a", "S.`a`"),
    ]  # fmt: skip


def select(projections: dict[str, str], *predicates: str, source: str = "s") -> Select:
    return Select(source, tuple(Projection(name, text) for name, text in projections.items()), predicates)


MERGED = {
    "rename": (select({"x": "a"}), select({"y": "x"}), "SELECT a AS `y` FROM `s` AS `s`"),
    "inner predicate first": (
        select({"a": "a", "b": "b"}, "b <> 0"),
        select({"a": "a"}, "a / b > 1"),
        "SELECT a AS `a` FROM `s` AS `s` WHERE (b <> 0) AND (a / b > 1)",
    ),
    "brackets": (select({"x": "a + b"}), select({"y": "x * 2"}), "SELECT (a + b) * 2 AS `y` FROM `s` AS `s`"),
    "dropped": (select({"q": "a / b", "a": "a"}), select({"a": "a"}), "SELECT a AS `a` FROM `s` AS `s`"),
    "all of the inner": (select({"q": "a / b"}), select({}), "SELECT a / b AS `q` FROM `s` AS `s`"),
    "all of the table": (
        select({}, "a > 1"),
        select({}, "a < 3"),
        "SELECT * FROM `s` AS `s` WHERE (a > 1) AND (`a` < 3)",
    ),
    "safe twice": (
        select({"u": "upper(t)"}),
        select({"u": "u"}, "u <> 'X'"),
        "SELECT upper(t) AS `u` FROM `s` AS `s` WHERE ((upper(t)) <> 'X')",
    ),
    "qualified by the name of the input": (
        select({"x": "a"}),
        Select("named", (Projection("y", "named.x + x"),)),
        "SELECT a + a AS `y` FROM `s` AS `s`",
    ),
    "constant by itself": (select({"one": "1"}), select({"y": "one"}), "SELECT 1 AS `y` FROM `s` AS `s`"),
}


@pytest.mark.parametrize("case", MERGED)
def test_merge(case):
    inner, outer, expected = MERGED[case]
    merged = merge_selects(inner, outer, TABLE)
    assert merged is not None
    assert merged.to_sql() == expected


NOT_MERGED = {
    "random": (select({"r": "rand()"}), select({"r": "r"})),
    "random outside": (select({"a": "a"}), select({"r": "rand()", "a": "a"})),
    "unknown function": (select({"r": "my_udf(a)"}), select({"r": "r"})),
    "subquery": (select({"a": "a"}), select({"r": "(select max(a) from s)"})),
    "may raise, in a filter": (select({"q": "a / b"}, "b <> 0"), select({"q": "q"}, "q > 1")),
    "may raise, twice": (select({"q": "a / b"}), select({"x": "q + q"})),
    "constant in arithmetic": (select({"one": "1"}), select({"y": "m + one", "one": "one"})),
    "no such column": (select({"x": "a"}), select({"y": "a"})),
}


@pytest.mark.parametrize("case", NOT_MERGED)
def test_not_merged(case):
    inner, outer = NOT_MERGED[case]
    assert merge_selects(inner, outer, TABLE) is None


def test_open_tables_are_not_merged():
    assert merge_selects(select({"x": "a"}), select({"y": "x"}), CatalogTable.unknown("s")) is None


def test_a_users_predicate_keeps_its_place():
    file = SourceFile("job.conf", 'condition = "x > 1"')
    outer = Select("s", (), (PlacedText.verbatim(file, 13, 18),))
    merged = merge_selects(select({"x": "b"}), outer, TABLE)
    assert merged is not None
    (predicate,) = merged.predicates
    assert text_of(predicate) == "b > 1"
    text = merged.to_text()
    start = text.value.index("> 1")
    assert str(text.span(start, start + 3)) == "job.conf:1:16"


def test_a_users_query_stays_whole():
    file = SourceFile("job.sql", "select a -- the a\nfrom t -- all")
    inner = PlacedText.verbatim(file, 0, len(file.text))
    text = select_from_text(Select("q", (), ("a > 1",)), inner)
    assert text is not None
    assert text.value == "SELECT * FROM (\nselect a -- the a\nfrom t -- all\n) AS `q` WHERE (a > 1)"
    start = text.value.index("from t")
    assert str(text.span(start, start + 6)) == "job.sql:2:1"
    assert select_from_text(Select("q"), PlacedText.bare("select 1;")) is None
    assert select_from_text(Select("q"), PlacedText.bare("select 1) x, (select 2")) is None


def test_one_statement():
    assert is_one_statement("select ';)' from t")
    assert not is_one_statement("select 'open")


def test_tables_named():
    query = (
        "with c as (select * from A) select * from c join b.d on true where x in (select x from e) and y = (select 1)"
    )
    assert tables_named(query) == ("A", "b.d", "e")
    assert tables_named("select * from range(3)") == ()
    assert tables_named("select from where") == ()


def test_fingerprint_ignores_layout():
    def fingerprint(query):
        return analyze(PlacedText.bare(query), {}).fingerprint

    assert fingerprint("select  a -- x\nfrom t;") == fingerprint("select a from t")
    assert fingerprint("select 'a  b'") != fingerprint("select 'a b'")
