"""The rows that the snapshots of a range have appended, as Apache SeaTunnel's Iceberg source reads them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Option, Options, OptionType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_START: Final = "start_snapshot_id"
_END: Final = "end_snapshot_id"
_START_TIME: Final = "start_snapshot_timestamp"
RANGE: Final = (_START, _START_TIME, _END)

RANGE_OPTIONS: Final = (
    Option(_START, OptionType.INTEGER, "Reads the rows that snapshots after this one have appended."),
    Option(_START_TIME, OptionType.INTEGER, "`start_snapshot_id` by the time, in milliseconds since 1970."),
    Option(_END, OptionType.INTEGER, "The last snapshot whose rows are read, beside one of these two."),
)


def check_range(options: Options, states: Sequence[str], diagnostics: Diagnostics) -> None:
    """Report a range without a start, with two, or beside one of the options that name one state of the table."""
    given = [name for name in RANGE if options.get(name) is not None]
    if not given:
        return
    others = [name for name in states if options.get(name) is not None]
    if others or (_START in given and _START_TIME in given):
        one, other = (others[0], given[0]) if others else (_START, _START_TIME)
        diagnostics.error("PEN2011", f"`{one}` and `{other}` exclude each other", options.span(other))
    elif given == [_END]:
        message = f"`{_END}` ends a range of snapshots that begins nowhere"
        diagnostics.error("PEN2011", message, options.span(_END), f"{_START} = …, or snapshot_id for one state")


def rows_of_range(spark: "SparkSession", address: str, options: Options) -> "DataFrame":
    """The appended rows. Raises PEN5004 where no snapshot is as old as the time."""
    start = options.optional_integer(_START)
    if start is None:
        start = _snapshot_at(spark, address, options)
    reader = spark.read.option("start-snapshot-id", str(start))
    if (end := options.optional_integer(_END)) is not None:
        reader = reader.option("end-snapshot-id", str(end))
    return reader.table(address)


def _snapshot_at(spark: "SparkSession", address: str, options: Options) -> int:
    milliseconds = options.integer(_START_TIME)
    of_history = f"select snapshot_id from {address}.history where made_current_at <= timestamp_millis({milliseconds})"
    found = spark.sql(f"{of_history} order by made_current_at desc limit 1").first()
    if found is None:
        message = f"the table has no snapshot of the time {milliseconds}"
        raise run_error("PEN5004", message, options.span(_START_TIME), "name a later time, or read the whole table")
    return int(found[0])
