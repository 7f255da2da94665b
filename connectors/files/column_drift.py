"""Compares the columns of a source's files with its table and with each other.

Spark reads a column that a file lacks as NULL, and leaves out one that the table does not have, without a word.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity, nearest
from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import Array, DataType, Map, Struct
from connectors.files.declared_files import header_of
from connectors.files.file_options import file_format
from connectors.files.file_schema import UnknownSchemaError, file_columns
from connectors.files.json_fields import json_columns

_MOST_REPORTED: Final = 3
"""The most files that are named, each with columns of its own."""
MOST_FILES: Final = 20
"""The most files that are looked at; of more, these are spread over all of them."""


def warn_of_drift(
    table: CatalogTable, options: Options, files: Sequence[str], parts: Sequence[Column], diagnostics: Diagnostics
) -> None:
    """Warn of files that lack a column of the table, or hold one that nobody reads while others do not (PEN4503).

    `parts`: the columns of directories. With `missing_columns = allow`, columns that a file lacks are expected.
    """
    if table.is_open or (file_format(options) == "csv" and not options.flag("csv_use_header_line")):
        return
    _report_held(table, options, dict(_held(options, sample(files))), parts, diagnostics)


def report_held(
    table: CatalogTable,
    options: Options,
    held: Mapping[str, Sequence[Column]],
    parts: Sequence[Column],
    diagnostics: Diagnostics,
) -> None:
    """The same for files whose columns are known."""
    _report_held(table, options, {file: dict(_paths(columns)) for file, columns in held.items()}, parts, diagnostics)


def _report_held(
    table: CatalogTable,
    options: Options,
    held: Mapping[str, Mapping[str, str]],
    parts: Sequence[Column],
    diagnostics: Diagnostics,
) -> None:
    """`held`: the names of each file's columns by those in lower case."""
    of_path = {column.name.lower() for column in parts}
    read = {path: name for path, name in _paths(table.columns) if path.partition(".")[0] not in of_path}
    in_all = set.intersection(*(set(paths) for paths in held.values())) if held else set()
    allows_missing = str(options.get("missing_columns")).lower() == "allow"
    reported: set[tuple[str, ...]] = set()
    for file, paths in held.items():
        missing = [read[path] for path in read if path not in paths and _parent(path) in (*paths, "")]
        unread = [paths[path] for path in paths if path not in read and (_parent(path) in read or not _parent(path))]
        is_drift = (missing and not allows_missing) or any(name.lower() not in in_all for name in unread)
        if is_drift and (*missing, *unread) not in reported and len(reported) < _MOST_REPORTED:
            reported.add((*missing, *unread))
            _report(file, missing, unread, options, diagnostics)


def sample(files: Sequence[str]) -> list[str]:
    """The files to look at: all of a few, else some of them, the first, the last and the newest among them."""
    if len(files) <= MOST_FILES:
        return list(files)
    step = (len(files) - 1) / (MOST_FILES - 2)
    newest = max(files, key=_changed)
    return list(dict.fromkeys([*(files[round(index * step)] for index in range(MOST_FILES - 1)), newest]))


def _changed(file: str) -> float:
    try:
        return os.stat(file).st_mtime
    except OSError:
        return 0


