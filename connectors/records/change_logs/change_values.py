"""Values of a change log in the types of a schema: Spark SQL over the variants of a row's images."""

from dataclasses import dataclass
from typing import Final

from catalog.quoting import quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import (
    BINARY,
    DATE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VARIANT,
    Array,
    Decimal,
    Map,
    Struct,
    Time,
)
from catalog.types.typenames import to_ddl
from connectors.records.change_logs import debezium_values

UNAVAILABLE: Final = "__debezium_unavailable_value"
"""What Debezium writes for a value that the database did not send: an unchanged one, stored out of line (TOAST)."""


@dataclass(frozen=True, slots=True)
class ChangeValues:
    """How values of a format are read. `decimals`: `precise` (bytes in base64) or `string`, for Debezium.
    `is_seatunnel`: bits that are declared as a tinyint are 0, as in Apache SeaTunnel."""

    format: str
    decimals: str = "precise"
    is_seatunnel: bool = False

    @property
    def is_debezium(self) -> bool:
        return self.format == "debezium_json"

    def value(self, column: Column, text: str, found: str) -> str:
        """The value of a column, NULL where it cannot be read; `found` is the variant, `text` it as a text."""
        type = column.type
        if isinstance(type, Array | Map | Struct):
            return f"try_variant_get(try_parse_json({text}), '$', {quote_text(to_ddl(type))})"
        if type == STRING:
            return text
        if type == BINARY:
            is_latin = self.format == "canal_json"
            return f"encode({text}, 'ISO-8859-1')" if is_latin else f"try_to_binary({text}, 'base64')"
        if type == VARIANT:
            return f"coalesce(try_parse_json({text}), {found})"
        plain = f"try_cast({text} as {to_ddl(type)})"
        if not self.is_debezium:
            return plain
        if isinstance(type, Decimal) and self.decimals == "precise":
            return debezium_values.decimal(column.name, type, text, found)
        if type == DATE:
            return debezium_values.date(text)
        if type in (TIMESTAMP, TIMESTAMP_NTZ):
            return debezium_values.timestamp(column, text)
        if isinstance(type, Time):
            return debezium_values.time(column.name, type, text)
        if self.is_seatunnel and type == TINYINT:
            return debezium_values.whole_number(column.name, plain)
        return plain

    def needs_types(self, columns: list[Column]) -> bool:
        """Whether the types that a Debezium record may describe itself are looked at."""
        return self.is_debezium and any(
            isinstance(column.type, Decimal | Time)
            or column.type in (TIMESTAMP, TIMESTAMP_NTZ)
            or (self.is_seatunnel and column.type == TINYINT)
            for column in columns
        )
