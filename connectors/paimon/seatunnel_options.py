"""Apache SeaTunnel's options for Paimon, and what they mean in the connector's own.

warehouse = "/data", database = shop, table = orders, paimon.table.primary-keys = "id, day"
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from catalog.options import Option, Options, OptionType, Value
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.tables.table import CatalogTable
from connectors.paimon.table_files import Schema

_TABLE: Final = "paimon.table."

CATALOG_OPTIONS: Final = (
    Option(
        "catalog_type",
        OptionType.STRING,
        "The catalog: only directories. Tables of Hive's metastore and of databases are found by their warehouse.",
        choices=("filesystem", "hive", "jdbc"),
        offered=("filesystem",),
    ),
)
"""Options of sources and sinks."""

TABLE_OPTIONS: Final = (
    Option(f"{_TABLE}primary-keys", OptionType.STRING, "`primary_keys` as one text, with `write_mode = upsert`."),
    Option(f"{_TABLE}partition-keys", OptionType.STRING, "`partition_by` as one text: `day, region`."),
    Option(f"{_TABLE}write-props", OptionType.MAP, "`table_properties`, by another name; `bucket` is the option."),
)
"""Options of sinks."""


def completed(options: Options) -> Options:
    """The options with the connector's own that these imply; what the job gives itself is unchanged."""
    named = {name: (value, of) for name, value, of in _implied(options) if name not in options.places}
    if not named:
        return options
    places = {name: span for name, (_, of) in named.items() if (span := options.span(of)) is not None}
    values = {name: value for name, (value, _) in named.items()}
    return replace(options, values={**options.values, **values}, places={**options.places, **places})


def with_key_of_table(options: Options, schema: Schema | None) -> Options:
    """The options of a sink with the key of the table that is there: SeaTunnel's `primary-keys`, and the key of the
    rows, only make a new one (createTable of its PaimonCatalog)."""
    recreates = options.choice("schema_save_mode", SchemaSaveMode) is SchemaSaveMode.RECREATE_SCHEMA
    keys = list((schema or {}).get("primaryKeys") or ())
    if recreates or not keys:
        return options
    return replace(options, values={**options.values, "primary_keys": keys})


def seatunnel_write_mode(schema: Schema | None, mode: WriteMode, options: Options, table: CatalogTable) -> WriteMode:
    """The write mode of a block that names none, as SeaTunnel writes: by the key of the table that is there, and a new
    table has the key of the rows (toPaimonSchema of its SchemaUtil). `mode`: the connector's own."""
    is_new = schema is None or options.choice("schema_save_mode", SchemaSaveMode) is SchemaSaveMode.RECREATE_SCHEMA
    if is_new:
        own = table.schema.primary_key
        keys = options.strings("primary_keys") or (own.columns if own else ())
    else:
        keys = tuple((schema or {}).get("primaryKeys") or ())
    if not keys:
        return WriteMode.APPEND
    replaces = options.choice("data_save_mode", DataSaveMode) is DataSaveMode.DROP_DATA
    return mode if mode.needs_key else WriteMode.CHANGELOG if table.has_row_kind and not replaces else WriteMode.UPSERT


def _implied(options: Options) -> Iterator[tuple[str, Value, str]]:
    """Each own option that the options of a table imply, its value, and by which."""
    if keys := _names(options.get(f"{_TABLE}primary-keys")):
        yield "primary_keys", keys, f"{_TABLE}primary-keys"
        yield "write_mode", WriteMode.UPSERT.value, f"{_TABLE}primary-keys"
    if partitions := _names(options.get(f"{_TABLE}partition-keys")):
        yield "partition_by", partitions, f"{_TABLE}partition-keys"
    properties: dict[str, Value] = dict(options.texts_by_key(f"{_TABLE}write-props"))
    bucket = str(properties.pop("bucket", ""))
    if bucket.lstrip("-").isdigit():
        yield "bucket", int(bucket), f"{_TABLE}write-props"
    if properties:
        yield "table_properties", properties, f"{_TABLE}write-props"


def _names(text: Value) -> list[Value]:
    return [name.strip() for name in str(text).split(",") if name.strip()] if text else []
