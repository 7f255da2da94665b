"""Determines the type of an expression as Spark's analyzer does, and reports its errors.

`infer` walks a tree of sqlglot's once, by the handlers below; what an operator gives is in
`sql/types/operators.py`, what a function gives in `sql/functions/`; casts, literals and names have their own files.
A type that cannot be determined is unknown, which is not an error.
"""

from sqlglot import exp

from catalog.types.datatypes import BOOLEAN, DATE, STRING, TIMESTAMP, VOID, DataType
from sql.expressions.classify import (
    call_kind,
    generator_columns,
    is_aggregate,
    is_deterministic,
    is_generator,
    is_window_only,
    may_raise,
)
from sql.expressions.conversion_syntax import infer_cast, infer_collated, infer_extract, infer_text
from sql.expressions.function_calls import (
    infer_arrow,
    infer_filter,
    infer_function,
    infer_lambda,
    infer_window,
    infer_within_group,
)
from sql.expressions.operations import (
    infer_adjacent,
    infer_arithmetic,
    infer_bitwise,
    infer_concat,
    infer_inverted,
    infer_negated,
    infer_shift,
)
from sql.expressions.parts import infer_bracket, infer_dot
from sql.expressions.predicates import (
    infer_between,
    infer_case,
    infer_comparison,
    infer_exists,
    infer_in,
    infer_is,
    infer_like,
    infer_logical,
    infer_query,
    infer_tuple,
)
from sql.expressions.values import (
    infer_alias,
    infer_binary_literal,
    infer_clock,
    infer_column,
    infer_identifier,
    infer_interval,
    infer_literal,
    infer_paren,
    infer_star,
    literal_function,
    time_window,
)
from sql.expressions.walk import HANDLERS, infer
from sql.naming import output_name
from sql.types import coercion
from sql.types.expression_type import Typed

__all__ = [
    "call_kind", "generator_columns", "infer", "is_aggregate", "is_deterministic", "is_generator", "is_window_only",
    "literal_function", "may_raise", "output_name", "time_window", "widest",
]  # fmt: skip

HANDLERS.update(
    {
        exp.Column: infer_column,
        exp.Star: infer_star,
        exp.Identifier: infer_identifier,
        exp.Literal: infer_literal,
        exp.RawString: lambda node, scope: Typed(STRING, False, True, node.this),
        exp.HexString: infer_binary_literal,
        exp.Interval: infer_interval,
        exp.Null: lambda node, scope: Typed(VOID, True, True),
        exp.Boolean: lambda node, scope: Typed(BOOLEAN, False, True, node.this),
        exp.Paren: infer_paren,
        exp.Alias: infer_alias,
        exp.PropertyEQ: lambda node, scope: infer(node.expression, scope),
        exp.Add: infer_arithmetic("+"),
        exp.Sub: infer_arithmetic("-"),
        exp.Mul: infer_arithmetic("*"),
        exp.Div: infer_arithmetic("/"),
        exp.Mod: infer_arithmetic("%"),
        exp.IntDiv: infer_arithmetic("div"),
        exp.Neg: infer_negated,
        exp.BitwiseNot: infer_inverted,
        exp.EQ: infer_comparison("="),
        exp.NEQ: infer_comparison("!="),
        exp.LT: infer_comparison("<"),
        exp.LTE: infer_comparison("<="),
        exp.GT: infer_comparison(">"),
        exp.GTE: infer_comparison(">="),
        exp.NullSafeEQ: infer_comparison("<=>"),
        exp.NullSafeNEQ: infer_comparison("<=>"),
        exp.And: infer_logical("AND"),
        exp.Or: infer_logical("OR"),
        exp.Not: infer_logical("NOT"),
        exp.BitwiseAnd: infer_bitwise("&"),
        exp.BitwiseOr: infer_bitwise("|"),
        exp.BitwiseXor: infer_bitwise("^"),
        exp.BitwiseLeftShift: infer_shift("<<"),
        exp.BitwiseRightShift: infer_shift(">>"),
        exp.DPipe: infer_concat,
        exp.Concat: infer_adjacent,
        exp.Is: infer_is,
        exp.Like: infer_like,
        exp.ILike: infer_like,
        exp.RegexpLike: infer_like,
        exp.Escape: infer_like,
        exp.Between: infer_between,
        exp.In: infer_in,
        exp.Exists: infer_exists,
        exp.Subquery: infer_query,
        exp.Select: infer_query,
        exp.Union: infer_query,
        exp.Except: infer_query,
        exp.Intersect: infer_query,
        exp.Case: infer_case,
        exp.Cast: infer_cast,
        exp.TryCast: infer_cast,
        exp.Bracket: infer_bracket,
        exp.Dot: infer_dot,
        exp.Anonymous: infer_function,
        exp.Lambda: infer_lambda,
        exp.JSONExtract: infer_arrow,
        exp.Filter: infer_filter,
        exp.WithinGroup: infer_within_group,
        exp.Window: infer_window,
        exp.IgnoreNulls: infer_alias,
        exp.RespectNulls: infer_alias,
        exp.Ordered: infer_alias,
        exp.Tuple: infer_tuple,
        exp.Extract: infer_extract,
        exp.Trim: infer_text,
        exp.Substring: infer_text,
        exp.Overlay: infer_text,
        exp.Collate: infer_collated,
        exp.StrPosition: infer_text,
        exp.CurrentDate: infer_clock(DATE),
        exp.CurrentTimestamp: infer_clock(TIMESTAMP),
        exp.CurrentUser: infer_clock(STRING),
        exp.SessionUser: infer_clock(STRING),
    }
)


def widest(a: DataType, b: DataType) -> DataType | None:
    """The common type of two columns of a set operation; None if there is none."""
    return coercion.widest(a, b)
