"""Which table a block means: its directory, or its name in a warehouse."""

import os
import re
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import Span
from catalog.options import Option, Options, OptionType
from catalog.outside import Fill
from catalog.tables.table import TablePath
from connectors.storage.paths import local_path

ADDRESS_OPTIONS: Final = (
    Option(
        "path",
        OptionType.STRING,
        "The table's directory, instead of `warehouse` and `table`.",
        fill=Fill.PATH,
    ),
    Option(
        "warehouse",
        OptionType.STRING,
        "A directory of databases: the table is in `<database>.db/<table>`.",
        fill=Fill.PATH,
    ),
    Option(
        "database",
        OptionType.STRING,
        "The database of `table`, where that is a name without one.",
        fill=Fill.FOLDER_NAME,
    ),
    Option(
        "table",
        OptionType.STRING,
        "The table in `warehouse`: `database.table`.",
        fill=Fill.FOLDER_NAME,
    ),
)
_EXAMPLE: Final = 'path = "/data/orders", or warehouse = "/data/warehouse" with table = "shop.orders"'
_NAME: Final = re.compile(r"(?:(?P<database>[^./\s][^./]*)\.)?(?P<table>[^./\s][^./]*)")


def check_address(options: Options, diagnostics: Diagnostics) -> bool:
    """Report options that name no table, or two, or one that is not on this machine's file system."""
    mark = diagnostics.mark()
    catalog = options.optional_string("catalog_type") or "filesystem"
    if catalog.lower() != "filesystem":
        message = f"Paimon tables of a `{catalog}` catalog are not supported: no metastore is asked or changed"
        help = "a table of it on a mounted directory: leave `catalog_type` and `catalog_uri` out"
        diagnostics.error("PEN2004", message, options.span("catalog_type"), help)
    path, warehouse, table = (options.optional_string(name) for name in ("path", "warehouse", "table"))
    if path is not None and (warehouse is not None or table is not None):
        other = "warehouse" if warehouse is not None else "table"
        diagnostics.error("PEN2011", f"`path` and `{other}` exclude each other", options.span(other), _EXAMPLE)
    elif path is None and (warehouse is None or table is None):
        missing = "`table`" if warehouse is not None else "`warehouse`" if table is not None else "`path`"
        diagnostics.error("PEN2011", f"no table is named: {missing} is missing", options.span(), _EXAMPLE)
    elif table is not None and _named(options) is None:
        help = 'table = "shop.orders", or database = shop with table = orders'
        diagnostics.error("PEN2004", f"`{table}` does not name a database and a table", options.span("table"), help)
    key, place = ("path", path) if path is not None else ("warehouse", warehouse)
    if place is not None and local_path(place) is None:
        message = f"`{place}` is not on a file system of this machine, and others are not supported for Paimon tables"
        diagnostics.error("PEN2004", message, options.span(key), "a mounted directory, by its path")
    return mark.is_last


def path_of(options: Options) -> TablePath | None:
    """The table's path in a warehouse; None where its directory names it."""
    named = None if options.get("use_regex") or options.get("table") is None else _named(options)
    return None if named is None else TablePath(named[1], None, named[0])


def folder_of(options: Options) -> str:
    """The table's directory: absolute, links resolved; `check_address` holds."""
    path = options.optional_string("path")
    if path is None:
        named = _named(options)
        assert named is not None, "is checked before"
        path = os.path.join(options.string("warehouse"), f"{named[0]}.db", named[1])
    return os.path.realpath(local_path(path) or path)


def shown(options: Options) -> str:
    """The table as the job names it."""
    return options.optional_string("path") or ".".join(_named(options) or (options.string("table"),))


def address_span(options: Options) -> Span | None:
    """Where the job names the table."""
    return options.span("path" if options.get("path") is not None else "table")


def _named(options: Options) -> tuple[str, str] | None:
    found = _NAME.fullmatch(options.string("table"))
    database = options.optional_string("database") or (found and found["database"])
    if found is None or not database or (found["database"] and found["database"] != database):
        return None
    return database, found["table"]
