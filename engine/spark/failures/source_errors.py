"""Reports Spark's errors about a source at the scan whose files they name."""

import codecs
import os
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from catalog.diagnostics.diagnostic import RunError, run_error
from connectors.files.bad_lines import line_not_utf8, line_with, values_of
from connectors.files.damaged_files import CORRUPT, CUT_OFF, NOT_COMPRESSED
from connectors.files.formats.whole_json import FIRST_VALUE_ONLY
from connectors.files.partition_columns import partition_columns
from connectors.kafka.offsets import topics_of
from connectors.storage.paths import data_files, local_path, near_path
from engine.plan.nodes import AnyNode, Scan
from engine.spark.failures.error_causes import NULL_COLUMN, ErrorCause
from engine.spark.failures.long_rows import LONG_ROW_HELP, long_row
from engine.spark.failures.unfit_values import unfit_cell, unfit_field

_CONDITIONS: Final = (
    "FAILED_READ_FILE",
    "MALFORMED_RECORD_IN_PARSING",
    "PATH_NOT_FOUND",
    "UNABLE_TO_INFER_SCHEMA",
    "NOT_NULL_ASSERT_VIOLATION",
    "CANNOT_READ_FILE_FOOTER",
    "DATA_SOURCE_NOT_FOUND",
    "INVALID_UTF8_STRING",
)
"""Error conditions of Spark that concern a source, whatever the action."""

_FILE: Final = re.compile(r"(?:reading file|CSV file:|Path does not exist:) (\S+?)\.?(?:\s|$)")
_ROW: Final = re.compile(r"Malformed \w+ record: (.*?)\.?$", re.M)
_PARSED: Final = re.compile(r"in record parsing: (.*?)\.?$", re.M)
_WRONG: Final = re.compile(r'For input string: "(.*?)"|and the value (.*?) of the JSON token')
_FIELD: Final = re.compile(r"Cannot parse the field name '(.*?)' and the value (.*) of the JSON token", re.S)
_OUT_OF_RANGE: Final = re.compile(r"Numeric value \((.*?)\) out of range of")
_UNDECODABLE: Final = re.compile(r"^Input length = \d+$|Invalid UTF-8", re.M)
_HEADER: Final = re.compile(r"^ *Header: (.*)\n *Schema: (.*)$", re.M)
_HEADER_SIZE: Final = re.compile(r"^ *Header length: (\d+), schema size: (\d+)", re.M)
_IN_READING: Final = re.compile(r"Encountered error while reading file \S+\s*")


_RECORD: Final = re.compile(r"^a record does not fit: .* \(topic (\S+), partition \d+, offset \d+\)", re.S)
"""How the Kafka source names a record that it cannot read."""

_NULL: Final = re.compile(rf"{re.escape(NULL_COLUMN)}(.*)")
_COMPRESSED: Final = (".gz", ".bz2", ".deflate", ".lz4", ".snappy", ".zst", ".zstd", ".xz", ".lzo")
_COLON: Final = re.compile(r"URISyntaxException: Relative path in absolute URI")
_TEXT: Final = re.compile(r"Text '(.*?)' could not be parsed|The value '(.*?)' of the type \"STRING\" cannot be cast")
_UNPARSED: Final = re.compile(r"Unexpected (?:character|end)|exceeds the maximum|maximum (?:allowed|length)")
_RENAME: Final = "rename the file, or read the folder above it"
_START: Final = 4096
"""How many bytes of a file tell its form."""

_HELP_MALFORMED: Final = '`on_malformed = "null"` reads what does not fit as NULL, `"drop"` leaves such rows out'

_SEVERAL_VALUES: Final = re.compile(rf".*{FIRST_VALUE_ONLY} (\S+)")


