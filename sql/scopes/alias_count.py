"""The error of an alias that does not name each column: `(SELECT a, b FROM s) AS t(x)`, and INSERTs in SQL jobs."""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from catalog.quoting import short_name
from sql.scopes.analysis import Binder
from sql.scopes.relations import Output

_MOST_LISTED: Final = 8


def refuse_alias_count(binder: Binder, alias: exp.Expr, output: Output) -> None:
    """Report the columns that have no name, or the names that have no column: they are matched by position."""
    table = alias.name
    names = [column.name for column in alias.args["columns"]]
    columns = [attribute.name for attribute in output.attributes]
    if len(names) > len(columns):
        rest = names[len(columns) :]
        lacks = f"no value for {_listed(rest)}"
        help = f"add {_listed(rest)} to the query, or leave {_them(rest)} out: {_call(table, names[: len(columns)])}"
    else:
        rest = columns[len(names) :]
        lacks = f"no column for {_listed(rest)}"
        help = f"leave {_listed(rest)} out of the query, or give `{table}` a column for {_them(rest)}: "
        help += _call(table, [*names, *rest])
    message = f"`{table}` takes {_columns(len(names))}, its rows have {len(columns)}: {lacks}"
    binder.report("PEN3007", alias, message, help)


def _columns(count: int) -> str:
    return f"{count} column" if count == 1 else f"{count} columns"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _call(table: str, names: Sequence[str]) -> str:
    listed = [short_name([name]) for name in names]
    return f"`{table} ({', '.join(listed[:_MOST_LISTED])}{', …' if len(listed) > _MOST_LISTED else ''})`"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(f"`{name}`" for name in names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
