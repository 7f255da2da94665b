"""Clauses, operators and names of other dialects that sqlglot parses and Spark does not have."""

from collections.abc import Callable, Iterable
from typing import Final

from sqlglot import exp

from sql.parsing.call_names import call_name
from sql.parsing.pipe_syntax import PIPE
from sql.parsing.token_rewrites import is_unknown_test
from sql.scopes.analysis import Binder

_Check = Callable[[Binder, exp.Expr], None]


def check_nodes(binder: Binder, nodes: Iterable[exp.Expr]) -> None:
    """Reports what Spark's grammar does not have."""
    for node in nodes:
        check = _CHECKS.get(type(node))
        if check is not None:
            check(binder, node)


def _identifier(binder: Binder, node: exp.Expr) -> None:
    """A string cannot be a name: `as "x"` and `as 'x'` are syntax errors."""
    start = node.meta.get("start") if node.args.get("quoted") else None
    if start is not None and binder.text[start] in "'\"":
        help = f"use backticks: `{node.name}`"
        binder.report("PEN3001", node, "a name is expected here, this is a string", help)


def _select(binder: Binder, node: exp.Expr) -> None:
    _from_alone(binder, node)
    _refuse_clauses(binder, node)
    if node.args.get("locks"):
        lock = next((token for token in reversed(binder.tokens) if token.text.upper() == "FOR"), binder.tokens[-1])
        binder.report_at("PEN3017", (lock.start, lock.end + 1), "Spark has no FOR UPDATE")
    distinct = node.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        help = "use row_number() in a subquery"
        binder.report("PEN3017", distinct.args["on"], "Spark has no DISTINCT ON", help)
    limit = node.args.get("limit")
    if limit is not None and limit.expressions:
        binder.report("PEN3017", limit.expressions[0], "Spark has no LIMIT BY")
    offset = node.args.get("offset")
    if limit is not None and offset is not None and binder.places.is_before(offset, limit):
        binder.report("PEN3001", offset, "Spark has no `LIMIT offset, count`", "write `LIMIT count OFFSET offset`")


def _refuse_clauses(binder: Binder, node: exp.Expr) -> None:
    qualify = node.args.get("qualify")
    if qualify is not None:
        help = "compute the window function in a subquery and filter there"
        binder.report("PEN3017", qualify, "Spark has no QUALIFY", help)
    for key, clause in _OTHER_CLAUSES:
        part = node.args.get(key)
        if part:
            binder.report("PEN3017", part if isinstance(part, exp.Expr) else node, f"Spark has no {clause}")


_OTHER_CLAUSES: Final = (
    ("match", "MATCH_RECOGNIZE"), ("connect", "CONNECT BY"), ("prewhere", "PREWHERE"), ("into", "SELECT INTO"),
)  # fmt: skip


def _from_alone(binder: Binder, node: exp.Expr) -> None:
    """`FROM t WHERE …` without SELECT, for which sqlglot writes a star that has no place."""
    items = node.expressions
    if len(items) != 1 or not isinstance(items[0], exp.Star) or PIPE in node.meta:
        return
    start = items[0].meta.get("start")
    if start is not None and binder.text[start] == "*":
        return
    for key, clause in (("where", "WHERE"), ("group", "GROUP BY"), ("having", "HAVING")):
        if part := node.args.get(key):
            binder.report(
                "PEN3001", part, f"a query with {clause} needs SELECT", f"write `|> {clause} …`, or SELECT first"
            )


def _join(binder: Binder, node: exp.Expr) -> None:
    method = (node.args.get("method") or "").upper()
    if method not in ("", "NATURAL"):
        binder.report("PEN3017", node.this, f"Spark has no {method} JOIN")
    if method == "NATURAL" and node.args.get("on") is not None:
        binder.report("PEN3001", node.args["on"], "a NATURAL JOIN takes no condition")
    kind = (node.args.get("kind") or "").upper()
    if method == "NATURAL" and kind in ("SEMI", "ANTI", "CROSS"):
        binder.report("PEN3017", node.this, f"Spark has no NATURAL {kind} JOIN", "write the columns in USING (…)")
    if kind in ("OUTER", "STRAIGHT", "STRAIGHT_JOIN", "ARRAY"):
        side = node.args.get("side")
        if not side:
            binder.report("PEN3017", node.this, f"Spark has no {kind} JOIN without LEFT, RIGHT or FULL")


def _array(binder: Binder, node: exp.Expr) -> None:
    """With calls kept as they stand, only brackets make this node."""
    if not isinstance(node.parent, exp.Table):
        binder.report("PEN3001", node, "Spark has no array in brackets", "write `array(...)`")


def _quantified(binder: Binder, node: exp.Expr) -> None:
    if isinstance(node.this, (exp.Query, exp.Subquery)):
        word = type(node).__name__.upper()
        binder.report("PEN3001", node, f"Spark has no {word} over a subquery", "use IN or EXISTS")


