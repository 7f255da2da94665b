"""How a new table is partitioned: `region`, `days(ts)`, `bucket(16, id)`, `truncate(4, code)`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    DATE,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VARIANT,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    has_unknown,
)

_CALL: Final = re.compile(r"(\w+)\s*\((.*)\)\s*\Z", re.DOTALL)
_TIMES: Final[tuple[DataType, ...]] = (TIMESTAMP, TIMESTAMP_NTZ)
_WHOLE: Final[tuple[DataType, ...]] = (TINYINT, SMALLINT, INT, BIGINT)
_TAKES: Final[Mapping[str, tuple[DataType, ...]]] = {
    "year": (DATE, *_TIMES),
    "month": (DATE, *_TIMES),
    "day": (DATE, *_TIMES),
    "hour": _TIMES,
    "bucket": (*_WHOLE, DATE, *_TIMES, STRING, BINARY),
    "truncate": (*_WHOLE, STRING, BINARY),
}
"""Transform -> the types that it takes; `bucket` and `truncate` take decimals too (Iceberg's specification)."""


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One field of a partition specification; `transform` is Iceberg's name, `width` that of bucket and truncate."""

    column: str
    transform: str = "identity"
    width: int | None = None

    @property
    def sql(self) -> str:
        """The field in CREATE TABLE."""
        if self.transform == "identity":
            return quote(self.column)
        if self.width is not None:
            return f"{self.transform}({self.width}, {quote(self.column)})"
        return f"{self.transform}s({quote(self.column)})"

    def takes(self, type: DataType) -> bool:
        if has_unknown(type):
            return True
        if self.transform == "identity":
            return not isinstance(type, Array | Map | Struct) and type != VARIANT
        is_decimal = isinstance(type, Decimal) and self.width is not None
        return is_decimal or type in _TAKES[self.transform]


def parse_field(text: str) -> PartitionField:
    """Raises ValueError, with what is wrong."""
    call = _CALL.match(text.strip())
    if call is None:
        return PartitionField(_column(text))
    name, inside = call[1].lower(), call[2]
    transform = name.removesuffix("s")
    if transform in ("year", "month", "day", "hour"):
        return PartitionField(_column(inside), transform)
    if name in ("bucket", "truncate"):
        width, comma, column = inside.partition(",")
        if not comma or not width.strip().isdigit() or int(width) == 0:
            raise ValueError(f"`{name}` takes a number and a column: `{name}(16, id)`")
        return PartitionField(_column(column), name, int(width))
    raise ValueError(f"no partition transform `{name}`: there are years, months, days, hours, bucket and truncate")


def _column(text: str) -> str:
    name = text.strip()
    return name[1:-1].replace("``", "`") if len(name) > 2 and name[0] == name[-1] == "`" else name


def check_partitions(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report fields of `partition_by` that a new table cannot have (PEN2004, PEN4008)."""
    span = options.span("partition_by")
    for text in options.strings("partition_by"):
        try:
            field = parse_field(text)
        except ValueError as cause:
            diagnostics.error("PEN2004", str(cause), span)
            continue
        column = table.column(field.column)
        if column is None and not table.is_open:
            hint = did_you_mean(field.column, table.schema.names)
            diagnostics.error("PEN4008", f"no column `{field.column}` to partition the table by", span, hint)
        elif column is not None and not field.takes(column.type):
            message = f"a table cannot be partitioned by `{text}`: the column is of type {column.type}"
            diagnostics.error("PEN4008", message, span)


def specification(jvm: Any, schema: Any, fields: tuple[str, ...]) -> Any:
    """Iceberg's `PartitionSpec` for a schema of the JVM's."""
    builder = jvm.org.apache.iceberg.PartitionSpec.builderFor(schema).caseSensitive(False)
    for field in map(parse_field, fields):
        build = getattr(builder, field.transform)
        builder = build(field.column) if field.width is None else build(field.column, field.width)
    return builder.build()
