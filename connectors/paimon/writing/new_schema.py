"""The schema that a write creates: of a new table, or of a table that gets new columns."""

import itertools
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import TIMESTAMP
from connectors.paimon.paimon_options import spanned_partition
from connectors.paimon.paimon_types import seconds_digits, to_paimon
from connectors.paimon.table_files import Schema
from connectors.shared.spark_types import columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_VERSION: Final = 3
_DEFAULT_BUCKETS: Final = 4


def columns_to_write(df: "DataFrame") -> tuple[Column, ...]:
    return tuple(column for column in columns_of(df.schema) if column.name != ROW_KIND)


def without_zones(df: "DataFrame") -> "DataFrame":
    """The rows with timestamps as the clock of the session shows them, which is what SeaTunnel's `timestamp` is."""
    zoned = [column.name for column in columns_to_write(df) if column.type == TIMESTAMP]
    return df.withColumns({name: df[quote(name)].cast("timestamp_ntz") for name in zoned}) if zoned else df


def schema_of_new_table(
    columns: Sequence[Column], incoming: CatalogTable, options: Options, keys: Sequence[str]
) -> Schema:
    """The schema file of a new table; with `keys` its primary key. Names of the options are matched ignoring case."""
    names = {column.name.lower(): column.name for column in columns}
    primary_keys = [names[key.lower()] for key in keys]
    partition_keys = [names[key.lower()] for key in options.strings("partition_by")]
    ids = itertools.count()
    fields = [_field(column, incoming, next(ids), ids, nullable=column.name not in primary_keys) for column in columns]
    if options.seatunnel is not None:
        fields = [_with_digits(field, incoming) for field in fields]
    return {
        "version": _VERSION,
        "id": 0,
        "fields": fields,
        "highestFieldId": next(ids) - 1,
        "partitionKeys": partition_keys,
        "primaryKeys": primary_keys,
        "options": table_options(options, keys, names),
        "comment": incoming.comment or "",
        "timeMillis": int(time.time() * 1000),
    }


def table_options(options: Options, keys: Sequence[str], names: dict[str, str]) -> dict[str, str]:
    """The options of a new table: what the job gives, the number of buckets, and the column that orders rows."""
    bucket, spans = options.optional_integer("bucket"), spanned_partition(options, keys) is not None
    if bucket is None:
        bucket = _DEFAULT_BUCKETS if keys and not spans else -1
    found = {"bucket": str(bucket), **options.texts_by_key("table_properties")}
    sequence = options.optional_string("sequence_field")
    if sequence is not None and not spans:  # Paimon refuses it for keys that span partitions
        found["sequence.field"] = names.get(sequence.lower(), sequence)
    return found


def with_new_columns(schema: Schema, columns: Sequence[Column], incoming: CatalogTable) -> Schema | None:
    """The table's schema with the columns that it lacks, as the next schema file; None where it lacks none."""
    known = {field["name"].lower() for field in schema["fields"]}
    missing = [column for column in columns if column.name.lower() not in known]
    if not missing:
        return None
    ids = itertools.count(schema["highestFieldId"] + 1)
    fields = [*schema["fields"], *(_field(column, incoming, next(ids), ids, nullable=True) for column in missing)]
    changed = {"id": schema["id"] + 1, "fields": fields, "highestFieldId": next(ids) - 1}
    return {**schema, **changed, "timeMillis": int(time.time() * 1000)}


def _field(
    column: Column, incoming: CatalogTable, id: int, ids: "itertools.count[int]", *, nullable: bool
) -> dict[str, Any]:
    field = {"id": id, "name": column.name, "type": to_paimon(column.type, ids, nullable=nullable)}
    described = incoming.column(column.name)
    if described is not None and described.comment:
        field["description"] = described.comment
    return field


def _with_digits(field: dict[str, Any], incoming: CatalogTable) -> dict[str, Any]:
    """A timestamp has as many digits of a second as the rows declare (reconvert of SeaTunnel's RowTypeConverter)."""
    described, type = incoming.column(field["name"]), field["type"]
    if described is None or described.scale is None or seconds_digits(type) is None:
        return field
    return {**field, "type": type.replace("TIMESTAMP(6)", f"TIMESTAMP({described.scale})")}
