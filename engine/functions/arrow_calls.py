"""Calls a function of single values with Arrow columns, in Spark's Python workers, which get this module by value."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def by_columns(function: "Callable[..., Any]", type: str) -> "Callable[..., pa.Array]":
    """The function of columns whose values are those of `function`; `type` is `string` or `bigint`."""
    import pyarrow as pa

    wanted = pa.int64() if type == "bigint" else pa.string()

    def run(*columns: pa.Array) -> pa.Array:  # Spark reads the types: they tell what kind of function it is
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return pa.array([function(*row) for row in rows], wanted)

    return run
