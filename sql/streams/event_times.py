"""Event times: the columns of a stream that have a watermark, and the columns of a query that are one still.

Spark keeps the watermark of a column that is passed on as it is, and of `window(column, …)`; any other expression over
it, such as `date(column)`, has none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from sql.parsing.call_names import call_name

_KEEPING: Final = ("window", "session_window", "window_time")


@dataclass(frozen=True, slots=True)
class StreamRelation:
    """A stream that FROM reads: the name by which its columns are qualified, and its event times, in lower case."""

    name: str
    event_times: frozenset[str]


def event_time_of(node: exp.Expr, relations: Sequence[StreamRelation]) -> StreamRelation | None:
    """The stream of whose event times the expression is one, or a window of one."""
    match node:
        case exp.Paren() | exp.Alias():
            return event_time_of(node.this, relations)
        case exp.Column(this=exp.Identifier()):
            table = node.table.lower()
            return next(
                (
                    relation
                    for relation in relations
                    if node.name.lower() in relation.event_times and table in ("", relation.name)
                ),
                None,
            )
        case exp.Anonymous() if call_name(node) in _KEEPING and node.expressions:
            return event_time_of(node.expressions[0], relations)
    return None


def output_event_times(items: Sequence[exp.Expr], relations: Sequence[StreamRelation]) -> Iterator[str]:
    """The names of the event times among the items of a SELECT."""
    for item in items:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            table = item.table.lower() if isinstance(item, exp.Column) else ""
            for relation in relations:
                if table in ("", relation.name):
                    yield from relation.event_times
        elif event_time_of(item, relations) is not None:
            yield _name(item)


def grouped_expressions(group: exp.Group, items: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """What GROUP BY groups by, with ordinals and aliases resolved; of ALL, every item without an aggregate."""
    aliases: Mapping[str, exp.Expr] = {item.alias.lower(): item.this for item in items if isinstance(item, exp.Alias)}
    if group.args.get("all"):
        yield from items
    for expression in group.expressions:
        if isinstance(expression, exp.Literal) and not expression.is_string and expression.this.isdigit():
            yield from items[int(expression.this) - 1 : int(expression.this)]
        elif isinstance(expression, exp.Column) and not expression.table and expression.name.lower() in aliases:
            yield expression
            yield aliases[expression.name.lower()]
        else:
            yield expression


def _name(item: exp.Expr) -> str:
    if isinstance(item, exp.Anonymous):
        name = call_name(item)  # Spark calls `window(ts, '1 hour')` `window`
        return name if name != "window_time" else ""
    return str(item.alias_or_name).lower()
