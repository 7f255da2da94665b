"""Leaves out rows that do not fit the schema (`on_malformed = "drop"`) by a filter, whose rows Spark counts.

Spark's own mode DROPMALFORMED leaves them out within its reader, where nobody sees how many there were.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.table import Column
from catalog.types.datatypes import STRING
from connectors.files.file_options import MALFORMED_RECORD, file_format
from connectors.files.values.left_out_rows import fitting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MALFORMED: Final = Column(MALFORMED_RECORD, STRING)
"""The text of a row that does not fit, where Spark's reader finds one; else NULL."""

_READERS: Final = ("csv", "json", "xml")


def drops_rows(options: Options) -> bool:
    return str(options.get("on_malformed") or "").lower() == "drop"


def record_column(options: Options) -> tuple[Column, ...]:
    """The column that Spark's reader fills with the text of a malformed row, where such rows are dropped."""
    return (MALFORMED,) if drops_rows(options) and file_format(options) in _READERS else ()


def fails_at_malformed(options: Options) -> bool:
    return str(options.get("on_malformed") or "fail").lower() == "fail"


def without_malformed(df: "DataFrame", columns: Sequence[Column], fits: Sequence[str], options: Options) -> "DataFrame":
    """The rows that fit, if the others are dropped; `columns`: those of the files, `fits`: Spark SQL for whether a
    value that is read as a text fits."""
    if not drops_rows(options):
        return df
    names = df.columns
    conditions = list(fits)
    if MALFORMED.name in names:
        # Spark parses the columns that a query uses: which rows fit may not depend on the query
        used = " or ".join(f"{quote(column.name)} is not null" for column in columns)
        alone = f"(length({quote(MALFORMED.name)}) < -1 and ({used}))"
        conditions.append(f"({quote(MALFORMED.name)} is null or {alone})")
    return df.where(fitting(" and ".join(conditions))).drop(MALFORMED.name) if conditions else df
