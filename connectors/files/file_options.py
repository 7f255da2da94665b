"""Options of file formats, and their names in Spark's readers and writers.

SeaTunnel's names come first; the alternatives are Spark's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from catalog.options import SAVE_OPTIONS, Option, Options, OptionType
from catalog.outside import Fill
from connectors.files.foreign_files import OVERWRITE_FOREIGN_FILES
from connectors.interface.incremental import INCREMENTAL
from connectors.interface.schema_option import SCHEMA_OPTION
from connectors.interface.source import STREAM
from connectors.shared.loose_json import LOCALE

FORMATS: Final = ("csv", "json", "parquet", "orc", "text", "xml", "excel", "binary", "avro")
CODECS: Final = (
    "none", "gzip", "bzip2", "deflate", "lz4", "snappy", "zstd", "zlib", "lzo", "brotli", "xz",
)  # fmt: skip

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
    alternatives=("format", "file_format", "type"),
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
    Option(
        "encoding",
        OptionType.STRING,
        "The character set of csv, json, text and xml files, any that Java has.",
        default="UTF-8",
    ),
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
        "Pattern of timestamps in csv and json, in Spark's syntax. By default, ISO 8601 with microseconds is written.",
        alternatives=("timestampFormat", "timestamp_format"),
    ),
    Option("time_format", OptionType.STRING, "Pattern of times in written csv, json, text and excel files."),
    Option(
        "xml_row_tag",
        OptionType.STRING,
        "The element that holds one row; a source must name it, a sink writes `RECORD`.",
    ),
    Option(
        "xml_use_attr_format", OptionType.BOOLEAN, "Whether columns are attributes of the row's element.", default=False
    ),
    Option(
        "sheet_name", OptionType.STRING, "The sheet of a workbook; a source reads the first, a sink writes `Sheet0`."
    ),
    Option(
        "types_as_text",
        OptionType.BOOLEAN,
        "Whether types that the format lacks are texts in its files: times, and in csv arrays, maps and rows. Under "
        "`--compat seatunnel` they always are; else a column of such a type is an error.",
        default=False,
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
    STREAM,
    *TEXT_OPTIONS,
    Option(
        "csv_use_header_line",
        OptionType.BOOLEAN,
        "Whether the first line of a csv file holds the columns' names; with a `schema`, they must be its names.",
        default=False,
        alternatives=("header",),
    ),
    Option(
        "csv_columns_by_name",
        OptionType.BOOLEAN,
        "With `csv_use_header_line`: the columns of each csv file are found by the names of its own header, in any "
        "order. A column that a file lacks is NULL in its rows; without a `schema`, the columns are all that headers "
        "name.",
        default=False,
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
        "Lines to skip at the start of each csv, text or excel file. They are not compared with the `schema`. Several "
        "lines, or one of a text file of a single column: each file is read as a whole. An empty row of a workbook is "
        "a row of NULLs; the sheet ends with the last cell that has a value.",
        default=0,
        minimum=0,
    ),
    Option("read_columns", OptionType.LIST, "The columns to read (default: all).", element=OptionType.STRING),
    Option(
        "parse_partition_from_path",
        OptionType.BOOLEAN,
        "Whether directories named `column=value` are columns. Their types are inferred: a column is a string if its "
        "values are not all of one type, or if they have leading zeros (`01`).",
        default=True,
    ),
    Option(
        "file_filter_pattern",
        OptionType.STRING,
        "Reads only files whose name fits this pattern.",
        alternatives=("pathGlobFilter",),
    ),
    Option(
        "archive_compress_codec",
        OptionType.STRING,
        "The archives that the files are in: they are unpacked into a temporary directory when the job runs.",
        default="none",
        choices=("none", "zip", "tar", "tar_gz", "gz"),
    ),
    Option("filename_extension", OptionType.STRING, "Reads only files whose names end so: `.txt`."),
    Option(
        "file_filter_modified_start",
        OptionType.STRING,
        "Reads only files that were last modified at this time or later: `2024-02-29 12:30:00`, in UTC.",
    ),
    Option(
        "file_filter_modified_end",
        OptionType.STRING,
        "Reads only files that were last modified before this time: `2024-03-01 00:00:00`, in UTC.",
    ),
    INCREMENTAL,
    Option(
        "multi_line",
        OptionType.BOOLEAN,
        "Whether a csv value may span lines, or each json file is one object or one array of objects; a file that goes "
        "on after it fails the run. If it is not given, csv files separated by tabs, spaces or control characters are "
        "read so where they hold rows of empty values, which Spark omits from lines.",
        default=False,
    ),
    Option(
        "decimal_separator",
        OptionType.STRING,
        "The sign before the fraction of decimals in csv, text, xml and excel files, and of floating-point numbers "
        "where it is a comma. The other sign separates groups of three digits; a number that has it elsewhere "
        "(`1,10` with `.`) does not fit.",
        default=".",
        choices=(".", ","),
    ),
    Option(
        "missing_columns",
        OptionType.STRING,
        "What happens where files lack a declared column, which is read as NULL: with `fail`, it is an error if no "
        "file holds it, and a warning if some do; `allow` expects such files.",
        default="fail",
        choices=("fail", "allow"),
    ),
    Option(
        "on_malformed",
        OptionType.STRING,
        "What happens to a row that does not fit the schema: it fails the job, becomes NULLs or is dropped and counted "
        "as filtered. A decimal with more digits behind its point than its column has does not fit, nor, in csv files, "
        "a date with a time of day, or a time without a day.",
        default="fail",
        choices=("fail", "null", "drop"),
        alternatives=("mode",),
    ),
    Option(
        "encoding_errors",
        OptionType.STRING,
        "What happens to bytes of csv and text files that are not UTF-8: they fail the job, or each becomes U+FFFD, as "
        "in Spark.",
        default="fail",
        choices=("fail", "replace"),
    ),
)
SINK_OPTIONS: Final = (
    Option(
        "path",
        OptionType.STRING,
        "The directory to write, local or of any Hadoop file system.",
        required=True,
        fill=Fill.PATH,
    ),
    replace(FORMAT, required=False, default="csv"),
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
    Option("custom_filename", OptionType.BOOLEAN, "Whether files are named by `file_name_expression`.", default=False),
    Option(
        "file_name_expression",
        OptionType.STRING,
        "The name of a file without its extension, with `${transactionId}` (the run's id), `${now}` and `${uuid}`; "
        "`_<number>` follows unless `single_file_mode`.",
        default="${transactionId}",
        fill=Fill.PATH,
    ),
    Option("filename_time_format", OptionType.STRING, "Java's pattern of `${now}`.", default="yyyy.MM.dd"),
    Option(
        "filename_extension",
        OptionType.STRING,
        "The extension of the files, instead of the format's: `.dat`.",
        fill=Fill.PATH,
    ),
    Option("single_file_mode", OptionType.BOOLEAN, "Whether all rows go into one file.", default=False),
    Option("batch_size", OptionType.INTEGER, "The most rows of a file; not in `single_file_mode`.", minimum=1),
    Option(
        "have_partition",
        OptionType.BOOLEAN,
        "Under `--compat seatunnel`, `partition_by` has effect only where this is true.",
        default=False,
    ),
    Option(
        "partition_dir_expression",
        OptionType.STRING,
        "The directories of a row: `${k0}` is the first column of `partition_by`, `${v0}` its value. By default, "
        "`${k0}=${v0}/${k1}=${v1}` and so on.",
        default="${k0}=${v0}",
        fill=Fill.PATH,
    ),
    Option(
        "is_partition_field_write_in_file",
        OptionType.BOOLEAN,
        "Whether the columns of `partition_by` are in the files too.",
        default=False,
    ),
    Option(
        "is_enable_transaction",
        OptionType.BOOLEAN,
        "Whether custom names begin with `${transactionId}_`; files are committed in either case.",
        default=True,
    ),
    Option("xml_root_tag", OptionType.STRING, "The root element of written xml files.", default="RECORDS"),
    Option(
        "csv_string_quote_mode",
        OptionType.STRING,
        "Which csv values are quoted.",
        default="MINIMAL",
        choices=("MINIMAL", "ALL", "NONE"),
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
_JSON_OPTIONS: Final = (
    "row_delimiter", "encoding", "date_format", "datetime_format", "compress_codec", "file_filter_pattern",
)  # fmt: skip
_OF_FORMAT: Final[Mapping[str, tuple[str, ...]]] = {
    "csv": tuple(_SPARK_NAMES),
    "json": _JSON_OPTIONS,
    "text": (*_JSON_OPTIONS, "field_delimiter", "null_format"),
    "xml": ("encoding", "date_format", "datetime_format", "compress_codec", "file_filter_pattern", "null_format"),
    "excel": ("date_format", "datetime_format", "file_filter_pattern", "null_format"),
    "binary": ("file_filter_pattern",),
    "parquet": ("compress_codec", "file_filter_pattern"),
    "orc": ("compress_codec", "file_filter_pattern"),
    "avro": ("compress_codec", "file_filter_pattern"),
}
"""The options that a format uses; writing one for another format is an error."""

_ONLY_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "infer_schema": ("csv",),
    "csv_use_header_line": ("csv",),
    "csv_columns_by_name": ("csv",),
    "skip_header_row_number": ("csv", "text", "excel"),
    "enable_header_write": ("csv", "text"),
    "decimal_separator": ("csv", "text", "xml", "excel"),
}
TEXT_CODECS: Final = ("none", "bzip2", "gzip", "lz4", "snappy", "deflate", "lzo")
HADOOP_CODECS: Final = "io.compression.codecs"
"""Hadoop's setting that names codecs in addition to those it knows."""

