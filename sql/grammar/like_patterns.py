"""The patterns of `x LIKE ANY (…)` and `x LIKE ALL (…)`."""

from typing import Final

from sqlglot import exp

_CONSTANT: Final = (
    exp.Literal, exp.Null, exp.Boolean, exp.HexString, exp.Interval, exp.IntervalSpan, exp.Var, exp.Cast, exp.DataType,
    exp.Unary, exp.Binary, exp.In, exp.Case, exp.If, exp.Concat, exp.Trim, exp.Overlay, exp.Substring,
)  # fmt: skip


def patterns(node: exp.Any | exp.All) -> list[exp.Expr]:
    """The listed patterns."""
    inner = node.this
    if isinstance(inner, exp.Tuple):
        return list(inner.expressions)
    return [inner.this if isinstance(inner, exp.Paren) else inner]


def are_constant_patterns(node: exp.Any | exp.All) -> bool:
    """Whether Spark's parser sees only constant strings (no column, no call, no NULL without a type): it then keeps
    one expression that may be null, and else writes the test out as LIKEs between OR or AND."""
    return all(_is_text(pattern) for pattern in patterns(node)) and all(map(_is_constant, patterns(node)))


def mixed_pattern(node: exp.Any | exp.All) -> exp.DPipe | None:
    """The `||` of a string and something else among constant patterns: Spark's parser asks for its type, which it has
    only once its sides are cast."""
    if not all(map(_is_constant, patterns(node))):
        return None
    joined = (part for pattern in patterns(node) for part in pattern.find_all(exp.DPipe))
    return next((each for each in joined if _is_text(each.this) != _is_text(each.expression)), None)


def _is_constant(pattern: exp.Expr) -> bool:
    return all(isinstance(part, _CONSTANT) for part in pattern.walk())


def _is_text(node: exp.Expr) -> bool:
    match node:
        case exp.Literal():
            return bool(node.is_string)
        case exp.Paren():
            return _is_text(node.this)
        case exp.Cast():
            return bool(node.to.is_type("text"))
        case exp.Case():
            results = [branch.args["true"] for branch in node.args["ifs"]]
            return all(map(_is_text, [*results, *filter(None, [node.args.get("default")])]))
        case exp.DPipe():
            return _is_text(node.this) and _is_text(node.expression)
        case _:
            return not isinstance(node, (exp.Null, exp.Boolean, exp.HexString, exp.Interval, exp.Unary, exp.Binary))
