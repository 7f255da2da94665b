"""The error of a number in a file that is not one of its column's type, with its line and column."""

import json
from collections.abc import Iterable
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, RunError
from connectors.files.bad_lines import cell_with
from connectors.files.file_options import file_format
from connectors.files.values.delimited import FIELD_DELIMITER
from connectors.files.values.number_texts import UNFIT_VALUE
from connectors.storage.paths import data_files, local_path
from engine.plan.nodes import AnyNode, Scan
from engine.spark.failures.error_causes import ErrorCause

_HELP: Final = '`on_malformed = "null"` reads such values as NULL, `"drop"` leaves their rows out'
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
    at = next(((scan, cell) for scan in scans if value and (cell := _cell(scan, name, value))), None)
    scan = at[0] if at else scans[0] if scans else None
    of = f" of `{scan.written_name}`" if scan else ""
    where = f"line {at[1][1]} of `{at[1][0]}`{of}" if at else f"a row{of}"
    what = "NULL" if value is None else f"`{value}`"
    message = f"{where} does not fit the schema: `{name}` is {what}, and not {facts['type']}"
    notes = (_underlined(*at[1], value),) if at else ()
    help = _HELP if value is None or "," not in value else f"{_GROUPS}{_COMMA}{_HELP}"
    span = scan.options.span("schema") if scan else None
    return RunError([Diagnostic("PEN5004", message, span, help, notes=notes)])


def _underlined(file: str, line: int, column: int, value: str) -> str:
    place = f"{file}:{line}:{column}: "
    return f"{place}{value}\n{' ' * len(place)}{'^' * len(value)}"


def _has(scan: Scan, name: str, type: str) -> bool:
    column = scan.table.column(name)
    return column is not None and str(column.type) == type and scan.options.get("file_format_type") is not None


def _cell(scan: Scan, name: str, value: str) -> tuple[str, int, int] | None:
    """The file of this machine, the line and the position of a value; None if it is not found."""
    kind, path = file_format(scan.options), local_path(str(scan.options.get("path") or ""))
    if path is None or kind not in ("csv", "text"):
        return None
    delimiter = str(scan.options.get("field_delimiter") or ("," if kind == "csv" else FIELD_DELIMITER))
    quote = str(scan.options.get("quote_char") or "") if kind == "csv" else ""
    index = scan.table.schema.names.index(name)
    for file in data_files(path):
        if found := cell_with(file, value, delimiter=delimiter, quote=quote, index=index):
            return file, *found
    return None