_LZOP: Final = "io.airlift.compress.lzo.LzopCodec"
"""Hadoop's codec of `.lzo` files that Spark brings, without a name of its own in Spark."""

CODECS_OF_FORMAT: Final[Mapping[str, tuple[str, ...]]] = {
    "csv": TEXT_CODECS,
    "json": TEXT_CODECS,
    "text": TEXT_CODECS,
    "xml": TEXT_CODECS,
    "excel": ("none",),
    "binary": ("none",),
    "parquet": ("none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd"),
    "orc": ("none", "snappy", "zlib", "lzo", "zstd", "lz4", "brotli"),
    "avro": ("none", "snappy", "deflate", "bzip2", "xz", "zstd"),
}
BROUGHT_CODECS: Final[Mapping[str, tuple[str, ...]]] = {"parquet": ("lzo", "brotli"), "orc": ("brotli",)}
"""Codecs whose library neither Spark nor a Python package has: the cluster must bring it."""

_AVRO_CODECS: Final[Mapping[str, str]] = {"none": "uncompressed", "zstd": "zstandard"}
"""Codecs to which Spark's Avro writer gives another name."""

XML_ATTRIBUTE: Final = "_"
"""The prefix of columns that are attributes of the row's element."""

NO_QUOTE: Final = "\ufffe"
"""A character that does not occur in texts, for Spark's csv option `quote`, which needs one."""