def is_of_source(causes: tuple[ErrorCause, ...]) -> bool:
    return any(
        (cause.condition or "").startswith(_CONDITIONS)
        or _RECORD.match(cause.message)
        or _SEVERAL_VALUES.match(cause.message)
        for cause in causes
    )


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """What is known of data that cannot be read: Java's causes, the files that they name, the scan that reads them."""

    causes: tuple[ErrorCause, ...]
    nodes: tuple[AnyNode, ...]
    files: list[str]
    scan: Scan | None

    @property
    def file(self) -> str:
        return f"`{_plain(self.files[0])}`" if self.files else "a source"

    @property
    def of(self) -> str:
        return f" of `{self.scan.written_name}`" if self.scan else ""

    def error(self, message: str, help: str | None = None, option: str = "path") -> RunError:
        """PEN5004 at the option of the scan."""
        return run_error("PEN5004", message, self.scan.options.span(option) if self.scan else None, help)

    def has(self, condition: str) -> bool:
        return any(cause.condition == condition for cause in self.causes)


def source_error(causes: tuple[ErrorCause, ...], nodes: tuple[AnyNode, ...]) -> RunError:
    """The error of unreadable data (PEN5004), at the scan that reads it."""
    if record := next(filter(None, (_RECORD.match(cause.message) for cause in causes)), None):
        return _record_error(record, nodes)
    if several := next(filter(None, (_SEVERAL_VALUES.match(cause.message) for cause in causes)), None):
        return _several_values(several.group(1), nodes)
    files = [found.group(1) for cause in causes for found in _FILE.finditer(cause.message)]
    found = _Unreadable(causes, nodes, files, _scan(files, nodes))
    return _of_bytes(found) or _of_rows(found) or _of_types(found)


def _of_bytes(found: _Unreadable) -> RunError | None:
    """The error of a path that is not there, or of a file that is no text of this format."""
    causes, files, scan, file, of = found.causes, found.files, found.scan, found.file, found.of
    if found.has("PATH_NOT_FOUND"):
        near = near_path(files[0]) if files else None
        relative = "a path without a scheme is relative to the directory where the command is run"
        help = f"did you mean `{near}`?" if near else relative
        return found.error(f"the path{of} does not exist: {file}", help)
    if binary := _binary_form(files, scan):
        return found.error(f"{file}{of} {binary[0]}", binary[1])
    if any(_is_not_utf8(cause) for cause in causes):
        bad = _line_not_utf8(files, scan, found.nodes)
        where = f"line {bad[1]} of `{bad[0]}`" if bad else file if files else "a text"
        help = '`encoding = "ISO-8859-1"` names another character set; `encoding_errors = "replace"` reads such bytes '
        return found.error(f"{where}{of} holds bytes that are not UTF-8", f"{help}as U+FFFD")
    if damaged := _damaged(files, causes):
        return found.error(f"{file}{of} {damaged[0]}", damaged[1])
    if _COLON.search("\n".join(cause.message for cause in causes)) and ":" in file:
        message = f"{file}{of} cannot be read: Hadoop takes the `:` in its name for the end of a scheme"
        return found.error(message, _RENAME)
    if (form := _other_form(files, scan)) and any(_is_malformed(cause) or _header(cause.message) for cause in causes):
        return found.error(f"{file}{of} {form[0]}", form[1], "encoding")
    return None


def _of_rows(found: _Unreadable) -> RunError | None:
    """The error of a row that does not fit the schema, of a header that is another, or of a NULL."""
    causes, file, of = found.causes, found.file, found.of
    if any(_is_malformed(cause) for cause in causes):
        return _malformed(found)
    if header := next(filter(None, (_header(cause.message) for cause in causes)), None):
        help = (
            "declare its names in their order; `csv_columns_by_name = true` finds columns by the header of each file; "
            "`skip_header_row_number = 1` skips it"
        )
        return found.error(f"the header of {file}{of} is not the schema's: {header}", help, "schema")
    if found.has("NOT_NULL_ASSERT_VIOLATION"):
        null = next((match[1] for cause in causes if (match := _NULL.search(cause.message))), None)
        column = "a column" if null is None else f"the column `{null}`"
        remedy = "declare the column without `nullable = false`, and leave such rows out in a query"
        return found.error(f"{column}{of} is NULL in a row, and the schema says that it has no NULL", remedy, "schema")
    return None


