"""Columns that have one value in all rows, as the query says: `select *, date '2024-02-01' as day from orders`."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EQUALITIES: Final = ("EqualTo", "EqualNullSafe")


def constant_columns(df: "DataFrame", names: Collection[str]) -> dict[str, str]:
    """The SQL of the value that each of these columns has in all rows; those whose values may differ are left out.

    They come from the constraints that Spark derives from constants and filters (`where day = date '2024-02-01'`). The
    optimized plan has folded constants; of rows that are known not to exist, only the analyzed one has them.
    """
    queries = df._jdf.queryExecution()
    wanted = {name.lower(): name for name in names}
    found: dict[str, str] = {}
    for plan in (queries.optimizedPlan(), queries.analyzed()):
        by_id = _output(plan)
        for attribute, value in _equalities(plan.constraints()):
            name = wanted.get(by_id.get(attribute, ""))
            if name is not None:
                found.setdefault(name, value)
    return {name: found[name] for name in names if name in found}


def _output(plan: Any) -> dict[int, str]:
    """The names of a plan's columns by the ids of their expressions."""
    output = plan.output()
    columns = (output.apply(index) for index in range(output.size()))
    return {int(column.exprId().id()): str(column.name()).lower() for column in columns}


def _equalities(constraints: Any) -> Iterator[tuple[int, str]]:
    items = constraints.iterator()
    while items.hasNext():
        condition = items.next()
        if condition.nodeName() not in _EQUALITIES:
            continue
        for column, value in ((condition.left(), condition.right()), (condition.right(), condition.left())):
            if column.nodeName() == "AttributeReference" and value.foldable():
                yield int(column.exprId().id()), str(value.sql())