_QUOTING: Final[Mapping[str, Mapping[str, str]]] = {
    "MINIMAL": {},
    "ALL": {"quoteAll": "true"},
    "NONE": {"quote": NO_QUOTE, "escape": NO_QUOTE},
}
_WHOLE_TEXTS: Final = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
"""Spark's csv writer would cut off the spaces around a text."""

MALFORMED_MODES: Final[Mapping[str, str]] = {"fail": "FAILFAST", "null": "PERMISSIVE", "drop": "PERMISSIVE"}
MALFORMED_RECORD: Final = "__penstock_malformed"
"""The column in which Spark's readers put the text of a row that does not fit, where such rows are dropped."""


def file_format(options: Options) -> str:
    return options.string("file_format_type").lower()


def misplaced(options: Options, names: tuple[str, ...]) -> tuple[str, ...]:
    """Options that the job sets although the format does not use them."""
    kind = file_format(options)
    heeded = _OF_FORMAT[kind]
    written = [name for name in options.places if name in names]
    return tuple(
        name
        for name in written
        if (name in _SPARK_NAMES and name not in heeded) or kind not in _ONLY_OF.get(name, FORMATS)
    )


def spark_options(options: Options) -> dict[str, str]:
    """The options that both reader and writer take, by Spark's names."""
    found = {}
    for name in _OF_FORMAT[file_format(options)]:
        value = options.get(name)
        if isinstance(value, str):
            found[_SPARK_NAMES[name]] = value.lower() if name == "compress_codec" else value
    if found.get("compression") == "lzo" and CODECS_OF_FORMAT[file_format(options)] is TEXT_CODECS:
        found["compression"] = _LZOP
    if found.get("lineSep") == "\n":
        del found["lineSep"]  # Spark's default, which reads `\r\n` too
    if file_format(options) == "csv":
        found.setdefault("escape", '"')  # RFC 4180: a quote in a value is doubled; Spark's default is a backslash
    return found