def _malformed(found: _Unreadable) -> RunError:
    causes, files, scan = found.causes, found.files, found.scan
    if scan and files and (cell := _unfit_cell(scan, files, causes)):
        return cell
    if scan and _UNPARSED.search(causes[-1].message) and (long := long_row([scan])):
        return found.error(f"{long}: a parser cannot hold it", LONG_ROW_HELP)
    row = _last(_ROW, causes)
    parsed = _last(_PARSED, causes)  # the values of the row, null where one could not be read
    if row is None and parsed and set(parsed.strip("[]").split(",")) != {"null"}:
        why = causes[-1].message
        row = parsed if _PARSED.search(why) else f"{parsed[:100]}: {why}"
    help = _HELP_MALFORMED
    if scan and row and _is_cut_off(row, scan):
        help = "`multi_line = true` reads values in quotes that go on in the next line"
    elif scan and row and _ROW.search(causes[-1].message) and (more := _other_values(row, scan)):
        help = more
    line = _line(files, causes)
    why = (row or causes[-1].message).partition("\n")[0][:200]
    message = f"{line or 'a row'} of {found.file}{found.of} does not fit the schema: {why}"
    return found.error(message, help, "schema")


def _of_types(found: _Unreadable) -> RunError:
    """The error of files that hold other types, and of what has no sentence of its own."""
    causes, files, scan, file, of = found.causes, found.files, found.scan, found.file, found.of
    why = _why(causes)
    name = f" ({of.strip()})" if of else ""
    message = f"{why}{name}" if files and _plain(files[0]) in why else f"{file}{of} cannot be read: {why}"
    if not any((cause.condition or "").endswith("PARQUET_COLUMN_DATA_TYPE_MISMATCH") for cause in causes):
        return found.error(message)
    if scan and scan.options.mapping("schema"):
        help = "files of this format hold their types: the `schema` may be left out"
        return found.error(message, help, "schema")
    help = "`file_filter_pattern` reads the files of one type; cast the rows of the others in a query, with UNION ALL"
    return found.error(f"{message}: the files have several types for it", help)


def _is_cut_off(row: str, scan: Scan) -> bool:
    """Whether the line of a CSV ends within quotes: read by lines, a value that goes on in the next one is two rows."""
    quote = scan.options.get("quote_char")
    return isinstance(quote, str) and bool(quote) and not scan.options.get("multi_line") and row.count(quote) % 2 == 1


def _damaged(files: list[str], causes: tuple[ErrorCause, ...]) -> tuple[str, str] | None:
    """What is wrong with a compressed file, and the remedy."""
    text = "\n".join(cause.message for cause in causes)
    if not files or not files[0].lower().endswith(_COMPRESSED):
        return None
    if NOT_COMPRESSED.search(text):
        return "is not compressed as its name says", "rename it, or compress it"
    if CUT_OFF.search(text):
        return "is a compressed file that is cut off, or none", "fetch or write it again: its end is missing"
    if CORRUPT.search(text):
        return "is a compressed file that is damaged", "fetch or write it again"
    return None


_MAGIC: Final = (
    (b"\x1f\x8b", "gzip", "give it a name that ends with `.gz`"),
    (b"PAR1", "Parquet", "file_format_type = parquet"),
    (b"ORC", "ORC", "file_format_type = orc"),
    (b"Obj\x01", "Avro", "file_format_type = avro"),
    (b"PK\x03\x04", "a zip archive, as workbooks are", "file_format_type = excel, or unpack it"),
)
"""The first bytes of files that hold no text, what they are, and how they are read."""


