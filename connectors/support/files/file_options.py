"""Options of file formats, and what Spark's readers and writers call them.

SeaTunnel's names come first; the alternatives are Spark's, so that both kinds of user find theirs.
"""

from collections.abc import Mapping
from typing import Final

from connectors.support.files.foreign_files import OVERWRITE_FOREIGN_FILES
from connectors.support.option import SAVE_OPTIONS, Option, Options, OptionType
from connectors.support.schema_option import SCHEMA_OPTION

FORMATS: Final = ("csv", "json", "parquet", "orc", "text")
CODECS: Final = ("none", "gzip", "bzip2", "deflate", "lz4", "snappy", "zstd", "zlib", "lzo", "brotli")

PATH: Final = Option(
    "path",
    OptionType.STRING,
    "A file, a directory or a pattern (`*`, `?`, `[ab]`, `{a,b}`), local or of any Hadoop file system. With `{table}` "
    "in it (`in/{database}/{table}`), each path that fits is a table of a set.",
    required=True,
)
FORMAT: Final = Option(
    "file_format_type",
    OptionType.STRING,
    "The format of the files.",
    required=True,
    choices=FORMATS,
    alternatives=("format", "file_format"),
)
TEXT_OPTIONS: Final = (
    Option(
        "field_delimiter",
        OptionType.STRING,
        "The separator of the values in a csv line (default: `,`).",
        alternatives=("delimiter", "sep"),
    ),
    Option(
        "row_delimiter",
        OptionType.STRING,
        "The line separator of csv, json and text files.",
        alternatives=("lineSep", "line_sep"),
    ),
    Option("encoding", OptionType.STRING, "The character set of csv and json files.", default="UTF-8"),
    Option("quote_char", OptionType.STRING, "The quote character of csv values.", default='"', alternatives=("quote",)),
    Option(
        "escape_char", OptionType.STRING, "The character that escapes a quote in a csv value.", alternatives=("escape",)
    ),
    Option(
        "null_format",
        OptionType.STRING,
        "The text that means NULL in csv, in addition to an empty value.",
        alternatives=("nullValue", "null_value"),
    ),
    Option(
        "date_format",
        OptionType.STRING,
        "Pattern of dates in csv and json, in Spark's syntax.",
        alternatives=("dateFormat",),
    ),
    Option(
        "datetime_format",
        OptionType.STRING,
        "Pattern of timestamps in csv and json, in Spark's syntax.",
        alternatives=("timestampFormat", "timestamp_format"),
    ),
    Option(
        "compress_codec",
        OptionType.STRING,
        "Compression; when csv, json and text are read, the file's name decides.",
        choices=CODECS,
        alternatives=("compression",),
    ),
)
SOURCE_OPTIONS: Final = (
    PATH,
    FORMAT,
    SCHEMA_OPTION,
    *TEXT_OPTIONS,
    Option(
        "csv_use_header_line",
        OptionType.BOOLEAN,
        "Whether the first line of a csv file holds the columns' names; with a `schema`, they must be its names.",
        default=False,
        alternatives=("header",),
    ),
    Option(
        "infer_schema",
        OptionType.BOOLEAN,
        "Whether a run reads the types of a csv file's columns from its rows. `validate` does not know them then: "
        "`penstock schema sync` locks them instead.",
        default=False,
        alternatives=("inferSchema",),
    ),
    Option(
        "skip_header_row_number",
        OptionType.INTEGER,
        "Lines to skip at the start of a csv file: 0 or 1. The line is not compared with the `schema`.",
        default=0,
        minimum=0,
    ),
    Option("read_columns", OptionType.LIST, "The columns to read (default: all).", element=OptionType.STRING),
    Option(
        "parse_partition_from_path",
        OptionType.BOOLEAN,
        "Whether directories named `column=value` are columns.",
        default=True,
    ),
    Option(
        "file_filter_pattern",
        OptionType.STRING,
        "Reads only files whose name fits this pattern.",
        alternatives=("pathGlobFilter",),
    ),
    Option("multi_line", OptionType.BOOLEAN, "Whether a csv value or a json object may span lines.", default=False),
    Option(
        "on_malformed",
        OptionType.STRING,
        "What happens to a row that does not fit the schema: it fails the job, becomes NULLs or is dropped.",
        default="fail",
        choices=("fail", "null", "drop"),
        alternatives=("mode",),
    ),
)
SINK_OPTIONS: Final = (
    Option("path", OptionType.STRING, "The directory to write, local or of any Hadoop file system.", required=True),
    FORMAT,
    *TEXT_OPTIONS,
    Option(
        "enable_header_write",
        OptionType.BOOLEAN,
        "Whether each csv file starts with the columns' names.",
        default=False,
        alternatives=("header",),
    ),
    Option(
        "partition_by",
        OptionType.LIST,
        "Columns whose values become directories named `column=value`.",
        element=OptionType.STRING,
        alternatives=("partitionBy",),
    ),
    Option("sink_columns", OptionType.LIST, "The columns to write (default: all).", element=OptionType.STRING),
    Option(
        "file_count",
        OptionType.INTEGER,
        "Maximum number of files, per partition where there are partitions (default: one per task).",
        minimum=1,
    ),
    *SAVE_OPTIONS,
    OVERWRITE_FOREIGN_FILES,
)

