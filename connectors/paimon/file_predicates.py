"""The filters of a scan by which pypaimon skips partitions, buckets and files.

They are not taken from what Spark pushes down: Spark keeps what it has pushed to a Python data source with the
DataFrame, so that another use of the same DataFrame would read only the files of the first.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from catalog.tables.table import CatalogTable
from catalog.types.datatypes import BIGINT, INT, STRING, DataType

Predicate: TypeAlias = tuple[str, str, tuple[Any, ...]]
"""The method of pypaimon's builder of predicates, its column and its other arguments."""

_METHODS: Final = {
    "=": "equal",
    ">": "greater_than",
    ">=": "greater_or_equal",
    "<": "less_than",
    "<=": "less_or_equal",
}
_COMPARISON: Final = re.compile(r"`?(?P<column>\w+)`? (?P<operator>=|>=?|<=?) (?P<literal>\S.*)")
_IN: Final = re.compile(r"`?(?P<column>\w+)`? IN \((?P<literals>[^()]+)\)")
_LITERALS: Final[Mapping[DataType, tuple[re.Pattern[str], Callable[[str], Any]]]] = {
    INT: (re.compile(r"-?[0-9]{1,9}"), int),
    BIGINT: (re.compile(r"-?[0-9]{1,18}"), int),
    STRING: (re.compile(r"'[^'\\]*'"), lambda text: text[1:-1]),
}
"""Literals that mean the same to Spark and to pypaimon, by the type of the column."""


def file_predicates(filters: Iterable[str], table: CatalogTable) -> Iterator[Predicate]:
    """The filters (Spark SQL) that compare an INT, BIGINT or STRING of the table with literals."""
    for text in filters:
        if (found := _IN.fullmatch(text)) is not None:
            texts, method = found["literals"].split(", "), "is_in"
        elif (found := _COMPARISON.fullmatch(text)) is not None:
            texts, method = [found["literal"]], _METHODS[found["operator"]]
        else:
            continue
        column = table.column(found["column"])
        if column is None or column.type not in _LITERALS:
            continue
        pattern, value_of = _LITERALS[column.type]
        if all(map(pattern.fullmatch, texts)):
            values = [value_of(literal) for literal in texts]
            yield method, column.name, (values,) if method == "is_in" else (values[0],)
