"""The columns of files, read without Spark: CSV headers, Parquet and ORC footers, schemas of Avro files."""

import csv
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Final

from catalog.limits import read_start, regular_file
from catalog.tables.table import UNTYPED, Column
from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)
from catalog.types.typenames import parse_type
from connectors.shared.spark_types import of_spark_json

if TYPE_CHECKING:
    import pyarrow

_ORC_TYPE: Final = b"spark.sql.catalyst.type"
_SPARK_METADATA: Final = b"org.apache.spark.sql.parquet.row.metadata"


class UnknownSchemaError(Exception):
    """The columns cannot be read without Spark; `reason` is the end of a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@contextmanager
def foreign_shape(what: str) -> Iterator[None]:
    """Whatever a file that another program wrote lacks, or has in another shape, is an `UnknownSchemaError`."""
    try:
        yield
    except OSError as cause:
        raise UnknownSchemaError(f"{what} cannot be read: {cause.strerror or cause}") from cause
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as cause:
        raise UnknownSchemaError(f"{what} has another shape than its format says") from cause


class UnreadableFileError(UnknownSchemaError):
    """A file is damaged, or of another format: the run cannot read it either."""


class UnreadSchemaError(UnknownSchemaError):
    """Only Spark will read the columns: a package is not installed, or the files are not on this machine."""


def file_columns(kind: str, files: Sequence[str], read_csv_header: Callable[[str], list[str]] | None) -> list[Column]:
    """The columns of the first file; raises `UnknownSchemaError`."""
    if not files:
        raise UnknownSchemaError("no file is there")
    try:
        regular_file(files[0])  # a pipe would be waited for
    except OSError as cause:
        raise UnreadableFileError(f"`{files[0]}` cannot be read: {cause}") from cause
    match kind:
        case "text":
            return [Column("value", STRING)]
        case "parquet":
            return _arrow_columns(_parquet_schema, files[0])
        case "orc":
            return _arrow_columns(_orc_schema, files[0])
        case "avro":
            return _avro_columns(files[0])
        case "csv" if read_csv_header is not None:
            return [Column(name, STRING, options=UNTYPED) for name in read_csv_header(files[0])]
        case "csv":
            raise UnknownSchemaError("its lines have no names without `csv_use_header_line = true`")
    raise UnknownSchemaError(f"{kind} files do not hold their columns' types")


def csv_header(file: str, delimiter: str, quote: str, encoding: str) -> list[str]:
    """The names in the first line of a CSV file, plain or gzipped; raises `UnknownSchemaError`.

    As in Spark, a byte order mark is not part of the first name.
    """
    if not file.endswith((".csv", ".txt", ".gz")) and os.path.splitext(file)[1] in (".bz2", ".zst", ".lz4", ".snappy"):
        raise UnknownSchemaError(f"`{os.path.basename(file)}` has a compression that is not supported here")
    try:
        regular_file(file)
        with _opened(file, encoding) as lines:
            start = io.StringIO(read_start(lines), newline="")
            names = next(csv.reader(start, delimiter=delimiter, quotechar=quote), [])
    except UnicodeDecodeError as cause:
        raise UnknownSchemaError(f"`{file}` is not {encoding}, as `encoding` says") from cause
    except (OSError, LookupError, EOFError, TypeError, ValueError, zlib.error, csv.Error) as cause:
        raise UnreadableFileError(f"`{file}` cannot be read: {cause}") from cause
    if not names:
        raise UnknownSchemaError(f"`{file}` is empty")
    return [names[0].removeprefix("\ufeff"), *names[1:]]


def unfit_name(names: Sequence[str]) -> str | None:
    """Why a table cannot have the column names of a file, as the end of a sentence; None if they can."""
    seen: dict[str, str] = {}
    for place, name in enumerate(names, 1):
        if not name:
            return f"column {place} has no name"
        if first := seen.get(name.lower()):
            return f"two columns are named `{first}`" if name == first else f"`{first}` and `{name}` are one name"
        seen[name.lower()] = name
    return None


def _opened(file: str, encoding: str) -> IO[str]:
    if file.endswith(".gz"):
        import gzip  # here, since few files are compressed

        return gzip.open(file, "rt", encoding=encoding, newline="")
    return open(file, encoding=encoding, newline="")


def _arrow_columns(read: Callable[[str], tuple[Column, ...]], file: str) -> list[Column]:
    try:
        state = os.stat(file)
        return list(_of_version(read, file, (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)))
    except ImportError as cause:
        raise UnreadSchemaError("reading it without Spark needs pyarrow (pip install pyarrow)") from cause
    except (OSError, ValueError) as cause:
        raise UnreadableFileError(f"`{file}` cannot be read: {cause}") from cause


@lru_cache(maxsize=256)
def _of_version(
    read: Callable[[str], tuple[Column, ...]], file: str, version: tuple[int, int, int, int]
) -> tuple[Column, ...]:
    """The columns of a file as it was last written. They are kept: the jobs of a folder often read the same files."""
    return read(file)


def _avro_columns(file: str) -> list[Column]:
    from connectors.files.avro_schema import avro_columns  # here, since few jobs read Avro

    try:
        return avro_columns(file)
    except (OSError, ValueError, KeyError) as cause:
        raise UnknownSchemaError(f"`{file}` cannot be read: {cause}") from cause


def _parquet_schema(file: str) -> tuple[Column, ...]:
    import pyarrow.parquet

    opened = pyarrow.parquet.ParquetFile(file)
    written = (opened.schema_arrow.metadata or {}).get(_SPARK_METADATA)
    if written:
        fields = json.loads(written)["fields"]
        return tuple(Column(field["name"], of_spark_json(field["type"])) for field in fields)
    old_timestamps = {
        leaf.name
        for leaf in (opened.schema.column(i) for i in range(len(opened.schema)))
        if leaf.physical_type == "INT96"
    }
    return tuple(
        Column(field.name, TIMESTAMP if field.name in old_timestamps else _of_arrow(field.type))
        for field in opened.schema_arrow
    )


def _orc_schema(file: str) -> tuple[Column, ...]:
    import pyarrow.orc

    return tuple(Column(field.name, _of_orc(field)) for field in pyarrow.orc.ORCFile(file).schema)


def _of_orc(field: "pyarrow.Field") -> DataType:
    """ORC has one type for both kinds of timestamp: Spark reads it as a point in time by default."""
    written = (field.metadata or {}).get(_ORC_TYPE)
    return parse_type(written.decode()) if written else _with_points_in_time(_of_arrow(field.type))


def _with_points_in_time(type: DataType) -> DataType:
    match type:
        case Array(element):
            return Array(_with_points_in_time(element))
        case Map(key, value):
            return Map(_with_points_in_time(key), _with_points_in_time(value))
        case Struct(fields):
            return Struct(tuple(Field(field.name, _with_points_in_time(field.type)) for field in fields))
    return TIMESTAMP if type == TIMESTAMP_NTZ else type


def _of_arrow(type: "pyarrow.DataType") -> DataType:
    """The type that Spark gives a Parquet or ORC column which Arrow reads as this one."""
    import pyarrow.types as kinds

    if str(type) in _ARROW_NAMES:
        return _ARROW_NAMES[str(type)]
    if kinds.is_decimal(type):
        return Decimal(type.precision, type.scale)
    if kinds.is_timestamp(type):
        return TIMESTAMP_NTZ if type.tz is None else TIMESTAMP
    if kinds.is_list(type) or kinds.is_large_list(type):
        return Array(_of_arrow(type.value_type))
    if kinds.is_map(type):
        return Map(_of_arrow(type.key_type), _of_arrow(type.item_type))
    if kinds.is_struct(type):
        return Struct(tuple(Field(field.name, _of_arrow(field.type)) for field in type))
    if kinds.is_dictionary(type):
        return _of_arrow(type.value_type)
    if kinds.is_null(type):  # of a column of pandas without a value
        return VOID
    raise ValueError(f"the type {type} has no equivalent in Spark")


_ARROW_NAMES: Final[dict[str, DataType]] = {
    "bool": BOOLEAN,
    "int8": TINYINT,
    "int16": SMALLINT,
    "int32": INT,
    "int64": BIGINT,
    "uint8": SMALLINT,
    "uint16": INT,
    "uint32": BIGINT,
    "uint64": Decimal(20, 0),
    "float": FLOAT,
    "double": DOUBLE,
    "string": STRING,
    "large_string": STRING,
    "binary": BINARY,
    "large_binary": BINARY,
    "date32[day]": DATE,
}
