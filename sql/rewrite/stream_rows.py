"""What a user's query does with the rows of a stream: whether it can be computed batch by batch.

A micro-batch gives the same rows as the whole input only where each row that comes out is made of one row of the
stream, and of tables that do not change. The rest needs all rows, or state that lasts from batch to batch.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from sql.grammar.parse import parse
from sql.grammar.recursion import with_room
from sql.scopes.misplaced_functions import find_special

_NEEDS_ALL: Final = {
    "distinct": "DISTINCT compares each row with all rows before it",
    "group": "GROUP BY needs all rows of a group, and a stream has no end",
    "having": "HAVING needs all rows of a group, and a stream has no end",
    "pivots": "PIVOT needs all rows of a group, and a stream has no end",
    "sort": "SORT BY orders the rows of one micro-batch only",
    "cluster": "CLUSTER BY orders the rows of one micro-batch only",
    "order": "ORDER BY needs all rows, and a stream has no end",
    "limit": "LIMIT counts the rows of one micro-batch only",
    "offset": "OFFSET counts the rows of one micro-batch only",
    "qualify": "QUALIFY compares each row with others, which may come in another micro-batch",
}
_KEEPING_LEFT: Final = ("", "LEFT", "SEMI", "ANTI", "CROSS", "INNER")


class StreamQueryError(Exception):
    """Why a query cannot be computed batch by batch, as a sentence."""


@with_room
def check_stream_rows(query: str, streams: Collection[str]) -> None:
    """Raise `StreamQueryError` where a row that the query yields is not made of one row of one of the streams."""
    tree = parse(query).tree
    if tree is None:
        return
    if "|>" in query:
        raise StreamQueryError("`|>` cannot be checked over a stream: write the query with SELECT")
    names = frozenset(name.lower() for name in streams)
    checker = _Checker(names)
    checker.visit(tree)


@dataclass(slots=True)
class _Checker:
    """One query while it is walked; `streams` grows by the CTEs that yield rows of a stream."""

    streams: frozenset[str]

    def visit(self, query: exp.Expr) -> bool:
        """Whether the query's rows are a stream's."""
        if isinstance(query, exp.Subquery):
            return self.visit(query.this)
        if isinstance(query, exp.SetOperation):
            return self.visit_set_operation(query)
        if not isinstance(query, exp.Select):
            return False
        self.visit_ctes(query)
        relations = list(self.relations(query))
        streaming = [relation for relation in relations if self.is_stream(relation[0])]
        if not streaming:
            self.refuse_elsewhere(query, ())
            return False
        self.refuse_joins(relations, streaming)
        for name, reason in _NEEDS_ALL.items():
            if query.args.get(name):
                raise StreamQueryError(reason)
        for item in query.expressions:
            special = find_special(item)
            if special.aggregates:
                raise StreamQueryError("an aggregate needs all rows, and a stream has no end")
            if special.windows:
                raise StreamQueryError("a window function compares rows, which may come in different micro-batches")
        self.refuse_elsewhere(query, [item for item, _ in relations])
        return True

    def visit_ctes(self, query: exp.Expr) -> None:
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            is_stream = self.visit(cte.this)
            name = cte.alias.lower()
            self.streams = self.streams | {name} if is_stream else self.streams - {name}

    def visit_set_operation(self, query: exp.SetOperation) -> bool:
        self.visit_ctes(query)
        sides = [self.visit(query.left), self.visit(query.right)]
        if not any(sides):
            return False
        if not isinstance(query, exp.Union) or query.args.get("distinct"):
            raise StreamQueryError(f"{query.key.upper()} compares each row with all others: UNION ALL does not")
        for name in ("order", "limit", "offset"):
            if query.args.get(name):
                raise StreamQueryError(_NEEDS_ALL[name])
        if not all(sides):
            raise StreamQueryError("UNION ALL of a stream and a table would add the table's rows in every micro-batch")
        return True

    def relations(self, query: exp.Select) -> Iterator[tuple[exp.Expr, exp.Join | None]]:
        """What FROM reads, each with the join that adds it."""
        from_ = query.args.get("from_")
        if from_ is None:
            return
        yield from_.this, None
        for join in (*(query.args.get("joins") or ()), *(from_.this.args.get("joins") or ())):
            yield join.this, join

    def is_stream(self, item: exp.Expr) -> bool:
        match item:
            case exp.Table() if isinstance(item.this, exp.Identifier):
                return ".".join(part.name for part in item.parts).lower() in self.streams
            case exp.Subquery() if isinstance(item.this, exp.Query):
                return self.visit(item.this)
        if self.reads_stream(item):
            raise StreamQueryError("the stream is read in a form of FROM that cannot be checked")
        return False

    def reads_stream(self, node: exp.Expr) -> bool:
        tables = node.find_all(exp.Table)
        return any(".".join(part.name for part in table.parts).lower() in self.streams for table in tables)

    def refuse_joins(
        self,
        relations: list[tuple[exp.Expr, exp.Join | None]],
        streaming: list[tuple[exp.Expr, exp.Join | None]],
    ) -> None:
        if len(streaming) > 1:
            raise StreamQueryError("a join of two streams would have to keep all rows of both")
        stream = streaming[0][0]
        seen = False
        for item, join in relations:
            side = _side(join)
            if side == "FULL":
                raise StreamQueryError("FULL JOIN yields rows of the table that no row of the stream ever matched")
            if item is stream:
                seen = True
                if side in ("LEFT", "SEMI", "ANTI"):
                    raise StreamQueryError(f"{side} JOIN has the stream on its right: only all rows tell what matches")
            elif seen and side not in _KEEPING_LEFT:
                raise StreamQueryError(f"{side} JOIN yields rows of the table that no row of the stream ever matched")

    def refuse_elsewhere(self, query: exp.Select, relations: Collection[exp.Expr]) -> None:
        """Streams that are read in subqueries of expressions."""
        clauses = [*query.expressions, *(query.args[name] for name in ("where", "having") if query.args.get(name))]
        for clause in clauses:
            if any(self.reads_stream(inner) for inner in clause.find_all(exp.Query)):
                raise StreamQueryError("a subquery over the stream needs all rows, and a stream has no end")


def _side(join: exp.Join | None) -> str:
    """`LEFT`, `RIGHT`, `FULL`, `SEMI`, `ANTI`, or blank."""
    if join is None:
        return ""
    kind = str(join.args.get("kind") or "").upper()
    return kind if kind in ("SEMI", "ANTI") else str(join.args.get("side") or "").upper()
