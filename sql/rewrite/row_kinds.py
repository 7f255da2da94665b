"""Adds the row kind to the output of a user's query: `, t.__row_kind` after its columns.

Only for queries in which each output row comes from one input row. An aggregate over inserts and deletes would need
the rows that were there before: that is refused, with the reason.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote
from catalog.tables.row_kind import ROW_KIND
from sql.parsing.node_ranges import Places, first_offset
from sql.parsing.parse import parse
from sql.parsing.recursion import with_room
from sql.scopes.misplaced_functions import find_special, own_nodes

_KEEPS_LEFT_ROWS: Final = ("", "LEFT")
_AGGREGATING: Final = {"group": "GROUP BY", "having": "HAVING", "distinct": "DISTINCT", "pivots": "PIVOT"}


class RowKindError(Exception):
    """Why a query cannot pass row kinds on, as the end of "the query …"."""


@with_room
def with_row_kinds(query: PlacedText, carrying: Collection[str]) -> PlacedText:
    """The query with the kind of each row as one more column; the same text where it reads them all by `*`.

    `carrying` are the inputs whose rows have kinds. Raises `RowKindError` if the kind of an output row is not that
    of one input row.
    """
    parsed = parse(query.value)
    if parsed.tree is None:
        return query
    if "|>" in query.value:
        raise RowKindError("uses `|>`, through which row kinds do not travel")
    carrier = _Carrier(Places(query.value, parsed.tokens), frozenset(name.lower() for name in carrying))
    carrier.visit(parsed.tree)
    parts: list[str | PlacedText] = []
    position = 0
    for offset, text in sorted(carrier.added):
        parts += (query.slice(position, offset), text)
        position = offset
    return PlacedText.join([*parts, query.slice(position, len(query.value))]) if parts else query


@dataclass(slots=True)
class _Carrier:
    """One query while it is walked: `added` are texts to put in, by offset; `carrying` grows by the CTEs that do."""

    places: Places
    carrying: frozenset[str]
    added: list[tuple[int, str]] = field(default_factory=list)

    def visit(self, query: exp.Expr) -> bool:
        """Whether the query's rows have kinds, which are then among its columns."""
        if isinstance(query, exp.Subquery):
            return self.visit(query.this)
        if isinstance(query, exp.SetOperation):
            if self.reads_kinds(query):
                raise RowKindError("unites rows that have row kinds: name the inputs in one `plugin_input` instead")
            return False
        if not isinstance(query, exp.Select):
            return False
        self.visit_ctes(query)
        source = self.carrier_of(query)
        if source is None:
            return False
        self.refuse_aggregates(query)
        if not self.has_star(query, source):
            self.added.append((self.end_of_columns(query), f", {quote(source)}.{quote(ROW_KIND)} "))
        return True

    def visit_ctes(self, query: exp.Select) -> None:
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            carries = self.visit(cte.this)
            self.carrying = self.carrying | {cte.alias.lower()} if carries else self.carrying - {cte.alias.lower()}

    def carrier_of(self, query: exp.Select) -> str | None:
        """The name, within the query, of the relation of FROM whose rows have kinds."""
        from_ = query.args.get("from_")
        joins = [*(query.args.get("joins") or ()), *(from_.this.args.get("joins") or () if from_ else ())]
        items = [from_.this, *(join.this for join in joins)] if from_ else []
        found = [item for item in items if self.item_carries(item)]
        if len(found) > 1:
            raise RowKindError("joins two inputs whose rows have row kinds")
        if found and found[0] is not items[0]:
            raise RowKindError("has the input whose rows have row kinds on the right of a join: put it first")
        if found and any((join.args.get("side") or "").upper() not in _KEEPS_LEFT_ROWS for join in joins):
            raise RowKindError("yields rows of the other side of a join, which have no row kind: use LEFT or INNER")
        return found[0].alias_or_name if found else None

    def item_carries(self, item: exp.Expr) -> bool:
        match item:
            case exp.Table() if isinstance(item.this, exp.Identifier):
                return ".".join(part.name for part in item.parts).lower() in self.carrying
            case exp.Subquery() if isinstance(item.this, exp.Query):
                carries = self.visit(item.this)
                if carries and not item.alias:
                    raise RowKindError("reads rows with row kinds from a subquery without an alias: give it one")
                return carries
            case _:
                if self.reads_kinds(item):
                    raise RowKindError("reads rows with row kinds in a form of FROM through which they do not travel")
                return False

    def reads_kinds(self, node: exp.Expr) -> bool:
        return any(".".join(p.name for p in table.parts).lower() in self.carrying for table in node.find_all(exp.Table))

    def refuse_aggregates(self, query: exp.Select) -> None:
        for name, clause in _AGGREGATING.items():
            if query.args.get(name):
                raise RowKindError(f"has {clause} over rows with row kinds")
        if any(find_special(projection).aggregates for projection in query.expressions):
            raise RowKindError("aggregates rows with row kinds")

    def has_star(self, query: exp.Select, source: str) -> bool:
        """Whether a star of the query takes in the hidden column; a star inside a function would show it."""
        for projection in query.expressions:
            for star in own_nodes(projection):
                if isinstance(star, exp.Star) and star is not projection and not _is_qualified(star, projection):
                    raise RowKindError("has a `*` inside a function, which would show the hidden column: name columns")
        return any(_is_star_of(projection, source) for projection in query.expressions)

    def end_of_columns(self, query: exp.Select) -> int:
        """The offset of the FROM that ends the select list: the last one before the item's own name, next to it."""
        item = query.args["from_"].this
        alias = item.args.get("alias")
        anchor = first_offset(alias.this if alias is not None and alias.this else item)
        depth = 0
        tokens = self.places.tokens
        for index in range(0 if anchor is None else self.places.token_at(anchor), -1, -1):
            kind = tokens[index].token_type
            depth += (kind == TokenType.R_PAREN) - (kind == TokenType.L_PAREN)
            if depth == 0 and kind == TokenType.FROM and tokens[index - 1].token_type != TokenType.DISTINCT:
                return int(tokens[index].start)
        raise RowKindError("has a FROM whose place is not known")


def _is_qualified(star: exp.Star, item: exp.Expr) -> bool:
    return star.parent is item and isinstance(item, exp.Column)


def _is_star_of(item: exp.Expr, source: str) -> bool:
    if isinstance(item, exp.Star):
        return True
    return isinstance(item, exp.Column) and item.is_star and item.table.lower() == source.lower()
