"""Incremental loading: what a job asks for, how far its runs have come, and the condition that selects what is new.

    incremental { column = "updated_at", lag = "5 minutes", initial = "2026-01-01" }

The first run reads `updated_at >= initial`, each later one `updated_at >= watermark - lag`, or without `lag`
`updated_at > watermark`. The watermark is the greatest value that was read. Rows in which the column is NULL are never
read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal as Number
from decimal import InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean, run_error
from catalog.iso_time import iso_time
from catalog.options import Option, Options, OptionType, Value
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import (
    DATE,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    Decimal,
    has_unknown,
)
from catalog.types.typenames import to_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

INCREMENTAL: Final = Option(
    "incremental",
    OptionType.MAP,
    'Reads only what earlier runs have not read: `{ column = updated_at, lag = "5 minutes", initial = "2026-01-01" }`. '
    "The greatest value read is recorded when the sinks commit.",
)
_KEYS: Final = ("column", "lag", "initial")
_DURATION: Final = re.compile(r"\s*(\d+)\s*(microsecond|millisecond|second|minute|hour|day|week)s?\s*\Z", re.IGNORECASE)
_LAGS: Final = {"date": 'lag = "2 days"', "timestamp": 'lag = "10 minutes"', "timestamp_ntz": 'lag = "10 minutes"'}
_DAYS: Final[Mapping[str, int]] = {"day": 1, "week": 7}


@dataclass(frozen=True, slots=True)
class Incremental:
    """What a job asks for; `column` is None where the source has an order of its own."""

    column: str | None = None
    lag: str | None = None
    initial: str | None = None


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """How far a source has been read: the greatest value, as Spark casts it to a string; of files that arrive also
    which were there, with their modification times in milliseconds, as far as they are within `lag` of it, and digests
    of the `older` ones (None: recorded by an earlier version, or set by the user)."""

    value: str
    files: Mapping[str, int] = field(default_factory=dict)
    older: str | None = None


@dataclass(frozen=True, slots=True)
class Since:
    """What a run reads: what is past `after` (None: the first run), up to `until` (None: all there is)."""

    after: ReadProgress | None = None
    until: ReadProgress | None = None


@dataclass(frozen=True, eq=False, slots=True)
class NewRows:
    """The rows of one run. `reached` is asked once they were read: how far they go, None where nothing was read."""

    df: "DataFrame"
    reached: Callable[[], ReadProgress | None]


def incremental_of(options: Options) -> Incremental | None:
    """What checked options say; None where the source is read as a whole."""
    if options.get("incremental") is None:
        return None
    given = options.mapping("incremental")
    return Incremental(*(None if given.get(key) is None else str(given[key]) for key in _KEYS))


def check_incremental(options: Options, own: Column | None, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report keys and values that cannot be meant; `own` is the order that the source has where no column is named."""
    asked = incremental_of(options)
    if asked is None:
        return
    for key in options.mapping("incremental"):
        if key not in _KEYS:
            span = options.key_span(f"incremental.{key}")
            diagnostics.error("PEN2003", f"`incremental` has no `{key}`", span, did_you_mean(key, _KEYS))
    column = own if asked.column is None else table.column(asked.column)
    if asked.column is None and own is None:
        help = 'incremental { column = "updated_at" }'
        diagnostics.error("PEN2005", "`incremental` needs `column`", options.span("incremental"), help)
    elif column is None and not table.is_open:
        hint = did_you_mean(str(asked.column), table.schema.names)
        message = f"no column `{asked.column}` to read by"
        diagnostics.error("PEN4008", message, options.span("incremental.column"), hint)
    elif column is not None and not has_unknown(column.type):
        _check_values(asked, column, options, diagnostics)


def _check_values(asked: Incremental, column: Column, options: Options, diagnostics: Diagnostics) -> None:
    if not can_order(column.type):
        message = f"rows cannot be read by `{column.name}` of type {column.type}"
        help = "name a column of integers, decimals, dates, timestamps or strings"
        diagnostics.error("PEN4008", message, options.span("incremental.column"), help)
        return
    if asked.initial is not None and not is_value(asked.initial, column.type):
        message = f"`initial` must be a value of `{column.name}` ({column.type}), found `{asked.initial}`"
        diagnostics.error("PEN2004", message, options.span("incremental.initial"))
    if asked.lag is not None and _lagging("value", asked.lag, column.type) is None:
        message = f"`lag` cannot be subtracted from `{column.name}` of type {column.type}: `{asked.lag}`"
        help = "a column of strings has no lag" if column.type == STRING else _LAGS.get(str(column.type), "lag = 100")
        diagnostics.error("PEN2004", message, options.span("incremental.lag"), help)


