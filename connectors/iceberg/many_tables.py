"""Several tables by a pattern: those of a local warehouse are listed, those of a catalog are in the schema lock."""

import os
import re
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.quoting import short_name
from connectors.iceberg.session_catalog import open_catalog
from connectors.iceberg.table_address import catalog_of, check_address
from connectors.matching.catalog_tables import catalog_pattern, matching_tables
from connectors.matching.table_patterns import as_table, check_pattern, name_patterns, pattern_in, report_no_match
from connectors.matching.warehouse_folders import all_folders, matching_folders
from connectors.storage.paths import local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def tables_of_warehouse(options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
    """The block of each table of a local warehouse; None where the block is one table, or another warehouse is
    meant."""
    root = _local_root(options)
    if root is None or not options.flag("use_regex"):
        return None
    if not check_tables(options, diagnostics):
        return ()
    names = name_patterns(options.string("table"))
    found = matching_folders(root, names, _is_table)
    if not found:
        report_no_match(options, "table", all_folders(root, len(names), _is_table), diagnostics)
    return tuple(as_table(options, "table", short_name(path)) for path in found)


def catalog_tables_pattern(options: Options) -> re.Pattern[str] | None:
    """The pattern of tables that are not in a local warehouse."""
    is_valid = _local_root(options) is None and check_tables(options, Diagnostics())
    return pattern_in(options, _name_option(options)) if is_valid else None


def tables_of_catalog(spark: "SparkSession", options: Options) -> tuple[str, ...]:
    """The names of the tables that match now, as `of_table` takes them."""
    option = _name_option(options)
    text = options.string(option)
    catalog, names = catalog_pattern(text) if option == "table_path" else (None, name_patterns(text))
    opened = catalog_of(spark, options, catalog)
    open_catalog(spark, spark._jsparkSession, opened.name, opened.settings, opened.secrets)
    shown = () if catalog is None else (catalog,)
    return tuple(short_name((*shown, *path)) for path in matching_tables(spark, opened.name, names))


def of_table(options: Options, name: str) -> Options:
    """The block as that of one of the tables."""
    return as_table(options, _name_option(options), name)


def check_tables(options: Options, diagnostics: Diagnostics) -> bool:
    """Whether the block's options are valid; else they are reported."""
    option = _name_option(options)
    if not options.flag("use_regex"):
        return check_address(options, diagnostics)
    mark = diagnostics.mark()
    check_pattern(options, option, "shop.orders_\\\\d+", diagnostics)
    if mark.is_last:  # with any name in place of the pattern
        check_address(as_table(options, option, "catalog.database.name"), diagnostics)
    if mark.is_last and option == "table_path":
        try:
            catalog_pattern(options.string(option))
        except ValueError:
            message = f"`{options[option]}` names no catalog: it is a plain name, before the first dot"
            diagnostics.error("PEN2004", message, options.span(option), 'table_path = "lake.shop.\\\\.*"')
    return mark.is_last


def _name_option(options: Options) -> str:
    return "table_path" if options.get("table_path") is not None else "table"


def _local_root(options: Options) -> str | None:
    warehouse = options.optional_string("warehouse")
    return None if warehouse is None else local_path(warehouse)


def _is_table(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "metadata"))
