"""Dates and times before 1582-10-15, of which drivers make others.

JDBC's `Timestamp` follows the Julian calendar until then. The drivers of MySQL and MariaDB count back by it, and Spark
counts forward by the Gregorian one: of `datetime` 1000-01-01 it makes 1000-01-06, and of the ten days that the Julian
calendar leaves out, 1582-10-05 to 1582-10-14, the ten days after them. PostgreSQL's driver shifts only these ten days,
and drops the era from years before Christ.
"""

from collections.abc import Iterable
from typing import Final

from catalog.quoting import quote
from catalog.tables.checked_cast import raise_moved
from catalog.tables.table import Column
from catalog.types.datatypes import TIMESTAMP_NTZ

EXACT_TIMES: Final = "read_times_as_text"
_FIRST_CERTAIN: Final = "1582-10-25"
"""The first day that no other one is read as."""


def is_sure(columns: Iterable[Column], dialect: str) -> str | None:
    """Spark SQL of a filter that fails at the first value of these columns which is not what the database has; None
    where there is none. A filter, since Spark pushes no filter of a job below a projection that changes a column."""
    times = [column for column in columns if column.type == TIMESTAMP_NTZ]  # `timestamp` of MySQL begins in 1970
    return " and ".join(_sure(column, dialect) for column in times) or None


def _sure(column: Column, dialect: str) -> str:
    reason = f"is before {_FIRST_CERTAIN}, where {dialect}'s driver makes another time of it"
    error = raise_moved(column.name, reason, f"`{EXACT_TIMES} = true` reads what the database has")
    return f"if({quote(column.name)} < timestamp_ntz'{_FIRST_CERTAIN}', {error}, true)"