def can_order(type: DataType) -> bool:
    """Whether a watermark can be of the type. Not floating point: NaN is greater than all that follows."""
    return type in (*INTEGRAL_TYPES, DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING) or isinstance(type, Decimal)


def is_value(text: str, type: DataType) -> bool:
    """Whether a text is a value of a type that `can_order`."""
    try:
        if type in INTEGRAL_TYPES:
            int(text)
        elif isinstance(type, Decimal):
            return Number(text).is_finite()
        elif type == DATE:
            date.fromisoformat(text)
        elif type in (TIMESTAMP, TIMESTAMP_NTZ):
            iso_time(text)
    except (ValueError, InvalidOperation):
        return False
    return True


def conditions(asked: Incremental, column: Column, since: Since, *, by_bytes: bool = False) -> Iterator[str]:
    """Spark SQL that holds for the rows of one run. `by_bytes`: strings are compared in a form that Spark pushes into
    no source, for one that would compare them in another order."""
    is_wrapped = by_bytes and column.type == STRING
    name = f"hex({quote(column.name)})" if is_wrapped else quote(column.name)

    def value(text: str) -> str:
        literal = literal_of(text, column.type)
        return f"hex({literal})" if is_wrapped else literal

    if since.after is not None and asked.lag is not None:
        yield f"{name} >= {_lagging(value(since.after.value), asked.lag, column.type)}"
    elif since.after is not None:
        yield f"{name} > {value(since.after.value)}"
    elif asked.initial is not None:
        yield f"{name} >= {value(asked.initial)}"
    else:
        yield f"{quote(column.name)} is not null"
    if since.until is not None:
        yield f"{name} <= {value(since.until.value)}"


def duration(text: str) -> timedelta | None:
    """`10 minutes` and the like; `0` is none."""
    if text.strip() == "0":
        return timedelta(0)
    found = _DURATION.match(text)
    try:
        return None if found is None else timedelta(**{f"{found[2].lower()}s": int(found[1])})
    except (OverflowError, ValueError):  # more days or digits than there are
        return None


def literal_of(text: str, type: DataType) -> str:
    return quote_text(text) if type == STRING else f"cast({quote_text(text)} as {to_ddl(type)})"


def new_rows(df: "DataFrame", asked: Incremental, since: Since, *, by_bytes: bool = False) -> NewRows:
    """The new rows of all of a source's; how far they go is an observation of the pass that reads them."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    from connectors.shared.spark_types import columns_of

    column = CatalogTable.of("rows", columns_of(df.schema)).column(str(asked.column))
    if column is None or not can_order(column.type):
        problem = "there is no column" if column is None else f"no watermark can be of the type {column.type}, of"
        raise run_error("PEN5004", f"{problem} `{asked.column}`, by which the source is read")
    greatest = f"max({quote(column.name)})"
    if since.after is not None:
        greatest = f"greatest({greatest}, {literal_of(since.after.value, column.type)})"
    observation = Observation()
    rows = df.where(" and ".join(f"({condition})" for condition in conditions(asked, column, since, by_bytes=by_bytes)))
    rows = rows.observe(observation, f.expr(f"cast({greatest} as string)").alias("value"))
    return NewRows(rows, lambda: _observed(df, observation))


def until_now(df: "DataFrame", asked: Incremental, since: Since) -> Since:
    """The same, up to the greatest value that is there now: for rows that are read by several queries, of which a later
    one may see rows that an earlier one should have."""
    greatest = df.selectExpr(f"cast(max({quote(str(asked.column))}) as string)").first()
    value = greatest[0] if greatest is not None else None
    return since if value is None else Since(since.after, ReadProgress(value))


def _observed(df: "DataFrame", observation: Any) -> ReadProgress | None:
    """What was observed; None where Spark found that it need not read the rows, as of a join with nothing."""
    context: Any = df.sparkSession.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty(60_000)
    if not observation._jo.future().isCompleted():
        return None
    value: Value = observation.get["value"]
    return None if value is None else ReadProgress(str(value))


def _lagging(value: str, lag: str, type: DataType) -> str | None:
    """Spark SQL for the value less the lag; None where that has no meaning."""
    if lag.strip() == "0" and type != STRING:
        return value
    duration = _DURATION.match(lag)
    if type in (TIMESTAMP, TIMESTAMP_NTZ):
        return f"{value} - interval {duration[1]} {duration[2].lower()}" if duration else None
    if type == DATE:
        days = _DAYS.get(duration[2].lower()) if duration else None
        return f"date_sub({value}, {int(duration[1]) * days})" if duration and days else None
    if type == STRING or not is_value(lag, type) or Number(lag) < 0:
        return None
    return f"{value} - {lag}"
