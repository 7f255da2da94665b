"""Joins that read a stream: with a table, or with another stream."""

from typing import Final

from sqlglot import exp

from sql.streams.event_times import StreamRelation
from sql.streams.time_bounds import conjuncts, has_equality, is_bounded

_KEEPING_LEFT: Final = ("", "LEFT", "SEMI", "ANTI")


def check_table_join(join: exp.Join | None, *, is_stream: bool, follows_stream: bool) -> str | None:
    """Why a micro-batch of the stream would give other rows of a join with a table than the whole stream; None if it
    gives the same. `is_stream`: the right side of the join is the stream; `follows_stream`: the left side is."""
    side = side_of(join)
    if join is None or not (is_stream or follows_stream):
        return "FULL JOIN yields rows of the table that no row of the stream ever matched" if side == "FULL" else None
    if side == "FULL":
        return "FULL JOIN yields rows of the table that no row of the stream ever matched"
    if is_stream and side in ("LEFT", "SEMI", "ANTI"):
        return f"{side} JOIN has the stream on its right: only all rows tell what matches"
    if follows_stream and side not in _KEEPING_LEFT:
        return f"{side} JOIN yields rows of the table that no row of the stream ever matched"
    return None


def check_stream_join(
    join: exp.Join, where: exp.Expr | None, left: StreamRelation, right: StreamRelation
) -> str | None:
    """Why two streams cannot be joined so; None if they can."""
    side = side_of(join)
    if side == "ANTI":
        return "ANTI JOIN of two streams: Spark has none; `left join … where … is null` yields the same rows"
    conditions = list(conjuncts(join.args.get("on")))
    if side == "" and where is not None:
        conditions += conjuncts(where.this)
    using = [name.name.lower() for name in join.args.get("using") or ()]
    if join.args.get("method"):
        return "NATURAL JOIN of two streams cannot be checked: write its condition with ON"
    if not has_equality(conditions, using):
        return "a join of two streams needs an equality, such as `a.id = b.id`, by which Spark finds their rows"
    if not left.event_times or not right.event_times:
        named = right.name if left.event_times else left.name
        return f"a join of two streams would have to keep all rows of both: `{named}` has no column with a `watermark`"
    if not is_bounded(conditions, using, left, right):
        one, other = (f"{stream.name}.{min(stream.event_times)}" for stream in (left, right))
        return (
            f"a join of two streams would have to keep all rows of both: bound their times, such as `{other} between "
            f"{one} - interval 1 hour and {one} + interval 1 hour`"
        )
    return None


def side_of(join: exp.Join | None) -> str:
    """`LEFT`, `RIGHT`, `FULL`, `SEMI`, `ANTI`, or blank."""
    if join is None:
        return ""
    kind = str(join.args.get("kind") or "").upper()
    return kind if kind in ("SEMI", "ANTI") else str(join.args.get("side") or "").upper()
