"""The error of a value in a file that is not one of its column's type, with its line and column."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, RunError, run_error
from catalog.types.datatypes import DataType, Decimal
from catalog.types.typenames import parse_type
from connectors.files.bad_lines import cell_with, field_with, names_in_header
from connectors.files.file_options import file_format
from connectors.files.values.delimited import FIELD_DELIMITER
from connectors.shared.loose_json import UNFIT_VALUE
from connectors.storage.paths import data_files, local_path
from engine.plan.nodes import AnyNode, Scan
from engine.spark.failures.error_causes import ErrorCause

_HELP: Final = '`on_malformed = "null"` reads such values as NULL, `"drop"` leaves their rows out'
_DIGITS: Final = "declare a decimal with more digits behind the point, and round it in the query; "
_NULLS: Final = ("null", "none", "na", "n/a", "nil", "nan", "\\n", "-")
"""Words for a missing value."""
_GROUPS: Final = "groups of digits have three; "
_COMMA: Final = '`decimal_separator = ","` reads it as a fraction; '


def unfit_value(causes: Iterable[ErrorCause], nodes: tuple[AnyNode, ...]) -> RunError | None:
    """The error (PEN5004) of a value that `number_of_text` refused, among the causes of Spark's."""
    text = next((cause.message for cause in causes if cause.message.startswith(UNFIT_VALUE)), None)
    if text is None:
        return None
    facts = json.loads(text.removeprefix(UNFIT_VALUE))
    name, value = facts["column"], facts.get("value")
    scans = [node for node in nodes if isinstance(node, Scan) and _has(node, name, facts["type"])]
    at = next((cell for scan in scans if value and (cell := _cell(scan, name, value, _files(scan)))), None)
    if at is not None:
        return at.error()
    of = f" of `{scans[0].written_name}`" if scans else ""
    what = "NULL" if value is None else f"`{value}`"
    message = f"a row{of} does not fit the schema: `{name}` is {what}, and not {facts['type']}"
    help: str | None = _help(value or "", parse_type(facts["type"]))
    if scans and "on_malformed" not in scans[0].options.values:
        help = (help or "").removesuffix(_HELP).removesuffix("; ") or None
    return run_error("PEN5004", message, scans[0].options.span("schema") if scans else None, help)


def unfit_cell(scan: Scan, file: str, value: str, parsed: Sequence[str]) -> RunError | None:
    """The error of a value that Spark's reader of csv could not read; None if its line is not found.

    `parsed`: the values of the row as Spark shows them, `null` where one could not be read.
    """
    names = scan.table.schema.names
    if len(parsed) > len(names):
        return None
    is_in_order = not scan.options.get("csv_columns_by_name")
    candidates = [name for name, text in zip(names, parsed, strict=False) if text == "null"] if is_in_order else names
    found = next((cell for name in candidates if (cell := _cell(scan, name, value, [file]))), None)
    return None if found is None else found.error()


def unfit_field(scan: Scan, file: str, names: Iterable[str], value: str) -> RunError | None:
    """The error of a value that Spark's reader of JSON could not read, of one of these fields; None if its line is not
    found."""
    known = [name for name in names if scan.table.column(name) is not None]
    found = next((cell for name in known if (cell := _cell(scan, name, value, [file]))), None)
    return None if found is None else found.error()


@dataclass(frozen=True, slots=True)
class _Cell:
    scan: Scan
    name: str
    value: str
    file: str
    line: int
    column: int

    def error(self) -> RunError:
        of = f" of `{self.scan.written_name}`"
        column = self.scan.table.column(self.name)
        what = f"`{self.name}` is `{self.value}`, and not {column.type if column else 'readable'}"
        message = f"line {self.line} of `{self.file}`{of} does not fit the schema: {what}"
        place = f"{self.file}:{self.line}:{self.column}: "
        note = f"{place}{self.value}\n{' ' * len(place)}{'^' * len(self.value)}"
        span = self.scan.options.span("schema")
        help = _help(self.value, None if column is None else column.type)
        if self.value.strip().lower() in _NULLS and file_format(self.scan.options) in ("csv", "text"):
            help = f'`null_format = "{self.value}"` reads it as NULL; {help}'
        return RunError([Diagnostic("PEN5004", message, span, help, notes=(note,))])


def _help(value: str, type: DataType | None) -> str:
    if "," in value:
        return f"{_GROUPS}{_COMMA}{_HELP}"
    fraction = re.fullmatch(r"\s*[+-]?\d*\.(\d+)\s*", value)
    is_rounded = isinstance(type, Decimal) and fraction is not None and len(fraction[1].rstrip("0")) > type.scale
    return f"{_DIGITS}{_HELP}" if is_rounded else _HELP


def _has(scan: Scan, name: str, type: str) -> bool:
    column = scan.table.column(name)
    has_texts = scan.options.get("file_format_type") is not None or "pageing.page_field" in scan.options.values
    return column is not None and str(column.type) == type and has_texts


def _files(scan: Scan) -> list[str]:
    path = local_path(str(scan.options.get("path") or ""))
    return data_files(path) if path is not None else []


def _cell(scan: Scan, name: str, value: str, files: Iterable[str]) -> _Cell | None:
    """Where a value is in files of this machine; None if it is not found."""
    found: tuple[int, int] | None = None
    for file in files:
        kind = file_format(scan.options)
        if kind == "json":
            found = field_with(file, name, value)
        elif kind in ("csv", "text"):
            found = _delimited(scan, kind, name, value, file)
        if found is not None:
            return _Cell(scan, name, value, file, *found)
    return None


def _delimited(scan: Scan, kind: str, name: str, value: str, file: str) -> tuple[int, int] | None:
    """The line and column of a value in a file of delimited values, below its header."""
    options = scan.options
    delimiter = str(options.get("field_delimiter") or ("," if kind == "csv" else FIELD_DELIMITER))
    quote = str(options.get("quote_char") or "") if kind == "csv" else ""
    has_names = kind == "csv" and bool(options.get("csv_use_header_line"))
    skipped = 1 if has_names else int(str(options.get("skip_header_row_number") or 0))
    index = scan.table.schema.names.index(name)
    if options.get("csv_columns_by_name"):
        header = [column.lower() for column in names_in_header(file, delimiter, quote)]
        index = header.index(name.lower()) if name.lower() in header else index
    return cell_with(file, value, delimiter=delimiter, quote=quote, index=index, skipped=skipped)
