"""What `analyze` finds about one expression over the tables of the cases."""

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import Column
from sql.analyze import analyze
from tests.sql.query_cases import TABLES


def column(expression: str, table: str = "every") -> Column:
    """The only column of `select <expression> from <table>`."""
    analysis = analyze(PlacedText.bare(f"select {expression} from {table}"), TABLES)
    assert analysis.diagnostics == ()
    (only,) = analysis.columns
    return only


def typed(expression: str) -> str:
    """The type of an expression, and `!` where it is not null."""
    found = column(expression)
    return f"{found.type}{'' if found.nullable else '!'}"


def error(query: str) -> tuple[str, str, str]:
    """Code, underlined text and message of the only error of a query in one line."""
    (only,) = analyze(PlacedText.bare(query), TABLES).diagnostics
    return only.code, query[only.span.column - 1 : only.span.end_column - 1], only.message
