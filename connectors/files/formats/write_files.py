"""Writes rows as files; Spark SQL before Spark's writers, and renames after them, add what they lack."""

import os
import re
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final
from urllib.parse import quote as escaped
from urllib.parse import unquote

from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.checked_cast import raise_moved
from catalog.tables.table import Column
from catalog.types.datatypes import DATE, TIMESTAMP, Array, Map, Struct
from catalog.types.typenames import to_ddl
from connectors.files.file_options import NO_QUOTE, XML_ATTRIBUTE, file_format, writer_options
from connectors.files.formats.read_files import allow_charset
from connectors.files.values.delimited import FIELD_DELIMITER, Formats, is_written_as_csv, line_of, to_text
from connectors.files.values.stored_values import are_attributes, stored_type
from connectors.shared.select_sql import select_sql
from connectors.shared.spark_types import columns_of
from connectors.storage.filesystem import Files, files_at
from connectors.storage.hadoop_files import HadoopFiles
from connectors.storage.local_files import LocalFiles
from connectors.storage.paths import is_hidden

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

_KEY: Final = "__partition_"
_NO_SEPARATOR: Final = "\uffff"
_MARK_OF_SUCCESS: Final = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
"""Hadoop's file `_SUCCESS`: the mark of the run's commit says more."""

_WORK_FOLDER: Final = "_temporary/0/_temporary"
"""Where Hadoop's committer has its tasks write, below the folder. Of each folder that it makes itself on a local disk,
it starts a process to set the permissions."""

_JAVA_TIME: Final = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "SSS": "%f",
}  # fmt: skip


def write_files(spark: "SparkSession", df: "DataFrame", folder: str, by: Sequence[str], options: Options) -> None:
    """Write the rows into a directory; `by` are the columns whose values are directories."""
    allow_charset(spark, options)
    keys = list(by)
    if by and options.flag("is_partition_field_write_in_file"):
        keys = [f"{_KEY}{name}" for name in by]
        df = df.selectExpr("*", *(f"{quote(name)} as {quote(key)}" for name, key in zip(by, keys, strict=True)))
    if options.flag("single_file_mode"):
        df = df.coalesce(1)
    kind = file_format(options)
    columns = [column for column in columns_of(df.schema) if column.name not in keys]
    if kind in ("excel", "binary"):
        _write_by_driver(spark, df, folder, kind, columns=columns, options=options)
        return
    files, path = files_at(spark, folder)
    if isinstance(files, LocalFiles):
        files.make_folder(f"{path}/{_WORK_FOLDER}")
    writer = _writer(df, kind, columns, keys, options).mode("append").option(_MARK_OF_SUCCESS, "false")
    (writer.partitionBy(*keys) if keys else writer).save(folder)


def _writer(
    df: "DataFrame", kind: str, columns: Sequence[Column], keys: Sequence[str], options: Options
) -> "DataFrameWriter":
    formats, kept = Formats.of(options), [quote(key) for key in keys]
    given = writer_options(options)
    if kind == "text":
        delimiter = options.optional_string("field_delimiter") or FIELD_DELIMITER
        formats = formats if options.seatunnel is None or formats.timestamp else Formats(
            formats.date, "yyyy-MM-dd HH:mm:ss", formats.time, formats.null
        )  # fmt: skip
        texts = [to_text(quote(column.name), column.type, formats) for column in columns]
        if len(texts) == 1 and is_written_as_csv(options):
            texts = [f"nullif({texts[0]}, '')"]  # Spark's csv format would omit the line
        line = line_of(texts, delimiter, formats)
        name = delimiter.join(column.name for column in columns) if options.flag("enable_header_write") else "value"
        return _text_writer(df.selectExpr(f"{line} as {quote(name)}", *kept), given, options)
    if kind == "csv" and len(columns) == 1 and not given.get("nullValue"):
        given["nullValue"] = 2 * options.string("quote_char")  # Spark writes no line for a row of an empty value
    values = []
    for column in columns:
        stored, name = stored_type(kind, column.type), quote(column.name)
        if are_attributes(options):  # Spark would write their internal values
            is_nested = isinstance(column.type, Array | Map | Struct)  # XML has not the characters that separate parts
            text = f"to_json({name})" if is_nested else to_text(name, column.type, formats)
            values.append(f"{text} as {quote(XML_ATTRIBUTE + column.name)}")
        elif kind == "orc" and column.type in (DATE, TIMESTAMP):
            values.append(f"{_within_its_calendar(column)} as {name}")
        elif stored == column.type:
            values.append(name)
        elif kind == "csv":
            values.append(f"{to_text(name, column.type, formats)} as {name}")
        else:
            values.append(f"cast({name} as {to_ddl(stored)}) as {name}")
    if (*values, *kept) != tuple(map(quote, df.columns)):  # each projection is a query that Spark analyzes
        df = select_sql(df, [*values, *kept])
    return df.write.format(kind).options(**given)


