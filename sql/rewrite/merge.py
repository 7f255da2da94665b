"""Merges two queries into one, if the rows, their types and the errors under ANSI are provably unchanged.

Spark fuses such queries itself while it plans; what is saved is the time that planning each step takes.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import DataType
from sql.parsing.query_text import is_one_statement
from sql.rewrite.fragments import is_column, is_pure, references, substitute
from sql.rewrite.safety import may_raise
from sql.rewrite.select_query import Fragment, Projection, Select, closed, text_of

LONGEST: Final = 2000
"""Characters beyond which an expression takes nothing in: what is put in twice at each of n steps doubles n times."""


def merge_selects(inner: Select, outer: Select, table: CatalogTable) -> Select | None:
    """`outer` over `inner` over `table` as one Select over `table`; None if the two cannot be proved equal to it.

    The inner predicates stay first: `b <> 0` before `a / b > 1`. Every expression must be pure. One of the inner's that
    may raise is not put into a predicate, which would run it earlier, nor into two places.
    """
    if table.is_open or not _all_pure(_fragments(inner)) or not _all_pure(_fragments(outer)):
        return None
    made = {projection.name.lower(): projection.expression for projection in inner.projections} or {
        name.lower(): quote(name) for name in table.schema.names
    }
    types = {column.name.lower(): column.type for column in table.columns}
    if not all(_may_inline(name, text_of(expression), inner, outer, types) for name, expression in made.items()):
        return None
    projections = outer.projections or tuple(
        Projection(projection.name, quote(projection.name)) for projection in inner.projections
    )
    expressions = [_inlined(projection.expression, outer.source, made) for projection in projections]
    predicates = [_inlined(predicate, outer.source, made) for predicate in outer.predicates]
    if any(fragment is None or len(text_of(fragment)) > LONGEST for fragment in (*expressions, *predicates)):
        return None
    merged = zip(projections, expressions, strict=True)
    return Select(
        inner.source,
        tuple(Projection(projection.name, expression) for projection, expression in merged if expression is not None),
        (*inner.predicates, *(predicate for predicate in predicates if predicate is not None)),
    )


def select_from_text(outer: Select, text: PlacedText) -> PlacedText | None:
    """`outer` over a user's query, whose text stays whole as what is read FROM; None if it cannot stand there."""
    if not is_one_statement(text.value):
        return None
    return outer.to_text(PlacedText.join(["(\n", text, f"\n) AS {quote(outer.source)}"]))


def _fragments(select: Select) -> tuple[Fragment, ...]:
    return (*(projection.expression for projection in select.projections), *select.predicates)


def _all_pure(fragments: Iterable[Fragment]) -> bool:
    return all(is_pure(text_of(fragment)) for fragment in fragments)


def _may_inline(name: str, expression: str, inner: Select, outer: Select, types: Mapping[str, DataType]) -> bool:
    """Whether the inner's column may be replaced by its expression wherever the outer reads it."""
    if is_column(expression):
        return True
    in_projections = [
        _uses(text_of(projection.expression), outer.source, name) for projection in outer.projections
    ] or [1]
    in_predicates = [_uses(text_of(predicate), outer.source, name) for predicate in outer.predicates]
    uses = sum(in_projections) + sum(in_predicates)
    if not references(expression, inner.source):
        # A constant is typed otherwise than a column in arithmetic with decimals: it may stand only by itself.
        alone = sum(
            _is_the_column(text_of(projection.expression), outer.source, name) for projection in outer.projections
        )
        return uses == (alone if outer.projections else 1)
    return uses == 0 or not may_raise(expression, types) or (uses == 1 and not any(in_predicates))


def _uses(expression: str, source: str, name: str) -> int:
    return sum(reference.column.lower() == name for reference in references(expression, source) or ())


def _is_the_column(expression: str, source: str, name: str) -> bool:
    return is_column(expression) and _uses(expression, source, name) == 1


def _inlined(expression: Fragment, source: str, made: Mapping[str, Fragment]) -> Fragment | None:
    """The outer expression over the inner's source; what is put in stands in brackets unless it is the whole of it."""
    if is_column(text_of(expression)):
        return substitute(expression, source, lambda name: made.get(name.lower()))
    return substitute(expression, source, lambda name: _bracketed(made.get(name.lower())))


def _bracketed(fragment: Fragment | None) -> Fragment | None:
    if fragment is None or is_column(text_of(fragment)):
        return fragment
    return f"({fragment})" if isinstance(fragment, str) else PlacedText.join(["(", *closed(fragment), ")"])