def _star(binder: Binder, node: exp.Expr) -> None:
    holder = node.parent.parent if isinstance(node.parent, exp.Column) else node.parent
    if isinstance(holder, exp.Distinct):
        holder = holder.parent
    while isinstance(holder, exp.Paren):  # `(*)` is a star
        holder = holder.parent
    for key in ("replace", "rename"):
        if node.args.get(key):
            binder.report("PEN3001", node, f"Spark has no `* {key.upper()}`")
    compared = holder.this if isinstance(holder, exp.In) else None
    if isinstance(holder, exp.Alias):
        binder.report("PEN3017", holder, "`*` takes no alias")
    elif isinstance(holder, _NEVER_AROUND_STAR) or (compared is not None and node in (compared, compared.this)):
        binder.report("PEN3017", node, "`*` is not allowed here")
    elif isinstance(holder, exp.Anonymous) and _is_row(holder):
        binder.report("PEN3017", node, "`*` is not allowed in a row before IN and a subquery", "name the columns")
    elif isinstance(node.parent, exp.Distinct) and isinstance(holder, exp.Anonymous) and _is_outside_select(holder):
        binder.report("PEN3017", node, "`*` is not allowed in HAVING and ORDER BY", "name the columns")
    elif (
        isinstance(holder, exp.Anonymous)
        and call_name(holder).lower() == "count"
        and isinstance(node.parent, exp.Column)
    ):
        binder.report("PEN3017", node, "Spark allows no `count(t.*)`", "use count(*) or name the columns")


def _is_outside_select(node: exp.Expr) -> bool:
    """Whether it is in HAVING or ORDER BY of its query."""
    around = node.find_ancestor(exp.Having, exp.Order, exp.Select)
    return isinstance(around, (exp.Having, exp.Order))


def _is_row(call: exp.Anonymous) -> bool:
    """Whether it is the `struct(…)` before IN and a subquery."""
    around = call.parent
    is_before_query = isinstance(around, exp.In) and call.arg_key == "this" and around.args.get("query") is not None
    return is_before_query and call_name(call).lower() == "struct"


_NEVER_AROUND_STAR: Final = (
    *(exp.Where, exp.Having, exp.Ordered, exp.Binary, exp.Unary, exp.Join, exp.Between, exp.Cast, exp.Case, exp.If),
    *(exp.Bracket, exp.Limit, exp.Window, exp.Lambda),
)


def _is(binder: Binder, node: exp.Expr) -> None:
    right = node.args["expression"]
    if isinstance(node, exp.Is) and is_unknown_test(binder.text, node):
        return
    if not isinstance(right, (exp.Null, exp.Boolean, exp.Not, exp.JSON, exp.Distinct)):
        binder.report("PEN3001", right, "IS takes NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")


_ROUNDING: Final = 1e-4
"""By how many percent Spark lets a sample exceed the whole (`Sample`, `RoundingEpsilon`)."""


def _check_share(binder: Binder, node: exp.Expr) -> None:
    """How much is sampled: at most all of it, whole rows."""
    percent, size = node.args.get("percent"), node.args.get("size")
    if isinstance(percent, exp.Literal) and not 0 <= float(percent.name) <= 100 + _ROUNDING:
        binder.report("PEN3017", percent, "TABLESAMPLE takes 0 to 100 PERCENT")
    if isinstance(size, exp.Literal) and not size.name.isdigit():
        binder.report("PEN3017", size, "TABLESAMPLE takes a whole number of ROWS")
    first, all_ = node.args.get("bucket_numerator"), node.args.get("bucket_denominator")
    if isinstance(first, exp.Literal) and isinstance(all_, exp.Literal) and float(first.name) > float(all_.name):
        binder.report("PEN3017", first, f"there are only {all_.name} buckets")


def _sample(binder: Binder, node: exp.Expr) -> None:
    _check_share(binder, node)
    if isinstance(node.parent, exp.Select):  # where sqlglot leaves a sample that follows an alias
        binder.report("PEN3001", node, "TABLESAMPLE must be before the alias of the table")


def _parameter(binder: Binder, node: exp.Expr) -> None:
    if "${" not in binder.text:  # what is left of a variable that is not defined, and reported as such
        is_version = isinstance(node.parent, (exp.Table, exp.TableAlias, exp.Identifier))
        help = "read the version in the source, by its own options" if is_version else "use a `${variable}` of the job"
        binder.report("PEN3001", node, "a query here has no parameters", help)


def _fetch(binder: Binder, node: exp.Expr) -> None:
    binder.report("PEN3017", node, "Spark has no FETCH FIRST", "use LIMIT")


def _pivot(binder: Binder, node: exp.Expr) -> None:
    alias = node.args.get("alias")
    if alias is not None and not node.args.get("unpivot"):
        binder.report("PEN3001", alias, "PIVOT takes no alias", "put it in a subquery of that name")


def _pivot_alias(binder: Binder, node: exp.Expr) -> None:
    alias = node.args["alias"]
    if isinstance(alias, exp.Literal):
        binder.report("PEN3001", alias, "a name is expected here, this is a string", f"use backticks: `{alias.name}`")


_CHECKS: Final[dict[type[exp.Expr], _Check]] = {
    exp.Identifier: _identifier,
    exp.Select: _select,
    exp.Join: _join,
    exp.Array: _array,
    exp.Any: _quantified,
    exp.All: _quantified,
    exp.Star: _star,
    exp.Is: _is,
    exp.TableSample: _sample,
    exp.Placeholder: _parameter,
    exp.Parameter: _parameter,
    exp.SessionParameter: _parameter,
    exp.Fetch: _fetch,
    exp.Pivot: _pivot,
    exp.PivotAlias: _pivot_alias,
}
