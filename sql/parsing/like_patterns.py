"""The patterns of `x LIKE ANY (…)` and `x LIKE ALL (…)`."""

from typing import Final

from sqlglot import exp

from sql.parsing.call_names import call_name

_CONSTANT: Final = (
    exp.Literal, exp.Null, exp.Boolean, exp.HexString, exp.Interval, exp.IntervalSpan, exp.Var, exp.Cast, exp.DataType,
    exp.Unary, exp.Binary, exp.In, exp.Case, exp.If, exp.Concat, exp.Trim, exp.Overlay, exp.Substring,
    exp.StrPosition, exp.Tuple, exp.Collate,
)  # fmt: skip

_OF_OTHER_TYPES: Final = (
    exp.Null, exp.Boolean, exp.HexString, exp.Interval, exp.Unary, exp.Binary, exp.StrPosition, exp.Tuple,
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
    return all(map(_is_text, patterns(node))) and are_foldable_patterns(node)


def are_foldable_patterns(node: exp.Any | exp.All) -> bool:
    """Whether Spark's parser sees only constants: it then asks each for its type."""
    return all(map(_is_constant, patterns(node)))


def _is_constant(pattern: exp.Expr) -> bool:
    return all(isinstance(part, _CONSTANT) or _is_struct(part) for part in pattern.walk())


def _is_struct(node: exp.Expr) -> bool:
    """`struct(1, 2)`, which Spark's grammar has a rule for."""
    return isinstance(node, exp.Anonymous) and call_name(node).lower() == "struct"


def _is_text(node: exp.Expr) -> bool:
    match node:
        case exp.Literal():
            return bool(node.is_string)
        case exp.Paren() | exp.Trim() | exp.Overlay() | exp.Substring() | exp.Collate():
            return _is_text(node.this)
        case exp.Cast():
            return bool(node.to.is_type("text"))
        case exp.Case():
            results = [branch.args["true"] for branch in node.args["ifs"]]
            return all(map(_is_text, [*results, *filter(None, [node.args.get("default")])]))
        case exp.DPipe():
            return _is_text(node.this) and _is_text(node.expression)
        case _:
            return not isinstance(node, _OF_OTHER_TYPES)
