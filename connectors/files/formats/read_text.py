"""Reads lines of text as columns: by Spark's csv reader where that keeps every line, else by splitting them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import Column
from catalog.types.datatypes import STRING
from connectors.files.file_options import HADOOP_CODECS, file_format
from connectors.files.formats.readers import FileSet, given_options
from connectors.files.values.delimited import FIELD_DELIMITER, is_delimited
from connectors.files.values.malformed_rows import record_column
from connectors.files.values.stored_values import read_type, refuses_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OF_LINES: Final = ("encoding", "lineSep", "pathGlobFilter", HADOOP_CODECS)
_LONGEST_LINE_END: Final = 2
_LINE: Final = "__line"


def needs_lines(options: Options) -> bool:
    """Whether Penstock must split the lines: Spark skips at most one, and its line ends have at most two characters."""
    if file_format(options) not in ("csv", "text"):
        return False
    is_wide = options.string("encoding").lower().startswith(("utf-16", "utf-32"))
    return (
        options.integer("skip_header_row_number") > 1
        or len(options.optional_string("row_delimiter") or "") > _LONGEST_LINE_END
        or (is_wide and file_format(options) == "text")
    )


def delimited(files: FileSet) -> "DataFrame":
    """Columns of text, read by Spark's csv reader without quotes, or split where that would leave out rows."""
    options = files.options
    skips = options.integer("skip_header_row_number") == 1
    seems_blank = _may_seem_blank(options, files.in_files)
    if seems_blank and not skips:
        return _split(files)
    if len(files.in_files) == 1 and skips:
        return of_lines(files)
    texts = [Column(column.name, STRING) for column in files.in_files]
    given = {key: value for key, value in given_options(options).items() if key in _OF_LINES}
    opened = (
        files.reader("csv")
        .schema(columns_to_ddl([*texts, *files.of_path]))
        .options(
            **given,
            sep=_delimiter(options).replace("\\", "\\\\"),  # a backslash begins an escape there
            quote="",
            mode="PERMISSIVE",
            header=str(skips).lower(),
            multiLine=str(seems_blank).lower(),  # which leaves out empty lines only, but does not divide files
            enforceSchema="true",
            maxCharsPerColumn="-1",
        )
    )
    return files.load(opened)


def with_plain_delimiters(options: Options) -> Options:
    """The options of a source of text with `|` for `\\|`: its delimiters are regular expressions in SeaTunnel."""
    is_read = "read_columns" in options.values and str(options.get("file_format_type")).lower() == "text"
    if options.seatunnel is None or not is_read:
        return options
    texts = {name: options.get(name) for name in ("field_delimiter", "row_delimiter")}
    plain = {name: re.sub(r"\\([^\w\s])", r"\1", text) for name, text in texts.items() if isinstance(text, str)}
    return replace(options, values={**options.values, **plain})


def _delimiter(options: Options) -> str:
    return options.optional_string("field_delimiter") or FIELD_DELIMITER


def _may_seem_blank(options: Options, columns: Sequence[Column]) -> bool:
    """Whether a row of NULLs is a line that Spark's csv reader leaves out: it trims up to U+0020, the default `\\x01`
    too, and leaves out what is empty then."""
    return len(columns) == 1 or all(sign <= " " for sign in _delimiter(options))


def _split(files: FileSet) -> "DataFrame":
    """Columns of text, split from the lines of Spark's text reader."""
    options, of_path = files.options, files.of_path
    given = {key: value for key, value in given_options(options).items() if key in _OF_LINES}
    opened = files.reader("text").options(**given).schema(columns_to_ddl([Column(_LINE, STRING), *of_path]))
    lines = files.load(opened).where(_is_row(_LINE, files.in_files))
    parts = [quote(column.name) for column in of_path]
    text = f"validate_utf8({_LINE})" if refuses_bytes(options) else _LINE
    if options.string("encoding").lower() != "utf-8":
        text = f"decode(cast({_LINE} as binary), {quote_text(options.string('encoding'))})"
    cells = lines.selectExpr(f"split({text}, {quote_text(re.escape(_delimiter(options)))}, -1) as {_LINE}", *parts)
    return cells.selectExpr(*(f"get({_LINE}, {i}) as {quote(c.name)}" for i, c in enumerate(files.in_files)), *parts)


def _is_row(line: str, columns: Sequence[Column]) -> str:
    """Spark SQL for whether a line is a row: an empty one is the NULL of a single column."""
    return f"{line} <> ''" if len(columns) > 1 else "true"


def of_lines(files: FileSet) -> "DataFrame":
    """Rows from lines that are split out of whole files."""
    options, in_files, of_path = files.options, files.in_files, files.of_path
    end = options.optional_string("row_delimiter")
    pattern = r"\r?\n" if end in (None, "\n") else re.escape(str(end))
    content = f"decode(cast({_LINE} as binary), {quote_text(options.string('encoding'))})"
    parts = [quote(column.name) for column in of_path]
    opened = files.reader("text").options(**{HADOOP_CODECS: given_options(options)[HADOOP_CODECS]}, wholetext="true")
    opened = opened.schema(columns_to_ddl([Column(_LINE, STRING), *of_path]))
    whole = files.load(opened).selectExpr(f"split({content}, {quote_text(pattern)}, -1) as {_LINE}", *parts)
    ended = f"if(element_at({_LINE}, -1) = '', slice({_LINE}, 1, size({_LINE}) - 1), {_LINE})"
    lines = whole.selectExpr(f"posexplode({ended}) as (pos, line)", *parts)
    lines = lines.where(f"pos >= {options.integer('skip_header_row_number')} and {_is_row('line', in_files)}")
    if file_format(options) == "text":
        delimiter = quote_text(re.escape(_delimiter(options)))
        values = [f"get(split(line, {delimiter}, -1), {i}) as {quote(c.name)}" for i, c in enumerate(in_files)]
        if not is_delimited(options, in_files):
            values = [f"line as {quote(in_files[0].name)}"]
    else:
        stored = [*(Column(c.name, read_type(c, options)) for c in in_files), *record_column(options)]
        given = {
            k: v
            for k, v in given_options(options).items()
            if k not in ("lineSep", "header", "encoding", "enforceSchema", "multiLine", HADOOP_CODECS)
        }
        listed = ", ".join(f"{quote_text(key)}, {quote_text(value)}" for key, value in given.items())
        lines = lines.selectExpr(f"from_csv(line, {quote_text(columns_to_ddl(stored))}, map({listed})) as row", *parts)
        values = [f"row.{quote(column.name)}" for column in stored]
    return lines.selectExpr(*values, *parts)