def _binary_form(files: list[str], scan: Scan | None) -> tuple[str, str] | None:
    """A local file that is read as text, and is none; not one that is decompressed by its name."""
    path = next((plain for file in files if os.path.isfile(plain := unquote(_plain(file)))), None)
    is_text = scan is not None and str(scan.options.get("file_format_type")).lower() in ("csv", "json", "text", "xml")
    if path is None or not is_text or path.endswith(_COMPRESSED):
        return None
    with open(path, "rb") as content:
        start = content.read(_START)
    return next(((f"is {form}, and no text", help) for magic, form, help in _MAGIC if start.startswith(magic)), None)


def _other_form(files: list[str], scan: Scan | None) -> tuple[str, str] | None:
    """A local file in another character set, or of JSON that spans lines, and the option that reads it."""
    path = next((plain for file in files if os.path.isfile(plain := unquote(_plain(file)))), None)
    if scan is None or path is None:
        return None
    with open(path, "rb") as content:
        start = content.read(_START)
    is_default = str(scan.options.get("encoding") or "utf-8").lower() == "utf-8"
    if is_default and start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        order = "LE" if start[:2] == codecs.BOM_UTF16_LE else "BE"
        return "is UTF-16", f'encoding = "UTF-16{order if scan.options.get("file_format_type") == "json" else ""}"'
    is_json = str(scan.options.get("file_format_type")).lower() == "json" and not scan.options.get("multi_line")
    first = start.decode("utf-8", "replace").lstrip("\ufeff \t\r\n").partition("\n")[0].strip()
    if is_json and (first in ("[", "{", "[{") or (first.startswith("[") and not first.endswith("]"))):
        return "holds JSON that spans lines", "`multi_line = true` reads each file as one value or array"
    return None


def _unfit_cell(scan: Scan, files: list[str], causes: tuple[ErrorCause, ...]) -> RunError | None:
    path = unquote(_plain(files[0]))
    for cause in causes:
        if found := _FIELD.search(cause.message):
            return unfit_field(scan, path, [found[1]], found[2])
        if found := _OUT_OF_RANGE.search(cause.message):
            return unfit_field(scan, path, scan.table.schema.names, found[1])
    texts = [found[1] or found[2] for cause in causes for found in _TEXT.finditer(cause.message)]
    wrong = [found[1] for cause in causes for found in _WRONG.finditer(cause.message) if found[1]] or texts
    parsed = (_last(_PARSED, causes) or "").strip("[]").split(",")
    return unfit_cell(scan, path, wrong[-1], parsed) if wrong else None


def _other_values(row: str, scan: Scan) -> str | None:
    """What to do where a line of a CSV has another number of values than the schema has columns: every line may."""
    path, delimiter = local_path(str(scan.options.get("path") or "")), str(scan.options.get("field_delimiter") or ",")
    of_path = partition_columns(path, data_files(path)) if path is not None else []
    columns = len(scan.table.schema.names) - len(of_path)
    values = values_of(row, delimiter, str(scan.options.get("quote_char") or ""))
    if str(scan.options.get("file_format_type")).lower() != "csv" or values == columns:
        return None
    return f"the line has {values} values, and the schema {columns} columns: declare all of them, in their order"


def _record_error(record: "re.Match[str]", nodes: tuple[AnyNode, ...]) -> RunError:
    scans = [node for node in nodes if isinstance(node, Scan) and node.options.get("topic") is not None]
    scan = next((scan for scan in scans if _consumes(scan, record.group(1))), None)
    span = scan.options.span("schema" if scan.options.mapping("schema") else "topic") if scan else None
    of = f" (in `{scan.written_name}`)" if scan else ""
    help = '`format_error_handle_way = "skip"` leaves such records out, `"mark"` yields them with the cause'
    return run_error("PEN5004", f"{' '.join(record.string.split())}{of}", span, help)


