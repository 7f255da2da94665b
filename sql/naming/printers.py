"""What prints each kind of node: one table, which the analysis hands to the walk (`sql.types.expression_type.Walk`)."""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sql.naming.called_names import pretty_call, pretty_lambda
from sql.naming.cast_names import pretty_cast
from sql.naming.column_names import pretty_alias, pretty_bracket, pretty_column, step
from sql.naming.condition_names import (
    pretty_between,
    pretty_case,
    pretty_in,
    pretty_is,
    pretty_like,
    pretty_not,
    pretty_subquery,
    pretty_tuple,
)
from sql.naming.dispatch import Printer, pretty, pretty_word
from sql.naming.function_names import LAMBDA_VARIABLE
from sql.naming.keyword_names import pretty_extract, pretty_overlay, pretty_substring, pretty_trim
from sql.naming.literal_text import pretty_binary_literal, pretty_interval, pretty_literal
from sql.naming.operator_names import pretty_binary, pretty_chain, pretty_negated, pretty_unequal
from sql.naming.window_names import (
    pretty_filter,
    pretty_ignoring_nulls,
    pretty_ordered,
    pretty_window,
    pretty_within_group,
)
from sql.parsing.call_names import call_name
from sql.types.expression_type import Scope


def _held(node: exp.Expr, scope: Scope) -> str:
    """What a field is taken from: of a time window, the column that Spark makes of it."""
    name = call_name(node).lower() if isinstance(node, exp.Anonymous) else ""
    return name if name in ("window", "session_window") else pretty(node, scope)


PRINTERS: Final[Mapping[type[exp.Expr], Printer]] = {
    exp.Column: pretty_column,
    exp.Literal: pretty_literal,
    exp.RawString: lambda node, scope: next(iter(scope.printed.texts(node)), str(node.this)),
    exp.Identifier: lambda node, scope: LAMBDA_VARIABLE,
    exp.Paren: lambda node, scope: pretty(node.this, scope),
    exp.Null: pretty_word("NULL"),
    exp.Boolean: lambda node, scope: "true" if node.this else "false",
    exp.HexString: pretty_binary_literal,
    exp.Interval: pretty_interval,
    exp.Add: pretty_binary("+"),
    exp.Sub: pretty_binary("-"),
    exp.Mul: pretty_binary("*"),
    exp.Div: pretty_binary("/"),
    exp.Mod: pretty_binary("%"),
    exp.IntDiv: pretty_binary("div"),
    exp.EQ: pretty_binary("="),
    exp.LT: pretty_binary("<"),
    exp.LTE: pretty_binary("<="),
    exp.GT: pretty_binary(">"),
    exp.GTE: pretty_binary(">="),
    exp.NullSafeEQ: pretty_binary("<=>"),
    exp.And: pretty_chain("AND"),
    exp.Or: pretty_chain("OR"),
    exp.NEQ: pretty_unequal("="),
    exp.NullSafeNEQ: pretty_unequal("<=>"),
    exp.BitwiseAnd: pretty_binary("&"),
    exp.BitwiseOr: pretty_binary("|"),
    exp.BitwiseXor: pretty_binary("^"),
    exp.BitwiseLeftShift: pretty_binary("<<"),
    exp.BitwiseRightShift: pretty_binary(">>"),
    exp.Not: pretty_not,
    exp.Neg: pretty_negated,
    exp.BitwiseNot: lambda node, scope: f"~{pretty(node.this, scope)}",
    exp.DPipe: lambda node, scope: f"concat({pretty(node.this, scope)}, {pretty(node.expression, scope)})",
    exp.Concat: lambda node, scope: "".join(expression.name for expression in node.expressions),
    exp.Is: pretty_is,
    exp.Like: pretty_like,
    exp.ILike: pretty_like,
    exp.RegexpLike: pretty_like,
    exp.Escape: pretty_like,
    exp.In: pretty_in,
    exp.Between: pretty_between,
    exp.Exists: pretty_subquery("exists"),
    exp.Subquery: pretty_subquery("scalarsubquery"),
    exp.Select: pretty_subquery("scalarsubquery"),
    exp.Case: pretty_case,
    exp.Cast: pretty_cast,
    exp.TryCast: pretty_cast,
    exp.Anonymous: pretty_call,
    exp.Lambda: pretty_lambda,
    exp.Alias: pretty_alias,
    exp.Kwarg: lambda node, scope: f"namedargumentexpression({pretty(node.expression, scope)})",
    exp.Bracket: pretty_bracket,
    exp.Dot: lambda node, scope: f"{_held(node.this, scope)}{step(node.expression, scope)}",
    exp.Star: pretty_word("1"),
    exp.Window: pretty_window,
    exp.Filter: pretty_filter,
    exp.IgnoreNulls: pretty_ignoring_nulls,
    exp.RespectNulls: lambda node, scope: pretty(node.this, scope),
    exp.WithinGroup: pretty_within_group,
    exp.Ordered: pretty_ordered,
    exp.Tuple: pretty_tuple,
    exp.Extract: pretty_extract,
    exp.Trim: pretty_trim,
    exp.Substring: pretty_substring,
    exp.Overlay: pretty_overlay,
    exp.StrPosition: lambda node, scope: f"locate({pretty(node.args['substr'], scope)}, {pretty(node.this, scope)}, 1)",
    exp.CurrentDate: pretty_word("current_date()"),
    exp.CurrentTimestamp: pretty_word("current_timestamp()"),
    exp.CurrentUser: pretty_word("current_user()"),
    exp.SessionUser: pretty_word("current_user()"),
    exp.Collate: lambda node, scope: f"collate({pretty(node.this, scope)}, {node.expression.name})",
}
