"""What an analysis says besides columns and errors: places in a job file, lineage, reads, suppression, open tables."""

import pytest

from catalog.diagnostics.source import PlacedText, SourceFile
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BIGINT, INT, STRING, Array, Decimal, Field, Struct
from sql.analyze import analyze
from sql.scopes.lineage import Dependency

ORDERS = CatalogTable.of(
    "orders",
    [
        Column("id", BIGINT, False),
        Column("customer", BIGINT),
        Column("amount", Decimal(10, 2)),
        Column("state", STRING),
        Column("tags", Array(STRING)),
        Column("place", Struct((Field("city", STRING),))),
    ],
)
CUSTOMERS = CatalogTable.of("customers", [Column("id", BIGINT, False), Column("name", STRING), Column("age", INT)])
INPUTS = {"orders": ORDERS, "customers": CUSTOMERS}


def errors(query: str, inputs=INPUTS) -> list[tuple[str, str]]:
    """Codes, and the text that each points at."""
    found = analyze(PlacedText.bare(query), inputs)
    lines = query.split("\n")
    return [
        (each.code, lines[each.span.line - 1][each.span.column - 1 : each.span.end_column - 1])
        for each in found.diagnostics
    ]


def test_one_cause_is_one_diagnostic_that_tells_each_place():
    query = "select amout, upper(amout), upper(nope) from orders where amout > 1"
    first, second = analyze(PlacedText.bare(query), INPUTS).diagnostics
    assert [span.column for span in (first.span, *first.also)] == [8, 21, 59]
    assert (second.span.column, second.also) == (35, ())


def test_equal_errors_of_types_stay_apart():
    query = "select upper(tags) as one, upper(tags) as other from orders"
    assert [code for code, _ in errors(query)] == ["PEN3008", "PEN3008"]


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ("select amout from orders", "PEN3004", "amout"),
        ("select id from orders o join customers c on o.id = c.id", "PEN3003", "id"),
        ("select nope(id) from orders", "PEN3006", "nope(id)"),
        ("select state, id from orders group by state", "PEN3009", "id"),
        ("select id from orders union select id, name from customers", "PEN3010", "id"),
        ("select place.citty from orders", "PEN3005", "citty"),
        ("select id,, state from orders", "PEN3001", ","),
        ("select id from order_s", "PEN3002", "order_s"),
    ],
)
def test_a_defect_gives_one_diagnostic_with_its_range(query, code, text):
    assert errors(query) == [(code, text)]


def test_a_query_with_seven_defects_gives_seven():
    query = """select o.amout, nope(o.id), o.place.citty,
      id,
      o.id + o.tags,
      upper(o.state, 'x')
from orders o join customers c on o.customer = c.idd"""
    assert [code for code, _ in errors(query)] == [
        "PEN3004", "PEN3006", "PEN3005", "PEN3003", "PEN3008", "PEN3007", "PEN3004",
    ]  # fmt: skip


def test_a_place_is_that_in_the_job_file():
    text = 'transform {\n  Sql { query = """\n    select id,\n           amout\n    from orders""" }\n}\n'
    start = text.index('"""') + 3
    query = PlacedText.verbatim(SourceFile("a.conf", text), start, text.rindex('"""'))
    (diagnostic,) = analyze(query, INPUTS).diagnostics
    assert (str(diagnostic.span), diagnostic.span.end_line, diagnostic.span.end_column) == ("a.conf:4:12", 4, 17)
    assert diagnostic.help == "did you mean `amount`?"


def test_a_comment_on_its_line_suppresses_a_code():
    query = "select amout, -- penstock: ignore PEN3004\n  statte\nfrom orders"
    assert errors(query) == [("PEN3004", "statte")]


def test_lineage_names_sources_and_kinds():
    query = """
    with big as (select id, customer, amount * 2 as twice from orders where state = 'open')
    select c.name, sum(b.twice) as total, max(case when c.age > 3 then b.id end) as last
    from big b join customers c on b.customer = c.id
    group by c.name order by c.name
    """
    found = {
        (each.output, each.input, each.column, each.dependency)
        for each in analyze(PlacedText.bare(query), INPUTS).lineage
    }
    assert found == {
        ("name", "customers", "name", Dependency.IDENTITY),
        ("total", "orders", "amount", Dependency.AGGREGATION),
        ("last", "orders", "id", Dependency.AGGREGATION),
        ("last", "customers", "age", Dependency.CONDITIONAL),
        (None, "orders", "state", Dependency.FILTER),
        (None, "orders", "customer", Dependency.JOIN),
        (None, "customers", "id", Dependency.JOIN),
        (None, "customers", "name", Dependency.GROUP_BY),
        (None, "customers", "name", Dependency.SORT),
    }


def test_columns_read_are_those_that_the_text_needs():
    query = "select o.id from orders o where exists (select 1 from customers c where c.id = o.customer)"
    found = analyze(PlacedText.bare(query), INPUTS)
    assert found.reads == ("orders", "customers")
    assert found.columns_read == {"orders": ("id", "customer"), "customers": ("id",)}


def test_an_open_table_hides_errors_and_makes_types_unknown():
    open_table = {"things": CatalogTable.unknown("things"), **INPUTS}
    found = analyze(PlacedText.bare("select a, t.b.c, o.id from things t join orders o on t.k = o.id"), open_table)
    assert not found.diagnostics
    assert [f"{each.name} {each.type}" for each in found.columns] == ["a unknown", "c unknown", "id bigint"]
    assert found.columns_read["things"] == ("a", "b", "k")
    assert analyze(PlacedText.bare("select * from things"), open_table).table.is_open


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("select id from orders", True),
        ("select rand() from orders", False),
        ("select id from orders limit 3", False),
        ("select id from orders order by id limit 3", True),
        ("select id from orders tablesample (10 percent)", False),
        ("select current_timestamp() from orders", False),
    ],
)
def test_determinism(query, same):
    assert analyze(PlacedText.bare(query), INPUTS).is_deterministic is same


def test_two_columns_of_one_name_are_kept_and_warned_of():
    found = analyze(PlacedText.bare("select id, id from orders"), INPUTS)
    assert [each.name for each in found.columns] == ["id", "id"]
    assert [(each.code, each.severity.value) for each in found.diagnostics] == [("PEN3015", "warning")]


@pytest.mark.parametrize(
    "query", ["select interval '-\t 1' day", "select and(*) from orders", "select or(*) from orders"]
)
def test_no_text_makes_the_analyzer_raise(query):
    analyze(PlacedText.bare(query), INPUTS)


@pytest.mark.parametrize("query", ["select and(*) from orders", "select or(*) from orders"])
def test_a_star_as_an_operand_is_an_error(query):
    """Of which code depends on the build: the compiled sqlglot makes no tree of it, the other one does."""
    [(code, _)] = errors(query)
    assert code in {"PEN3001", "PEN3017"}