def _several_values(file: str, nodes: tuple[AnyNode, ...]) -> RunError:
    scan = _scan([file], nodes)
    of = f" of `{scan.written_name}`" if scan else ""
    message = f"`{_plain(file)}`{of} goes on after its first JSON value: `multi_line` reads one value of a file"
    help = "remove `multi_line` if each line is a value; else put the values into one array: `[…, …]`"
    return run_error("PEN5004", message, scan.options.span("multi_line") if scan else None, help)


def _consumes(scan: Scan, topic: str) -> bool:
    topics = topics_of(scan.options)
    return re.fullmatch(topics[0], topic) is not None if scan.options.flag("pattern") else topic in topics


def _is_not_utf8(cause: ErrorCause) -> bool:
    """Spark's condition for strings, and Java's message where its JSON reader decodes bytes."""
    return cause.condition == "INVALID_UTF8_STRING" or bool(_UNDECODABLE.search(cause.message))


def _line_not_utf8(files: list[str], scan: Scan | None, nodes: tuple[AnyNode, ...]) -> tuple[str, int] | None:
    """The first line that is not UTF-8 of the files named, else of those that the scans read from this machine."""
    scans = [scan] if scan else [node for node in nodes if isinstance(node, Scan)]
    paths = [local_path(str(scan.options.get("path") or "")) for scan in scans]
    local = [_plain(file) for file in files] or [file for path in paths if path for file in data_files(path)]
    return next(((file, line) for file in local if (line := line_not_utf8(file)) is not None), None)


def _line(files: list[str], causes: tuple[ErrorCause, ...]) -> str | None:
    """`line 3`, where one line alone has the values of the row and the text that does not fit."""
    parsed = _last(_PARSED, causes) or ""
    values = [value for value in parsed.strip("[]").split(",") if value != "null"]
    wrong = [found.group(1) or found.group(2) for cause in causes for found in _WRONG.finditer(cause.message)]
    row = _last(_ROW, causes)
    parts = [row] if row else [*values, *wrong[-1:]]
    number = line_with(_plain(files[0]), parts) if files and parts else None
    return f"line {number}" if number is not None else None


def _last(pattern: "re.Pattern[str]", causes: tuple[ErrorCause, ...]) -> str | None:
    """The match of the pattern in the innermost exception that has one."""
    return next((found.group(1) for cause in reversed(causes) if (found := pattern.search(cause.message))), None)


def _header(message: str) -> str | None:
    """Spark's message for a CSV header that differs from the schema."""
    if named := _HEADER.search(message):
        return f"it is `{named[1]}` instead of `{named[2]}`"
    if sized := _HEADER_SIZE.search(message):
        return f"it has {sized[1]} in place of {sized[2]} names; `field_delimiter` sets the separator"
    return None


def _why(causes: tuple[ErrorCause, ...]) -> str:
    """The cause: Spark's message without the file's name, else that of the next exception."""
    for cause in sorted(causes, key=lambda other: other.condition is None):
        text = "; ".join(line.strip() for line in _IN_READING.sub("", cause.message).split("\n") if line.strip())
        if text.strip("."):
            return text.rstrip(".").replace("file://", "").replace("file:/", "/")
    return "no reason is given"


def _scan(files: list[str], nodes: tuple[AnyNode, ...]) -> Scan | None:
    scans = [node for node in nodes if isinstance(node, Scan)]
    found = next((scan for scan in scans if any(_reads(scan, file) for file in files)), None)
    return scans[0] if found is None and len(scans) == 1 else found


def _reads(scan: Scan, file: str) -> bool:
    path = scan.options.get("path")
    if not isinstance(path, str):
        return False
    fixed = re.split(r"[*?\[{]", path.removeprefix("file://"))[0].strip("./")
    return bool(fixed) and fixed in file


def _plain(file: str) -> str:
    return file.removeprefix("file://").removeprefix("file:")


def _is_malformed(cause: ErrorCause) -> bool:
    return (cause.condition or "").startswith(("MALFORMED_RECORD_IN_PARSING", "MALFORMED_CSV_RECORD"))