def _held(options: Options, files: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The columns of files, nested ones too, by their names in lower case; files that cannot be read are left out."""
    kind = file_format(options)
    for file in files:
        try:
            if kind == "csv":
                yield file, {name.lower(): name for name in header_of(options, file)}
            elif kind in ("parquet", "orc", "avro"):
                yield file, dict(_paths(file_columns(kind, [file], None)))
        except UnknownSchemaError:
            continue


def _paths(columns: Iterable[Column]) -> Iterator[tuple[str, str]]:
    for column in columns:
        yield column.name.lower(), column.name
        for below in _fields(column.type):
            yield f"{column.name}.{below}".lower(), f"{column.name}.{below}"


def _fields(type: DataType) -> Iterator[str]:
    match type:
        case Struct(fields):
            for field in fields:
                yield field.name
                yield from (f"{field.name}.{below}" for below in _fields(field.type))
        case Array(element):
            yield from _fields(element)
        case Map(_, value):
            yield from _fields(value)


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _report(
    file: str, missing: Sequence[str], unread: Sequence[str], options: Options, diagnostics: Diagnostics
) -> None:
    lacks = f"lacks {_listed(missing)}, read as NULL" if missing else ""
    holds = f"holds {_listed(unread)}, which nobody reads" if unread else ""
    message = f"`{file}` {' and '.join(part for part in (lacks, holds) if part)}"
    near = next((name for name in missing if nearest(name, unread)), None)
    help = f"was `{near}` renamed to `{nearest(near, unread)}`? " if near else ""
    help += "declare the columns of all files in `schema`, or convert the files; "
    if file_format(options) == "csv" and not options.flag("csv_columns_by_name"):
        help += "`csv_columns_by_name = true` finds columns by the header of each file; "
    help += "`missing_columns = allow` expects files that lack columns"
    diagnostics.warning("PEN4503", message, options.span("path"), help)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def check_json_fields(table: CatalogTable, options: Options, files: Sequence[str], diagnostics: Diagnostics) -> None:
    """Report fields of JSON that differ from the declared ones by case: Spark's reader matches them exactly (PEN3004).

    Only the first rows of some files are looked at. A declared field that none of these has, while they hold one of a
    similar name that is not read, or another one beside it, is a warning (PEN4503).
    """
    if file_format(options) != "json" or table.is_open:
        return
    report_json(
        table, options, {file: json_columns([file], options) for file in sample(files)[-_JSON_FILES:]}, diagnostics
    )


def report_json(
    table: CatalogTable, options: Options, found_in: Mapping[str, Mapping[str, None]], diagnostics: Diagnostics
) -> None:
    """The same for files of whose first rows the names of the fields are known."""
    declared = [name for _, name in _paths(table.columns)]
    in_some = {name for held in found_in.values() for name in held}
    problems: list[Diagnostic] = []
    for file, held in found_in.items():
        for name in declared if held else ():
            if name in held or _parent(name) not in (*held, ""):
                problems += [_two_names(name, other, file, options) for other in held if _differ_by_case(name, other)]
                continue
            unread = [found for found in held if found not in declared]
            if found := _field_problem(name, file, unread, options, is_in_some=name in in_some):
                problems.append(found)
    diagnostics.extend(sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR)[:1])


_JSON_FILES: Final = 4


def _differ_by_case(name: str, other: str) -> bool:
    return name != other and name.lower() == other.lower()


def _two_names(name: str, other: str, file: str, options: Options) -> Diagnostic:
    """The warning of a file that has a declared field, and one that differs from it by case, which is not read."""
    message = f"`{file}` holds `{name}` and `{other}`: where a row has only `{other}`, `{name}` is NULL"
    help = f"names of JSON are matched by case; write `{name}` in all rows"
    return Diagnostic("PEN4503", message, options.span("schema"), help, Severity.WARNING)


def _field_problem(
    name: str, file: str, unread: Sequence[str], options: Options, *, is_in_some: bool
) -> Diagnostic | None:
    """The diagnostic of a declared field that a file does not hold, where it holds a similar one that is not read;
    `is_in_some`: another file has it."""
    place = options.span("schema")
    if other := next((found for found in unread if found.lower() == name.lower()), None):
        message = f"the declared field `{name}` is `{other}` in `{file}`: names of JSON are matched by case"
        return Diagnostic("PEN3004", message, place, f"declare it `{other}`")
    if near := nearest(name, unread):
        message = f"the first rows of `{file}` lack `{name}`, which is read as NULL; they hold `{near}`"
        return Diagnostic("PEN4503", message, place, f"did you mean `{near}`?", Severity.WARNING)
    others = [found for found in unread if _parent(found) == _parent(name)]
    if others and not is_in_some and str(options.get("missing_columns")).lower() != "allow":
        message = f"the first rows of `{file}` lack `{name}`, which is read as NULL; they hold {_listed(others[:3])}"
        help = f"was it renamed to `{others[0]}`? `missing_columns = allow` expects rows that lack fields"
        return Diagnostic("PEN4503", f"{message}, which nobody reads", place, help, Severity.WARNING)
    return None
