"""Folders as tables: `path = "in/{database}/{table}"`, one table for each matching path."""

import glob
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.table import TablePath
from connectors.storage.paths import is_hidden, local_path

PLACEHOLDER: Final = re.compile(r"\{(database|schema|table)\}")


def table_folders(
    options: Options, diagnostics: Diagnostics, is_table: Callable[[str], bool] | None = None
) -> tuple[Options, ...] | None:
    """The options of each table of a pattern, with its own path and its name as `schema.table`; None if the path
    is no pattern of tables. One listing finds them all.

    `is_table`: which directories are tables, of a source whose `path` is one directory. The paths of others are
    patterns of files, so that special characters in them are escaped.
    """
    pattern = options.string("path")
    if not PLACEHOLDER.search(pattern):
        return None
    folder = local_path(pattern)
    if folder is None:
        message = "folders of tables are looked for on this machine's disk only"
        diagnostics.error("PEN2004", message, options.span("path"), "list the tables: tables_configs = [{ path = … }]")
        return ()
    if "{table}" not in pattern:
        message = f"`{pattern}` does not say which part names the table"
        diagnostics.error("PEN2004", message, options.span("path"), 'path = "in/{database}/{table}"')
        return ()
    found = tuple(
        _named(options, path if is_table else glob.escape(path), table)
        for path, table in _tables(folder, options, diagnostics, is_table or (lambda _path: True))
    )
    if not found:
        diagnostics.error("PEN4002", f"{'no table' if is_table else 'nothing'} is at `{pattern}`", options.span("path"))
    return found


def _named(options: Options, path: str, table: TablePath) -> Options:
    schema = {**options.mapping("schema"), "table": str(table)}
    return replace(options, values={**options.values, "path": path, "schema": schema})


def _tables(
    pattern: str, options: Options, diagnostics: Diagnostics, is_table: Callable[[str], bool]
) -> Iterator[tuple[str, TablePath]]:
    """The paths that match the pattern, and their tables; a name with a dot is reported."""
    first: set[str] = set()
    parts = []
    for index, part in enumerate(PLACEHOLDER.split(pattern)):
        is_name = index % 2 == 1
        parts.append((f"(?P={part})" if part in first else f"(?P<{part}>[^/]+)") if is_name else _expression(part))
        first |= {part} if is_name else set()
    expression = re.compile("".join(parts))
    for path in sorted(glob.glob(PLACEHOLDER.sub("*", pattern))):
        match = expression.fullmatch(path)
        names = match.groupdict() if match else {}
        if match is None or any(is_hidden(name) for name in names.values()) or not is_table(path):
            continue
        if any("." in name for name in names.values()):
            message = f"`{path}` cannot be a table: its name has a dot, which separates the parts of a table's path"
            help = "rename it, or list the tables: tables_configs = [{ path = …, schema { table = … } }]"
            diagnostics.error("PEN4002", message, options.span("path"), help)
        else:
            yield path, TablePath(names["table"], names.get("schema"), names.get("database"))


def _expression(part: str) -> str:
    """A part of a glob as a regular expression."""
    return re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
