"""Prepares rows for loading: one per key, checked against the target, in types that the driver can load."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.quoting import quote, quote_text
from catalog.tables.row_kind import ROW_KIND, RowKind
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import (
    DATE,
    DOUBLE,
    FLOAT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    Time,
)
from connectors.jdbc.dialect import Dialect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RANK = "__penstock_rank"


@dataclass(frozen=True, slots=True)
class Keyed:
    """The key of the target. Where rows are found by it (`is_used`), they are reduced to one for each key: `sequence`
    orders those of a key, `deletes` is Spark SQL over the rows."""

    keys: tuple[str, ...]
    sequence: str | None = None
    deletes: str | None = None
    is_used: bool = False


def with_kinds(df: "DataFrame", keyed: Keyed) -> "DataFrame":
    """The rows with their kinds, deletes by `delete_condition` among them."""
    if keyed.deletes is None:
        return df
    kept = quote(ROW_KIND) if ROW_KIND in df.columns else f"'{RowKind.INSERT.value}'"
    kind = f"if(coalesce({keyed.deletes}, false), '{RowKind.DELETE.value}', {kept}) as {quote(ROW_KIND)}"
    return df.selectExpr(*(quote(name) for name in df.columns if name != ROW_KIND), kind)


def latest(df: "DataFrame", keyed: Keyed, *, has_updates: bool) -> "DataFrame":
    """The last row of each key; each task reduces its rows before the shuffle (partial WindowGroupLimit).

    Of the two rows of an update the one after it counts. A row before an update to another key deletes its own key.
    `has_updates`: kinds come with the rows, so that some may be of updates.
    """
    by = f"partition by {', '.join(map(quote, keyed.keys))}"
    kind = quote(ROW_KIND)
    removes = f"{kind} in ('{RowKind.UPDATE_BEFORE.value}', '{RowKind.DELETE.value}')"
    if keyed.sequence is not None:
        last = f", {removes}" if ROW_KIND in df.columns else ""
        rank = f"row_number() over ({by} order by {quote(keyed.sequence)} desc nulls last{last}) as {_RANK}"
        df = df.selectExpr("*", rank).where(f"{_RANK} = 1").drop(_RANK)
    elif has_updates:
        is_before = f"{kind} = '{RowKind.UPDATE_BEFORE.value}'"
        df = df.selectExpr("*", f"min({is_before}) over ({by}) as {_RANK}").where(f"{_RANK} or not {is_before}")
        df = df.drop(_RANK)
    if ROW_KIND not in df.columns:
        return df
    names = [quote(name) for name in df.columns if name != ROW_KIND]
    return df.selectExpr(*names, f"if({removes}, '{RowKind.DELETE.value}', {kind}) as {kind}")


def loadable(
    df: "DataFrame", types: CatalogTable, target: CatalogTable | None, keys: tuple[str, ...], dialect: Dialect
) -> "DataFrame":
    """The rows in types that the driver can load; a row that the target would refuse fails here, before the commit."""
    folded = {key.lower() for key in keys}
    values = []
    for column in types.columns:
        there = target.column(column.name) if target is not None else None
        is_key = column.name.lower() in folded
        value = _checked(column, there, is_key, dialect, has_kinds=ROW_KIND in df.columns)
        values.append(f"{_loaded(value, column.type, dialect)} as {quote(column.name)}")
    if ROW_KIND in df.columns:
        values.append(quote(ROW_KIND))
    return df.selectExpr(*values)


def loaded_type(type: DataType, dialect: Dialect) -> DataType:
    """The type of Spark as which values of a type are loaded."""
    if type == VARIANT or isinstance(type, Time) or dialect.holds_as_text(type):
        return STRING
    if dialect.times_as_text and type in (DATE, TIMESTAMP, TIMESTAMP_NTZ):
        return STRING
    if isinstance(type, Decimal) and type.precision > dialect.max_precision:
        return STRING
    return type


def _loaded(value: str, type: DataType, dialect: Dialect) -> str:
    if loaded_type(type, dialect) == type:
        return value
    is_json = type == VARIANT or isinstance(type, Array | Map | Struct)
    return f"to_json({value})" if is_json else f"cast({value} as string)"


def _checked(column: Column, target: Column | None, is_key: bool, dialect: Dialect, *, has_kinds: bool) -> str:
    """The column's value, or an error where the target cannot hold it; of a delete, only the key is looked at."""
    value = quote(column.name)
    refusals = []
    forbids_null = target is not None and not target.nullable and target.default is None
    if (is_key or forbids_null) and (column.nullable or target is not None):
        kept = "" if is_key or not has_kinds else f" and {quote(ROW_KIND)} <> '{RowKind.DELETE.value}'"
        refusals.append(
            (
                f"{value} is null{kept}",
                "is NULL, which the target forbids. Filter such rows, or give them a value by coalesce",
            )
        )
    if target is not None and target.length is not None and column.type == STRING:
        refusals.append(
            (
                f"length({value}) > {target.length}",
                f"is too long for the target: {target.length} characters at most. Cut it by left, or widen the column",
            )
        )
    if column.type in (FLOAT, DOUBLE) and not dialect.has_not_a_number:
        special = f"isnan({value}) or abs({value}) = double('Infinity')"
        refusals.append((special, f"is NaN or infinite, which {dialect.name} cannot hold. Replace it by NULL"))
    for condition, reason in refusals:
        message = quote_text(f"a value of the column {quote(column.name)} {reason}")
        value = f"if({condition}, raise_error({message}), {value})"
    return value
