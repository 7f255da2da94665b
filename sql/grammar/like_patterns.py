"""The patterns of `x LIKE ANY (…)` and `x LIKE ALL (…)`."""

from typing import Final

from sqlglot import exp

_CONSTANT: Final = (
    exp.Literal, exp.Null, exp.Boolean, exp.Cast, exp.DataType, exp.Paren, exp.DPipe, exp.Case, exp.If, exp.Concat,
    exp.Trim, exp.Overlay, exp.Substring,
)  # fmt: skip


def patterns(node: exp.Any | exp.All) -> list[exp.Expr]:
    """The listed patterns."""
    inner = node.this
    if isinstance(inner, exp.Tuple):
        return list(inner.expressions)
    return [inner.this if isinstance(inner, exp.Paren) else inner]


def are_constant_patterns(node: exp.Any | exp.All) -> bool:
    """Whether Spark's parser sees only constants (no column, no call): it then keeps one expression that may be null,
    and else writes the test out as LIKEs between OR or AND."""
    return all(isinstance(part, _CONSTANT) for pattern in patterns(node) for part in pattern.walk())
