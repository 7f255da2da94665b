"""Conditions, CASE, tuples and subqueries."""

import re
from functools import reduce
from typing import Final

from sqlglot import exp

from sql.naming.dispatch import Printer, pretty, pretty_all
from sql.naming.field_names import own_name
from sql.naming.row_names import pretty_row
from sql.parsing.like_patterns import are_constant_patterns, patterns
from sql.parsing.token_rewrites import is_unknown_test
from sql.types.expression_type import Scope


def pretty_is(node: exp.Is, scope: Scope, negated: str = "") -> str:
    inner = pretty(node.this, scope)
    if isinstance(node.expression, exp.Boolean):
        test = f"({inner} <=> {pretty(node.expression, scope)})"
        return f"(NOT {test})" if negated else test
    is_unknown = is_unknown_test(scope.text, node) and _is_of_truth_values(node.this)
    return f"({inner} IS {negated}{'UNKNOWN' if is_unknown else 'NULL'})"


def _is_of_truth_values(node: exp.Expr) -> bool:
    """Of TRUE and FALSE alone; else Spark forgets that UNKNOWN was written."""
    return all(isinstance(inner, (exp.Boolean, exp.And, exp.Or, exp.Not, exp.Paren)) for inner in node.walk())


def pretty_not(node: exp.Not, scope: Scope) -> str:
    inner = node.this
    if isinstance(inner, exp.Is) and not _is_before(node, scope):
        return pretty_is(inner, scope, "NOT ")
    if isinstance(inner, (exp.Like, exp.ILike)) and isinstance(inner.expression, (exp.Any, exp.All)):
        left = pretty(inner.this, scope)
        return _quantified_like(inner, inner.expression, left, scope, negated=True)
    return f"(NOT {pretty(inner, scope)})"


_WITHOUT_NOT: Final = re.compile(
    r"[^\w'\"`]*(?:(?:(?:end|null|true|false|div)\b|as\s[\w<>,\s]+(?:\([\d,\s]*\))?\s*\))[^\w'\"`]*)*is\s+(?!not\b)",
    re.IGNORECASE,
)
"""What may be between the last token with a known location and IS: brackets, and words without a location."""


def _is_before(node: exp.Not, scope: Scope) -> bool:
    """Whether it is `NOT a IS NULL`, which sqlglot reads as `a IS NOT NULL`."""
    ends = [inner.meta["end"] for inner in node.this.this.walk() if "end" in inner.meta]
    return bool(ends) and _WITHOUT_NOT.match(scope.text, max(ends) + 1) is not None


def pretty_like(node: exp.Expr, scope: Scope) -> str:
    escape = ""
    if isinstance(node, exp.Escape):
        escape, node = f" ESCAPE '{node.expression.name}'", node.this
    pattern = node.expression
    left = pretty(node.this, scope)
    if isinstance(pattern, (exp.Any, exp.All)):
        return _quantified_like(node, pattern, left, scope)
    elif isinstance(node, exp.RegexpLike):
        text = f"RLIKE({left}, {pretty(pattern, scope)})"
    elif isinstance(node, exp.ILike):
        text = f"ilike({left}, {pretty(pattern, scope)})"
    else:
        text = f"{left} LIKE {pretty(pattern, scope)}{escape}"
    return f"(NOT {text})" if node.args.get("negate") else text


def _quantified_like(
    node: exp.Expr, pattern: exp.Any | exp.All, left: str, scope: Scope, *, negated: bool = False
) -> str:
    ilike = isinstance(node, exp.ILike)
    negated = negated or bool(node.args.get("negate"))
    if are_constant_patterns(pattern):
        name = f"{'not' if negated else ''}like{'any' if isinstance(pattern, exp.Any) else 'all'}"
        return f"{name}({f'lower({left})' if ilike else left})"
    word = "OR" if isinstance(pattern, exp.Any) else "AND"
    shown = [pretty(like, scope) for like in patterns(pattern)]
    tests = [f"ilike({left}, {like})" if ilike else f"{left} LIKE {like}" for like in shown]
    if negated:
        tests = [f"(NOT {test})" for test in tests]
    return reduce(lambda a, b: f"({a} {word} {b})", tests)


def pretty_in(node: exp.In, scope: Scope) -> str:
    query = node.args.get("query")
    if query is not None:
        return f"({pretty_row(node, scope)} IN (listquery({', '.join(scope.outer_names(query))})))"
    listed = [text for item in node.expressions for text in scope.printed.texts(item) or (pretty(item, scope),)]
    return f"({pretty(node.this, scope)} IN ({', '.join(listed)}))"


def pretty_between(node: exp.Between, scope: Scope) -> str:
    return f"between({', '.join(pretty_all([node.this, node.args['low'], node.args['high']], scope))})"


def pretty_case(node: exp.Case, scope: Scope) -> str:
    subject = pretty(node.this, scope) if node.this is not None else None
    text = "CASE"
    for branch in node.args["ifs"]:
        condition = pretty(branch.this, scope)
        text += f" WHEN {condition if subject is None else f'({subject} = {condition})'}"
        text += f" THEN {pretty(branch.args['true'], scope)}"
    default = node.args.get("default")
    return text + (f" ELSE {pretty(default, scope)}" if default is not None else "") + " END"


def pretty_tuple(node: exp.Tuple, scope: Scope) -> str:
    parts: list[str] = []
    for index, expression in enumerate(node.expressions, 1):
        parts += [expression.alias or own_name(expression, scope) or f"col{index}", pretty(expression, scope)]
    return f"named_struct({', '.join(parts)})"


def pretty_subquery(name: str) -> Printer:
    """A subquery shows the columns of the query around it that it uses."""

    def printer(node: exp.Expr, scope: Scope) -> str:
        if isinstance(node, exp.Exists) and not isinstance(node.this, exp.Query):
            return f"{name}()"
        query = node.this if isinstance(node, exp.Exists) else node
        return f"{name}({', '.join(scope.outer_names(query))})"

    return printer
