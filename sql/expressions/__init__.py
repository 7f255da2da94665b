"""Determines the type of an expression as Spark's analyzer does, and reports its errors.

`infer` walks a tree of sqlglot's once, by the table in `handlers.py`; what an operator gives is in
`sql/types/operators.py`, what a function gives in `sql/functions/`; casts, literals and names have their own files.
A type that cannot be determined is unknown, which is not an error.
"""

from catalog.types.datatypes import DataType
from sql.expressions.classify import (
    call_kind,
    generator_columns,
    is_aggregate,
    is_deterministic,
    is_generator,
    is_window_only,
    may_raise,
)
from sql.expressions.values import literal_function, time_window
from sql.expressions.walk import infer
from sql.naming import output_name
from sql.types import coercion

__all__ = [
    "call_kind", "generator_columns", "infer", "is_aggregate", "is_deterministic", "is_generator", "is_window_only",
    "literal_function", "may_raise", "output_name", "time_window", "widest",
]  # fmt: skip


def widest(a: DataType, b: DataType) -> DataType | None:
    """The common type of two columns of a set operation; None if there is none."""
    return coercion.widest(a, b)
