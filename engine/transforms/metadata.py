"""`Metadata`: metadata of a row as columns."""

from typing import ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote_text
from catalog.tables.table import CatalogTable
from engine.transforms.base import row_kind_of, with_columns
from sql.rewrite.select_query import Select

_EMPTY: Final = {
    "EventTime": "BIGINT", "Delay": "BIGINT", "SourceTimestamp": "BIGINT", "BinlogFile": "STRING",
    "BinlogPos": "BIGINT", "BinlogRow": "INT", "Gtid": "STRING", "FilePath": "STRING", "FileCreateTime": "BIGINT",
    "FileUpdateTime": "BIGINT", "FileSize": "BIGINT", "FileType": "STRING", "Partition": "STRING",
}  # fmt: skip
"""Keys without a value in batch sources, and the type of their NULL."""
KEYS: Final = ("Database", "Table", "RowKind", *_EMPTY)


class Metadata:
    name: ClassVar[str] = "Metadata"
    doc: ClassVar[str] = (
        "Add columns with the database and table that a row comes from and its row kind. What only a change log knows "
        "(event time, delay, binlog position) is NULL in a batch."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "metadata_fields",
            OptionType.MAP,
            f"Key = the new column's name. Keys: {', '.join(f'`{key}`' for key in KEYS)}.",
        ),
    )

    reads_path: ClassVar[bool] = True

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        added: dict[str, str] = {}
        for key, name in options.mapping("metadata_fields").items():
            if key not in KEYS:
                span = options.key_span(f"metadata_fields.{key}")
                diagnostics.error("PEN2004", f"there is no metadata `{key}`", span, did_you_mean(key, KEYS))
            elif table.column(str(name)) is not None:
                span = options.span(f"metadata_fields.{key}")
                diagnostics.error("PEN2004", f"the input has a column `{name}`", span, "give another name")
            else:
                added[str(name)] = _value(key, table)
        if len(added) < len(options.mapping("metadata_fields")) or table.is_open:
            return None
        return with_columns(table, added)

    def keeps_row_kind(self, options: Options) -> bool:
        return True


def _value(key: str, table: CatalogTable) -> str:
    match key:
        case "Database":
            return quote_text(table.path.database or "default")
        case "Table":
            return quote_text(table.path.table)
        case "RowKind":
            return row_kind_of(table)
        case _:
            return f"CAST(NULL AS {_EMPTY[key]})"


transform = Metadata()