def reader_options(options: Options) -> dict[str, str]:
    """What `spark.read` gets for these options; a malformed row fails the job by default."""
    found = spark_options(options)
    found.pop("compression", None)  # Spark knows it from the file's name; the reader has no such option
    kind = file_format(options)
    if CODECS_OF_FORMAT[kind] is TEXT_CODECS:
        found[HADOOP_CODECS] = _LZOP
    if kind in ("csv", "json", "xml"):
        found["mode"] = MALFORMED_MODES[options.string("on_malformed").lower()]
        found["columnNameOfCorruptRecord"] = MALFORMED_RECORD
        found["multiLine"] = str(options.flag("multi_line")).lower()
    if kind == "json" and options.string("encoding").lower() != "utf-8":
        found.setdefault("lineSep", "\n")  # Spark does not know how other character sets end a line
    if kind == "json" and options.seatunnel is None and not any(map(options.get, ("date_format", "datetime_format"))):
        found["locale"] = LOCALE  # where a pattern is given, names of months are those of the default one
    if kind == "xml":
        found.pop("multiLine", None)
        found["rowTag"] = options.optional_string("xml_row_tag") or "RECORD"
        found["attributePrefix"] = XML_ATTRIBUTE
    if kind == "csv":
        has_names = options.flag("csv_use_header_line")
        found["header"] = str(has_names or options.integer("skip_header_row_number") == 1).lower()
        found["enforceSchema"] = str(not has_names).lower()
    return found


_MICROSECONDS: Final = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Spark's own default writes milliseconds, and cuts off the rest."""


def writer_options(options: Options) -> dict[str, str]:
    """What `df.write` gets for these options."""
    found = spark_options(options)
    batch_size = options.optional_integer("batch_size")
    if batch_size and not options.flag("single_file_mode"):  # as in SeaTunnel: the file is not split
        found["maxRecordsPerFile"] = str(batch_size)
    if file_format(options) == "csv":
        found["header"] = str(options.flag("enable_header_write")).lower()
        found |= _WHOLE_TEXTS
        found |= _QUOTING[options.string("csv_string_quote_mode").upper()]
    if file_format(options) == "xml":
        found["rootTag"] = options.string("xml_root_tag")
        found["rowTag"] = options.optional_string("xml_row_tag") or "RECORD"
        found["attributePrefix"] = XML_ATTRIBUTE
        found["declaration"] = f'version="1.0" encoding="{options.string("encoding")}"'
    if file_format(options) == "avro" and "compression" in found:
        found["compression"] = _AVRO_CODECS.get(found["compression"], found["compression"])
    if file_format(options) in ("csv", "json", "xml") and options.seatunnel is None:
        found = {**_MICROSECONDS, **found}
    if file_format(options) == "json":
        found["ignoreNullFields"] = "false"  # else a column that is NULL in all rows is lost
    return found


def partition_columns_of(options: Options) -> list[str]:
    """The columns whose values become directories."""
    if options.seatunnel is not None and not options.flag("have_partition"):
        return []
    return list(options.strings("partition_by"))
