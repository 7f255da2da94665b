"""What a user's query does with the rows of streams: row by row, with state from batch to batch, or not at all.

A micro-batch gives the same rows as the whole input where each row that comes out is made of one row of the stream, and
of tables that do not change. Groups, DISTINCT and joins of two streams need rows of other micro-batches: Spark keeps
those as state, and forgets what its watermarks say that no later row needs. What would be kept for ever is refused.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from sql.parsing.parse import parse
from sql.parsing.recursion import with_room
from sql.scopes.misplaced_functions import find_special
from sql.streams.event_times import (
    StreamRelation,
    event_time_of,
    grouped_expressions,
    output_event_times,
)
from sql.streams.stream_joins import check_stream_join, check_table_join

_NEEDS_ALL: Final = {
    "pivots": "PIVOT needs all rows of a group, and a stream has no end",
    "sort": "SORT BY orders the rows of one micro-batch only",
    "cluster": "CLUSTER BY orders the rows of one micro-batch only",
    "order": "ORDER BY needs all rows, and a stream has no end",
    "limit": "LIMIT counts the rows of one micro-batch only",
    "offset": "OFFSET counts the rows of one micro-batch only",
    "qualify": "QUALIFY compares each row with others, which may come in another micro-batch",
}
_WINDOW: Final = "a window function compares rows, which may come in different micro-batches"


SAMPLED: Final = "TABLESAMPLE is not allowed below groups, DISTINCT and joins of streams: Spark samples no stream"


class StreamQueryError(Exception):
    """Why a query cannot run over a stream, as a sentence."""


@dataclass(frozen=True, slots=True)
class StreamRows:
    """The rows of a stream, by the names of their event times in lower case. `keeps_state`: the query needs rows of
    other micro-batches. `samples`: they are a sample, which is drawn anew in each micro-batch."""

    event_times: frozenset[str] = frozenset()
    keeps_state: bool = False
    samples: bool = False


@with_room
def stream_rows(query: str, streams: Mapping[str, Collection[str]]) -> StreamRows | None:
    """What the query yields, over streams with their event times; None where it reads none of them.

    Raises `StreamQueryError` where Spark cannot compute the query over a stream, or would keep all of its rows.
    """
    tree = parse(query).tree
    if tree is None:
        return StreamRows()
    if "|>" in query:
        raise StreamQueryError("`|>` cannot be checked over a stream: write the query with SELECT")
    known = {
        name.lower(): StreamRows(frozenset(column.lower() for column in columns)) for name, columns in streams.items()
    }
    walk = _Walk(known)
    found = walk.visit(tree)
    samples = tree.find(exp.TableSample) is not None
    if samples and walk.keeps_state:
        raise StreamQueryError(SAMPLED)
    return None if found is None else StreamRows(found.event_times, walk.keeps_state, samples)


@dataclass(slots=True)
class _Walk:
    """One query while it is walked; `streams` grows by the CTEs that yield rows of a stream."""

    streams: dict[str, StreamRows]
    keeps_state: bool = False

    def visit(self, query: exp.Expr) -> StreamRows | None:
        if isinstance(query, exp.Subquery):
            return self.visit(query.this)
        if isinstance(query, exp.SetOperation):
            return self.visit_set_operation(query)
        if not isinstance(query, exp.Select):
            return None
        self.visit_ctes(query)
        relations = list(self.relations(query))
        streaming = {id(item): found for item, _ in relations if (found := self.stream_of(item)) is not None}
        self.refuse_elsewhere(query)
        if not streaming:
            return None
        self.visit_joins(query, relations, streaming)
        for name, reason in _NEEDS_ALL.items():
            if query.args.get(name):
                raise StreamQueryError(reason)
        return self.rows_of(query, [relation for relation in streaming.values() if relation])

    def visit_ctes(self, query: exp.Expr) -> None:
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            rows, name = self.visit(cte.this), cte.alias.lower()
            if rows is not None:
                self.streams[name] = rows
            else:
                self.streams.pop(name, None)

    def visit_set_operation(self, query: exp.SetOperation) -> StreamRows | None:
        self.visit_ctes(query)
        left, right = self.visit(query.left), self.visit(query.right)
        if left is None and right is None:
            return None
        if not isinstance(query, exp.Union) or query.args.get("distinct"):
            raise StreamQueryError(f"{query.key.upper()} compares each row with all others: UNION ALL does not")
        for name in ("order", "limit", "offset"):
            if query.args.get(name):
                raise StreamQueryError(_NEEDS_ALL[name])
        if left is None or right is None:
            raise StreamQueryError("UNION ALL of a stream and a table would add the table's rows in every micro-batch")
        return StreamRows(left.event_times & right.event_times)

    def relations(self, query: exp.Select) -> Iterator[tuple[exp.Expr, exp.Join | None]]:
        """What FROM reads, each with the join that adds it."""
        from_ = query.args.get("from_")
        if from_ is None:
            return
        yield from_.this, None
        for join in (*(query.args.get("joins") or ()), *(from_.this.args.get("joins") or ())):
            yield join.this, join

    def stream_of(self, item: exp.Expr) -> StreamRelation | None:
        """The stream that an item of FROM is; None for a table."""
        rows: StreamRows | None = None
        match item:
            case exp.Table() if isinstance(item.this, exp.Identifier):
                rows = self.streams.get(".".join(part.name for part in item.parts).lower())
            case exp.Subquery() if isinstance(item.this, exp.Query):
                rows = self.visit(item.this)
            case _ if self.reads_stream(item):
                raise StreamQueryError("the stream is read in a form of FROM that cannot be checked")
        if rows is None:
            return None
        return StreamRelation(item.alias_or_name.lower(), rows.event_times)

    def reads_stream(self, node: exp.Expr) -> bool:
        tables = node.find_all(exp.Table)
        return any(".".join(part.name for part in table.parts).lower() in self.streams for table in tables)

    def visit_joins(
        self,
        query: exp.Select,
        relations: list[tuple[exp.Expr, exp.Join | None]],
        streaming: Mapping[int, StreamRelation],
    ) -> None:
        """Check the joins of streams with tables, and of two streams."""
        if len(streaming) > 2:
            raise StreamQueryError("it joins more than two streams: join two, and the next in a query that reads these")
        before: StreamRelation | None = None
        for item, join in relations:
            stream = streaming.get(id(item))
            if join is not None and stream is not None and before is not None:
                problem = check_stream_join(join, query.args.get("where"), before, stream)
                self.keeps_state = True
            else:
                problem = check_table_join(join, is_stream=stream is not None, follows_stream=before is not None)
            if problem is not None:
                raise StreamQueryError(problem)
            before = stream or before

    def rows_of(self, query: exp.Select, relations: list[StreamRelation]) -> StreamRows:
        """The rows of a SELECT: grouped, distinct, or one for each that it reads."""
        group, items = query.args.get("group"), query.expressions
        special = [find_special(item) for item in (*items, *(filter(None, [query.args.get("having")])))]
        if any(found.windows for found in special):
            raise StreamQueryError(f"{_WINDOW}; for one row of each key, there is the transform `Deduplicate`")
        aggregates = [node for found in special for node in found.aggregates]
        if group is not None or aggregates or query.args.get("having"):
            self.check_groups(group, items, relations, aggregates)
            keys = {name for name in output_event_times(items, relations) if name}
            return self.as_state(frozenset(keys))
        output = frozenset(name for name in output_event_times(items, relations) if name)
        if query.args.get("distinct"):
            if not output:
                raise StreamQueryError(
                    "DISTINCT compares each row with all rows before it: it needs a column with a `watermark` among "
                    "its columns, which says how long rows are kept"
                )
            return self.as_state(output)
        return StreamRows(output)

    def as_state(self, event_times: frozenset[str]) -> StreamRows:
        self.keeps_state = True
        return StreamRows(event_times)

    def check_groups(
        self,
        group: exp.Group | None,
        items: list[exp.Expr],
        relations: list[StreamRelation],
        aggregates: list[exp.Expr],
    ) -> None:
        if _grouping_sets(group):
            raise StreamQueryError("ROLLUP, CUBE and GROUPING SETS have groups over all rows, and a stream has no end")
        if group is None or not (group.expressions or group.args.get("all")):
            raise StreamQueryError("an aggregate needs all rows, and a stream has no end: group them by a window")
        for aggregate in aggregates:
            if aggregate.find(exp.Distinct):
                raise StreamQueryError(
                    "Spark counts no distinct values over a stream: `approx_count_distinct`, or group by them first"
                )
        if any(event_time_of(key, relations) for key in grouped_expressions(group, items)):
            return
        known = sorted({name for relation in relations for name in relation.event_times})
        if known:
            keys = " or ".join(f"`{name}`, `window({name}, '1 hour')`" for name in known)
            raise StreamQueryError(
                f"GROUP BY needs all rows of a group, and a stream has no end: group by {keys}, whose watermark says "
                "when a group is complete"
            )
        raise StreamQueryError(
            "GROUP BY needs all rows of a group, and a stream has no end: group by a column with a `watermark`, or a "
            "window of it"
        )

    def refuse_elsewhere(self, query: exp.Select) -> None:
        """Streams that are read in subqueries of expressions."""
        clauses = [*query.expressions, *(query.args[name] for name in ("where", "having") if query.args.get(name))]
        for clause in clauses:
            if any(self.reads_stream(inner) for inner in clause.find_all(exp.Query)):
                raise StreamQueryError("a subquery over the stream needs all rows, and a stream has no end")


def _grouping_sets(group: exp.Group | None) -> bool:
    kinds = (exp.Rollup, exp.Cube, exp.GroupingSets)
    return group is not None and any(isinstance(node, kinds) for node in group.walk())
