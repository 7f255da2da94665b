"""The columns that scd2 fills: start and end of a version, and whether it is the current one."""

from enum import Enum
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BOOLEAN, DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, UNKNOWN, DataType, is_numeric


class MissingKeys(str, Enum):
    """What scd2 does with current versions whose key is in no row."""

    KEEP = "keep"
    END = "end"


VERSION_COLUMNS: Final = (
    Option(
        "valid_from_column",
        OptionType.STRING,
        "For scd2: the column of a version's first instant.",
        default="valid_from",
    ),
    Option(
        "valid_to_column",
        OptionType.STRING,
        "For scd2: the column of a version's end; NULL while it is current.",
        default="valid_to",
    ),
    Option(
        "current_column",
        OptionType.STRING,
        "For scd2: the column that says whether a version is the current one.",
        default="is_current",
    ),
    Option(
        "missing_keys",
        OptionType.STRING,
        "For scd2: what becomes of the current version of a key that the rows lack. `end` ends it at the time of the "
        "run: for rows that are all there are, without incremental sources.",
        default=MissingKeys.KEEP.value,
        choices=tuple(choice.value for choice in MissingKeys),
    ),
)

VERSION_OPTIONS: Final = ("valid_from_column", "valid_to_column", "current_column")


def column_list(options: Options) -> tuple[str, ...]:
    """The three columns of scd2: start and end of a version, and whether it is the current one."""
    return tuple(options.string(name) for name in VERSION_OPTIONS)


def version_columns(options: Options) -> tuple[Column, ...]:
    """The same with the types that a new table has."""
    types = (TIMESTAMP, TIMESTAMP, BOOLEAN)
    return tuple(Column(name, type) for name, type in zip(column_list(options), types, strict=True))


_VERSIONS: Final[tuple[tuple[DataType, ...], ...]] = (
    (TIMESTAMP, TIMESTAMP_NTZ),
    (TIMESTAMP, TIMESTAMP_NTZ),
    (BOOLEAN,),
)
"""The types of the columns that scd2 fills: start and end of a version, and whether it is the current one."""


def check_versions(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """scd2 fills three columns itself; the start of a version is the value of `sequence_field`."""
    for option in VERSION_OPTIONS:
        name = options.string(option)
        if table.column(name) is not None:
            message = f"the rows have a column `{name}`, which write_mode scd2 fills itself"
            help = f'leave it out of the query, or name another column: {option} = "…"'
            diagnostics.error("PEN4003", message, options.span(option), help)
    sequence = options.optional_string("sequence_field")
    column = table.column(sequence) if sequence else None
    if column is not None and not _is_castable_to_timestamp(column.type):
        message = f"`{sequence}` of type {column.type} cannot be cast to timestamp, as write_mode scd2 does"
        diagnostics.error("PEN4008", message, options.span("sequence_field"), "name a column of dates or timestamps")


def _is_castable_to_timestamp(type: DataType) -> bool:
    return type in (DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING, UNKNOWN) or is_numeric(type)


def refuse_for_versions(table: CatalogTable, shown: str, options: Options, diagnostics: Diagnostics) -> None:
    """Report columns of versions that an existing table lacks, or has in another type (PEN4003)."""
    for name, types in zip(column_list(options), _VERSIONS, strict=True):
        column, span = table.column(name), options.span("write_mode")
        if column is None:
            message = f"write_mode scd2 needs the column `{name}`, which `{shown}` does not have"
            help = f"ALTER TABLE … ADD COLUMNS ({name} {types[0]}), and fill it for the rows that are there"
            diagnostics.error("PEN4003", message, span, help)
        elif column.type not in types:
            message = f"write_mode scd2 needs `{name}` as {types[0]}, in `{shown}` it is {column.type}"
            diagnostics.error("PEN4003", message, span, "name other columns: valid_from_column, valid_to_column, …")
    end = table.column(column_list(options)[1])
    if end is not None and not end.nullable:
        message = f"write_mode scd2 writes NULL into `{end.name}`, which is NOT NULL in `{shown}`"
        diagnostics.error("PEN4003", message, options.span("write_mode"), "ALTER TABLE … ALTER COLUMN … DROP NOT NULL")
