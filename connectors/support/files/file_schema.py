"""The columns of files, read without Spark: CSV header, Parquet and ORC footers, `column=value` directories."""

import csv
import glob
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from itertools import product
from typing import IO, TYPE_CHECKING, Final
from urllib.parse import unquote

from catalog.datatypes import (
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
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)
from catalog.diagnostics import nearest
from catalog.table import UNTYPED, Column
from catalog.typenames import parse_type
from connectors.support.spark_types import of_spark_json

if TYPE_CHECKING:
    import pyarrow

_ORC_TYPE: Final = b"spark.sql.catalyst.type"
HIVE_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
_SPARK_METADATA: Final = b"org.apache.spark.sql.parquet.row.metadata"


class UnknownSchemaError(Exception):
    """The columns cannot be read without Spark; `reason` is the end of a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnreadableFileError(UnknownSchemaError):
    """A file is damaged, or of another format: the run cannot read it either."""


class UnreadSchemaError(UnknownSchemaError):
    """Only Spark will read the columns: a package is not installed, or the files are not on this machine."""


def local_path(path: str) -> str | None:
    """The path on this machine's file system, or None if another file system holds it.

    As in Hadoop's `Path`, the rest of a `file:` URI is the literal path, without escapes.
    """
    if path.startswith("file:"):
        return "/" + path[len("file:") :].lstrip("/")
    return None if _SCHEME.match(path) else os.path.expanduser(path) if path.startswith("~") else path


def data_files(path: str) -> list[str]:
    """The files under a local path or pattern that Spark would read, sorted (no name begins with `_` or `.`)."""
    found: list[str] = []
    for root in _roots(path):
        found += [root] if os.path.isfile(root) else _files_below(root)
    return found


def _roots(path: str) -> list[str]:
    if not glob.has_magic(path) and "{" not in path:
        return [path] if os.path.lexists(path) else []
    return sorted({match for pattern in _expand_braces(path) for match in glob.glob(pattern)})


def spark_path(path: str) -> str:
    """The path for Spark, which does not expand `~`."""
    return os.path.expanduser(path) if path.startswith("~") else path


def target_folder(path: str) -> str:
    """The normalized path: on this machine's file system absolute, with links resolved."""
    local = local_path(path)
    return path.rstrip("/") if local is None else os.path.realpath(local)


def near_path(path: str) -> str | None:
    """What a local path that leads nowhere may mean: the first part of it that is wrong, set right; else None."""
    local = local_path(path)
    if local is None:
        return None
    right = os.sep if local.startswith(os.sep) else ""
    parts = [part for part in local.split(os.sep) if part]
    for index, part in enumerate(parts):
        if os.path.lexists(os.path.join(right, part)):
            right = os.path.join(right, part)
            continue
        folder = right or "."
        meant = _nearest(part, folder, os.stat(folder).st_mtime_ns) if os.path.isdir(folder) else None
        return None if meant is None or glob.has_magic(part) else os.path.join(right, meant, *parts[index + 1 :])
    return None


@lru_cache(maxsize=64)
def _nearest(name: str, folder: str, changed: int) -> str | None:
    """The nearest name in a directory that was last changed then. It is kept: the jobs of a folder often read files in
    one missing directory."""
    return nearest(name, [there for there in os.listdir(folder) if not is_hidden(there)])


def file_columns(kind: str, files: Sequence[str], read_csv_header: Callable[[str], list[str]] | None) -> list[Column]:
    """The columns of the first file; raises `UnknownSchemaError`."""
    if not files:
        raise UnknownSchemaError("no file is there")
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
        with _opened(file, encoding) as lines:
            names = next(csv.reader(lines, delimiter=delimiter, quotechar=quote), [])
    except UnicodeDecodeError as cause:
        raise UnknownSchemaError(f"`{file}` is not {encoding}, as `encoding` says") from cause
    except (OSError, LookupError, EOFError, TypeError, csv.Error) as cause:
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


def partition_columns(path: str, files: Iterable[str]) -> list[Column]:
    """The columns of `column=value` directories, with the types that Spark infers."""
    values: dict[str, list[str]] = {}
    root = path if os.path.isdir(path) else os.path.dirname(re.split(r"[*?\[{]", path)[0])
    for file in files:
        for part in os.path.relpath(os.path.dirname(file) or ".", root or ".").split(os.sep):
            name, equals, value = part.partition("=")
            if equals:
                values.setdefault(unquote(name), []).append(unquote(value))
    return [Column(name, _inferred(texts)) for name, texts in values.items()]


def _inferred(texts: list[str]) -> DataType:
    given = [text for text in texts if text != HIVE_NULL]
    for type, fits in _INFERENCE:
        if given and all(fits(text) for text in given):
            return type
    return STRING


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10


def _is_double(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) is not None


def _is_timestamp(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?", text) is not None


_INFERENCE: Final[tuple[tuple[DataType, Callable[[str], bool]], ...]] = (
    (INT, lambda text: re.fullmatch(r"[+-]?\d+", text) is not None and -(2**31) <= int(text) < 2**31),
    (BIGINT, lambda text: re.fullmatch(r"[+-]?\d+", text) is not None and -(2**63) <= int(text) < 2**63),
    (DOUBLE, _is_double),
    (DATE, _is_date),
    (TIMESTAMP, _is_timestamp),
)
"""The types that Spark tries for partition values, in its order (PartitioningUtils.inferPartitionColumnValue)."""


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
    from connectors.support.files.avro_schema import avro_columns  # here, since few jobs read Avro

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


def _files_below(root: str) -> list[str]:
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        found += [os.path.join(folder, name) for name in sorted(files) if not is_hidden(name)]
    return found


def is_hidden(name: str) -> bool:
    """Whether Spark's readers ignore a file or directory of this name."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _expand_braces(pattern: str) -> Iterator[str]:
    parts = re.split(r"\{([^{}]*)\}", pattern)
    for choice in product(*(part.split(",") for part in parts[1::2])):
        yield "".join(piece for pair in zip(parts[::2], (*choice, ""), strict=True) for piece in pair)
