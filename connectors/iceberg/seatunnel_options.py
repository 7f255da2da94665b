"""Apache SeaTunnel's options for Iceberg, and what they mean in the connector's own.

namespace = shop, table = orders, iceberg.catalog.config = { type = hadoop, warehouse = "/data" }
table = shop.orders, warehouse = "/data"
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Final, TypeAlias
from xml.etree import ElementTree

from catalog.diagnostics.diagnostic import run_error
from catalog.options import Option, Options, OptionType, Value
from catalog.outside import Fill
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.savemode import WriteMode

CATALOG_CONFIG: Final = "iceberg.catalog.config"
SNAPSHOT_TIME: Final = "use_snapshot_timestamp"
CONF_PATH: Final = "iceberg.hadoop-conf-path"
_CONF_FILES: Final = ("core-site.xml", "hdfs-site.xml", "hive-site.xml")
_TABLE: Final = "iceberg.table."
_Implied: TypeAlias = tuple[Value, str]
"""The value of an option, and the option that implies it."""

CATALOG_OPTIONS: Final = (
    Option(
        "namespace",
        OptionType.STRING,
        "The namespace of `table`, where that is a name without one.",
        fill=Fill.FOLDER_TABLE,
    ),
    Option(
        CATALOG_CONFIG,
        OptionType.MAP,
        "Properties of the block's own catalog: `{ type = hadoop, warehouse = … }`, or `rest` or `hive` with a `uri`.",
    ),
    Option("hadoop.config", OptionType.MAP, "Hadoop's settings for that catalog."),
    Option(
        CONF_PATH,
        OptionType.STRING,
        "A directory on the driver's machine with `core-site.xml`, `hdfs-site.xml` and `hive-site.xml`, whose settings "
        "are those of `hadoop.config`.",
    ),
)
"""Options of sources and sinks."""

TABLE_OPTIONS: Final = (
    Option(f"{_TABLE}partition-keys", OptionType.STRING, "`partition_by` as one text: `day, region`."),
    Option(f"{_TABLE}primary-keys", OptionType.STRING, "`primary_keys` as one text: `id, day`."),
    Option(f"{_TABLE}upsert-mode-enabled", OptionType.BOOLEAN, "Whether `write_mode` is `upsert`."),
    Option(f"{_TABLE}schema-evolution-enabled", OptionType.BOOLEAN, "Whether `schema_evolution` is `add_columns`."),
    Option(f"{_TABLE}write-props", OptionType.MAP, "`table_properties`, by another name."),
    Option(f"{_TABLE}auto-create-props", OptionType.MAP, "`table_properties`, by another name."),
)
"""Options of sinks."""


def completed(options: Options) -> Options:
    """The options with the connector's own that these imply; what the job gives itself is unchanged."""
    named = dict(_table_of(options))  # these replace what the job gives
    named |= {
        name: implied
        for name, implied in _of_table_options(options).items()
        if name in options.values and name not in options.places
    }
    if not named:
        return options
    places = {name: span for name, (_, of) in named.items() if (span := options.span(of)) is not None}
    values = {name: value for name, (value, _) in named.items()}
    return replace(options, values={**options.values, **values}, places={**options.places, **places})


def _of_table_options(options: Options) -> Mapping[str, _Implied]:
    """Each own option that the options of a table imply, and by which."""
    implied: dict[str, _Implied] = {}
    for name, own in (("partition-keys", "partition_by"), ("primary-keys", "primary_keys")):
        if columns := _names(options.get(_TABLE + name)):
            implied[own] = (columns, _TABLE + name)
    for name, own, value in (
        ("upsert-mode-enabled", "write_mode", WriteMode.UPSERT.value),
        ("schema-evolution-enabled", "schema_evolution", SchemaEvolution.ADD_COLUMNS.value),
    ):
        if options.get(_TABLE + name):
            implied[own] = (value, _TABLE + name)
    for name in ("auto-create-props", "write-props"):
        if properties := options.texts_by_key(_TABLE + name):
            implied["table_properties"] = (properties, _TABLE + name)
    if (moment := options.get(SNAPSHOT_TIME)) is not None:
        implied["as_of_timestamp"] = (_as_timestamp(int(str(moment))), SNAPSHOT_TIME)
    return implied


def _as_timestamp(milliseconds: int) -> str:
    """Also of a number that is no moment of a calendar: what reads the option reports it."""
    try:
        at = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    except (OverflowError, ValueError, OSError):
        return f"{str(milliseconds)[:40]} ms"
    return f"{at:%Y-%m-%d %H:%M:%S.%f}"


def catalog_config(options: Options) -> Mapping[str, str]:
    """The properties of the block's own catalog; empty where it has none."""
    config = options.texts_by_key(CATALOG_CONFIG)
    hadoop = {f"hadoop.{key}": value for key, value in options.texts_by_key("hadoop.config").items()}
    return {**config, **hadoop} if config else {}


def hadoop_settings(options: Options) -> Mapping[str, str]:
    """Hadoop's settings of the block, those of its files among them. Raises `RunError` (PEN5004) for a file that cannot
    be read; asked by a run alone."""
    folder = options.optional_string(CONF_PATH)
    if folder is None:
        return options.texts_by_key("hadoop.config")
    found: dict[str, str] = {}
    try:
        for path in (Path(folder, name) for name in _CONF_FILES):
            if path.is_file():
                of_file = ElementTree.fromstring(path.read_bytes()).iter("property")
                found |= {each.findtext("name", ""): each.findtext("value", "") for each in of_file}
    except (OSError, ElementTree.ParseError) as cause:
        message = f"a file of Hadoop's settings in `{folder}` cannot be read: {cause}"
        raise run_error("PEN5004", message, options.span(CONF_PATH)) from cause
    return {**found, **options.texts_by_key("hadoop.config")}


def _table_of(options: Options) -> Mapping[str, _Implied]:
    config, name = catalog_config(options), options.optional_string("table")
    namespace = options.optional_string("namespace") or ("default" if config else None)
    found: dict[str, _Implied] = {"table": (f"{namespace}.{name}", "table")} if namespace and name else {}
    if config.get("type") == "hadoop" and config.get("warehouse"):
        found["warehouse"] = (config["warehouse"], CATALOG_CONFIG)
    return found


def _names(text: Value) -> list[Value]:
    return [name.strip() for name in str(text).split(",") if name.strip()] if text else []