def _within_its_calendar(column: Column) -> str:
    """Spark SQL for a date or timestamp of ORC, whose calendar goes from 1582-10-04 to 1582-10-15: the days between
    them would be stored as the latter."""
    reason = "is from 1582-10-05 to 1582-10-14, which ORC's calendar leaves out"
    error = raise_moved(column.name, reason, "write it to another format, such as parquet")
    day = f"cast({quote(column.name)} as date)"
    is_between = f"{day} > date'1582-10-04' and {day} < date'1582-10-15'"
    return f"if({is_between}, {error}, {quote(column.name)})"


def _text_writer(df: "DataFrame", given: dict[str, str], options: Options) -> "DataFrameWriter":
    """Lines by Spark's text format; with a header or in another character set, by its csv format of one column."""
    common = {key: given[key] for key in ("lineSep", "compression", "maxRecordsPerFile") if key in given}
    if not is_written_as_csv(options):
        return df.write.format("text").options(**common)
    return df.write.format("csv").options(
        **common,
        encoding=options.string("encoding"),
        header=str(options.flag("enable_header_write")).lower(),
        sep=_NO_SEPARATOR,
        quote=NO_QUOTE,
        escape=NO_QUOTE,
        emptyValue="",
        nullValue="",
        ignoreLeadingWhiteSpace="false",
        ignoreTrailingWhiteSpace="false",
    )


def _write_by_driver(
    spark: "SparkSession", df: "DataFrame", folder: str, kind: str, *, columns: Sequence[Column], options: Options
) -> None:
    """A workbook has one writer, and the parts of a binary file are joined in order."""
    files, target = files_at(spark, folder)
    files.make_folder(target)
    with tempfile.TemporaryDirectory(prefix="penstock-") as scratch:
        if kind == "excel":
            from connectors.files.formats.workbooks import write_workbook

            name = f"part-00000-{_uuid()}.xlsx"
            write_workbook(df, os.path.join(scratch, name), options, columns)
            _put(files, os.path.join(scratch, name), f"{target}/{name}")
            return
        for row in df.selectExpr("relativePath", "data").orderBy("relativePath", *(
            ["partIndex"] if "partIndex" in df.columns else []
        )).toLocalIterator(prefetchPartitions=True):  # fmt: skip
            local = os.path.realpath(os.path.join(scratch, str(row[0])))
            if not local.startswith(os.path.realpath(scratch) + os.sep):
                raise OSError(f"the path `{row[0]}` of a binary row leads out of the target")
            os.makedirs(os.path.dirname(local), exist_ok=True)
            with open(local, "ab") as file:
                file.write(row[1])
        for root, _, names in os.walk(scratch):
            for name in names:
                local = os.path.join(root, name)
                _put(files, local, f"{target}/{os.path.relpath(local, scratch)}")


def _put(files: Files, local: str, target: str) -> None:
    files.make_folder(target.rpartition("/")[0])
    if isinstance(files, HadoopFiles):
        files.copy_from_local(local, target)
    else:
        os.replace(local, target) if os.stat(local).st_dev == os.stat(os.path.dirname(target)).st_dev else _copy(
            local, target
        )


def _copy(local: str, target: str) -> None:
    import shutil

    shutil.copyfile(local, target)


