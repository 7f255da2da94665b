"""Several tables of a warehouse by a pattern of their names."""

import os
import re
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from connectors.matching.table_patterns import as_table, check_pattern, name_patterns, report_no_match
from connectors.matching.warehouse_folders import all_folders, matching_folders
from connectors.paimon.table_address import check_address
from connectors.storage.paths import local_path

_LEVELS: Final = (".db", "")


def tables_of_warehouse(options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
    """The block of each table whose name matches; None where the block is one table."""
    if not options.flag("use_regex"):
        return None
    if not check_tables(options, diagnostics):
        return ()
    root = local_path(options.string("warehouse"))
    assert root is not None, "is checked before"
    database = options.optional_string("database")
    names = name_patterns(options.string("table"))
    names = names if database is None else (re.compile(re.escape(database)), *names)
    found = matching_folders(root, names, _is_table, _LEVELS)
    if not found:
        report_no_match(options, "table", all_folders(root, len(names), _is_table, _LEVELS), diagnostics)
    return tuple(as_table(options, "table", ".".join(path)) for path in found)


def check_tables(options: Options, diagnostics: Diagnostics) -> bool:
    """Whether the block's options are valid; else they are reported."""
    if not options.flag("use_regex"):
        return check_address(options, diagnostics)
    mark = diagnostics.mark()
    check_pattern(options, "table", "shop.orders_\\\\d+", diagnostics)
    if mark.is_last:
        database = options.optional_string("database")
        number = len(name_patterns(options.string("table")))
        if number != (2 if database is None else 1):
            message = f"`{options['table']}` is not a pattern of a database and a table"
            help = 'table = "shop.orders_\\\\d+", or database = shop with table = "orders_\\\\d+"'
            diagnostics.error("PEN2004", message, options.span("table"), help)
        else:  # with any name in place of the pattern
            check_address(as_table(options, "table", f"{database or 'database'}.name"), diagnostics)
    return mark.is_last


def _is_table(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "schema"))