_SPARK_NAMES: Final[Mapping[str, str]] = {
    "field_delimiter": "sep",
    "row_delimiter": "lineSep",
    "encoding": "encoding",
    "quote_char": "quote",
    "escape_char": "escape",
    "null_format": "nullValue",
    "date_format": "dateFormat",
    "datetime_format": "timestampFormat",
    "compress_codec": "compression",
    "file_filter_pattern": "pathGlobFilter",
}
_OF_FORMAT: Final[Mapping[str, tuple[str, ...]]] = {
    "csv": tuple(_SPARK_NAMES),
    "json": ("row_delimiter", "encoding", "date_format", "datetime_format", "compress_codec", "file_filter_pattern"),
    "text": ("row_delimiter", "compress_codec", "file_filter_pattern"),
    "parquet": ("compress_codec", "file_filter_pattern"),
    "orc": ("compress_codec", "file_filter_pattern"),
}
"""The options that a format heeds; one that is written for another format is a fault."""

CSV_ONLY: Final = ("infer_schema", "csv_use_header_line", "skip_header_row_number", "enable_header_write")
TEXT_CODECS: Final = ("none", "bzip2", "gzip", "lz4", "snappy", "deflate", "zstd")
CODECS_OF_FORMAT: Final[Mapping[str, tuple[str, ...]]] = {
    "csv": TEXT_CODECS,
    "json": TEXT_CODECS,
    "text": TEXT_CODECS,
    "parquet": ("none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd"),
    "orc": ("none", "snappy", "zlib", "lzo", "zstd", "lz4", "brotli"),
}
MALFORMED_MODES: Final[Mapping[str, str]] = {"fail": "FAILFAST", "null": "PERMISSIVE", "drop": "DROPMALFORMED"}


def file_format(options: Options) -> str:
    return options.string("file_format_type").lower()


def misplaced(options: Options, names: tuple[str, ...]) -> tuple[str, ...]:
    """Options that were written though the format does not heed them."""
    heeded = _OF_FORMAT[file_format(options)]
    written = [name for name in names if name in options.places]
    return tuple(
        name
        for name in written
        if (name in _SPARK_NAMES and name not in heeded) or (name in CSV_ONLY and file_format(options) != "csv")
    )


def spark_options(options: Options) -> dict[str, str]:
    """The options that both reader and writer take, by Spark's names."""
    found = {}
    for name in _OF_FORMAT[file_format(options)]:
        value = options.get(name)
        if isinstance(value, str):
            found[_SPARK_NAMES[name]] = value.lower() if name == "compress_codec" else value
    if file_format(options) == "csv":
        found.setdefault("escape", '"')  # RFC 4180: a quote in a value is doubled; Spark's default is a backslash
    return found


def reader_options(options: Options) -> dict[str, str]:
    """What `spark.read` gets for these options; a row that does not fit fails the job unless told otherwise."""
    found = spark_options(options)
    found.pop("compression", None)  # Spark knows it from the file's name; the reader has no such option
    kind = file_format(options)
    if kind in ("csv", "json"):
        found["mode"] = MALFORMED_MODES[options.string("on_malformed").lower()]
        found["multiLine"] = str(options.flag("multi_line")).lower()
    if kind == "csv":
        has_names = options.flag("csv_use_header_line")
        found["header"] = str(has_names or options.integer("skip_header_row_number") == 1).lower()
        found["enforceSchema"] = str(not has_names).lower()
    return found


def writer_options(options: Options) -> dict[str, str]:
    """What `df.write` gets for these options."""
    found = spark_options(options)
    if file_format(options) == "csv":
        found["header"] = str(options.flag("enable_header_write")).lower()
    if file_format(options) == "json":
        found["ignoreNullFields"] = "false"  # else a column that is NULL in all rows is lost
    return found