def rename_files(
    spark: "SparkSession", folder: str, target: str, by: Sequence[str], *, options: Options, run_id: str
) -> None:
    """Give staged files and their directories the names that the options ask for."""
    names = options.flag("custom_filename") or options.optional_string("filename_extension")
    moves = by and (
        options.flag("is_partition_field_write_in_file") or options.string("partition_dir_expression") != "${k0}=${v0}"
    )
    if not names and not moves:
        return
    files, staged = files_at(spark, folder)
    there, final = files_at(spark, target)
    number = 0
    for path in files.files(staged):
        inner, _, name = path.rpartition("/")
        if any(is_hidden(part) for part in path.split("/")):
            if moves or names:
                files.delete(f"{staged}/{path}")  # checksums, which are named after their files
            continue
        new_inner = _directories(inner, by, options) if moves else inner
        new_name = _name(name, number, options, run_id) if names else name
        number += 1
        new = f"{new_inner}/{new_name}" if new_inner else new_name
        if new != path and there.exists(f"{final}/{new}"):
            stem, dot, extension = new_name.partition(".")
            new = f"{new_inner}/" * bool(new_inner) + f"{stem}_{run_id}{dot}{extension}"
        if new != path:
            files.rename(f"{staged}/{path}", f"{staged}/{new}")
    if moves:
        for name in files.children(staged):
            _remove_empty(files, f"{staged}/{name}")


def _remove_empty(files: Files, folder: str) -> None:
    if files.is_file(folder):
        return
    for name in files.children(folder):
        _remove_empty(files, f"{folder}/{name}")
    files.delete_empty(folder)


def _directories(inner: str, by: Sequence[str], options: Options) -> str:
    """Rename `k=v` directories by `partition_dir_expression`."""
    expression = options.string("partition_dir_expression")
    values = [_directory(part.partition("=")[2]) for part in inner.split("/")]
    default = "/".join(
        f"{key}={value}" for key, value in zip(by, (p.partition("=")[2] for p in inner.split("/")), strict=False)
    )
    if expression.strip("/") in ("${k0}=${v0}", "${k0}=${v0}/${k1}=${v1}/.../${kn}=${vn}"):
        return default
    known = {f"${{k{index}}}": escaped(key, safe=_SAFE_IN_DIRECTORIES) for index, key in enumerate(by)}
    known |= {f"${{v{index}}}": value for index, value in enumerate(values)}
    pattern = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return re.sub(pattern, lambda found: known[found[0]], expression).strip("/")


_SAFE_IN_DIRECTORIES: Final = " !$&'()+,-.;=@_~"


def _directory(value: str) -> str:
    """The value of a partition as a directory: as it is, but for what ends a name, or hides it from readers."""
    text = unquote(value)
    is_safe = all(char.isprintable() and char not in '/\\*?[]{}:"#%' for char in text) and text[:1] not in (
        ".",
        "_",
        "~",
    )
    if is_safe and text == text.strip():
        return text
    return "".join(f"%{ord(char):02X}" if char in "._~ " else char for char in escaped(text, safe="=,+@"))


def _name(name: str, number: int, options: Options, run_id: str) -> str:
    stem, dot, extension = name.partition(".")
    if file_format(options) == "text":
        extension = re.sub("^csv", "txt", extension)
    if own := options.optional_string("filename_extension"):
        dot, extension = ".", own.removeprefix(".")
    if not options.flag("custom_filename"):
        return f"{stem}{dot}{extension}"
    expression = options.string("file_name_expression")
    if options.flag("is_enable_transaction") and "${transactionId}" not in expression:
        expression = f"${{transactionId}}_{expression}"
    now = _formatted(datetime.now(timezone.utc), options.string("filename_time_format"))
    for placeholder, value in (("transactionId", run_id), ("now", now), ("uuid", _uuid())):
        expression = expression.replace(f"${{{placeholder}}}", value)
    suffix = "" if options.flag("single_file_mode") else f"_{number}"
    return f"{expression}{suffix}{dot}{extension}"


def _uuid() -> str:
    from uuid import uuid4  # here, since importing it is slow and only some writes need it

    return str(uuid4())


def _formatted(moment: datetime, pattern: str) -> str:
    return re.sub("|".join(_JAVA_TIME), lambda match: moment.strftime(_JAVA_TIME[match[0]]), pattern)
