"""Splits a read into partitions: ranges of a number, date or timestamp, or hashes of a text.

partition_column = id, partition_num = 4     ->  four ranges between the least and the greatest id
partition_column = name, partition_num = 4   ->  four remainders of name's hash, computed by the database
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from math import ceil
from typing import Final

from catalog.diagnostics.diagnostic import run_error
from catalog.tables.table import Column
from catalog.types.datatypes import (
    DATE,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    Decimal,
    is_numeric,
)
from connectors.jdbc.database import Database

_EPOCH: Final = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The partitioning options of a job: the `number` of partitions or the `rows` of each, and optional bounds."""

    column: str
    number: int
    rows: int | None = None
    lower: str | None = None
    upper: str | None = None


@dataclass(frozen=True, slots=True)
class Partitions:
    """Either settings for Spark's own ranges, or a predicate in the database's SQL for each partition."""

    settings: Mapping[str, str] = field(default_factory=dict)
    predicates: tuple[str, ...] = ()


def partitions_of(database: Database, source: str, wanted: Partitioning, column: Column | None) -> Partitions:
    """The partitions of a query's rows; one if the job asks for none. Raises PEN5004 if the column cannot split it."""
    if column is None:
        raise run_error("PEN5004", f"there is no column `{wanted.column}` to partition the read by")
    name = database.dialect.quote(column.name)
    if column.type == STRING:
        return Partitions(predicates=_by_hash(database, name, _number(database, source, wanted)))
    if not (is_numeric(column.type) or column.type in (DATE, TIMESTAMP, TIMESTAMP_NTZ)):
        message = f"a read cannot be partitioned by `{column.name}` of type {column.type}"
        raise run_error("PEN5004", message, None, "take a column that is a number, a date, a timestamp or a string")
    lower, upper = _bounds(database, source, name, wanted)
    number = _number(database, source, wanted)
    if lower is None or upper is None or number < 2:
        return Partitions()
    if _is_sparks(column.type) and database.dialect.reads_by_catalog:
        settings = {"partitionColumn": column.name, "lowerBound": _whole(lower, column.type)}
        settings |= {"upperBound": _whole(upper, column.type, 1), "numPartitions": str(number)}
        return Partitions(settings)
    return Partitions(predicates=ranges(name, _cuts(lower, upper, number, column.type)))


def ranges(column: str, cuts: tuple[str, ...]) -> tuple[str, ...]:
    """Disjoint predicates that cover every row; the first includes NULLs."""
    if not cuts:
        return ("1 = 1",)
    between = [f"{column} >= {low} and {column} < {high}" for low, high in pairwise(cuts)]
    return (f"{column} < {cuts[0]} or {column} is null", *between, f"{column} >= {cuts[-1]}")


def _by_hash(database: Database, column: str, number: int) -> tuple[str, ...]:
    bucket = database.dialect.hash_bucket
    if bucket is None:
        message = f"{database.dialect.name} has no function by which a string column can split a read"
        raise run_error("PEN5004", message, None, "partition by a number or a date, or leave `partition_column` out")
    value = bucket.format(column=column, buckets=number)
    return tuple(f"{value} = {index}" + (f" or {column} is null" if index == 0 else "") for index in range(number))


def _bounds(database: Database, source: str, column: str, wanted: Partitioning) -> tuple[str | None, str | None]:
    if wanted.lower is not None and wanted.upper is not None:
        return wanted.lower, wanted.upper
    [(least, greatest)] = database.query(f"select min({column}), max({column}) from ({source}) penstock_bounds")
    return wanted.lower or least, wanted.upper or greatest


def _number(database: Database, source: str, wanted: Partitioning) -> int:
    """At most a thousand: each is a query, and a connection while it runs."""
    if wanted.rows is None:
        return wanted.number
    rows = int(database.value(f"select count(*) from ({source}) penstock_rows") or 0)
    return max(1, min(1000, ceil(rows / wanted.rows)))


def _is_sparks(type: DataType) -> bool:
    """Whether Spark computes the ranges itself. It refuses timestamps without a zone. Whole bounds are correct for
    decimals with a fraction, since the first and last range are open."""
    return type in (*INTEGRAL_TYPES, DATE) or (isinstance(type, Decimal) and type.scale == 0 and type.precision <= 18)


def _whole(bound: str, type: DataType, step: int = 0) -> str:
    if type == DATE:
        return (date.fromisoformat(bound[:10]) + timedelta(days=step)).isoformat()
    return str(int(float(bound)) + step if "." in bound else int(bound) + step)


def _cuts(lower: str, upper: str, number: int, type: DataType) -> tuple[str, ...]:
    """The literals that separate the ranges."""
    if type in (DATE, TIMESTAMP, TIMESTAMP_NTZ):
        first, last = _instant(lower), _instant(upper)
        step = (last - first) / number
        cuts = [first + step * index for index in range(1, number)]
        texts = [f"'{cut.date()}'" if type == DATE else f"'{cut.isoformat(sep=' ')}'" for cut in cuts]
        return tuple(dict.fromkeys(texts))
    low, high = float(lower), float(upper)
    steps = (low + (high - low) * index / number for index in range(1, number))
    return tuple(dict.fromkeys(repr(round(step) if type in INTEGRAL_TYPES else step) for step in steps))


def _instant(text: str) -> datetime:
    """A date or timestamp as the driver prints it, without its zone: cuts need not be exact."""
    return datetime.fromisoformat(text.strip().replace("T", " ")[:19])
