"""One row of each key."""

from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Deduplicate:
    """Spark's `dropDuplicates`; on a stream, `dropDuplicatesWithinWatermark`."""

    name: ClassVar[str] = "Deduplicate"
    doc: ClassVar[str] = (
        "Keeps one row of each key. Which one of rows that differ is not defined. On a stream it is the first to "
        "arrive, and a key is remembered until the watermark has passed its time: rows of one key that come further "
        "apart than `delay` of the `watermark` are kept."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("keys", OptionType.LIST, "The columns of the key.", required=True, element=OptionType.STRING),
    )
    is_expensive: ClassVar[bool] = True
    keeps_state: ClassVar[bool] = True

    def output(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable | None:
        keys = options.strings("keys")
        if not keys:
            diagnostics.error("PEN2004", "`keys` names no column", options.span("keys"), "keys = [id]")
            return None
        if table.has_row_kind:
            message = "rows of a change log cannot be deduplicated: a later one changes an earlier one"
            help = "put `FilterRowKind { include_kinds = [INSERT] }` before it to go on with inserts alone"
            diagnostics.error("PEN2016", message, options.span("keys"), help)
            return None
        named = {key: f"keys.{index}" for index, key in enumerate(keys)}
        return table if check_columns(table, named, options, diagnostics) else None

    def apply(self, df: "DataFrame", table: CatalogTable, options: Options) -> "DataFrame":
        keys = list(options.strings("keys"))
        return df.dropDuplicatesWithinWatermark(keys) if df.isStreaming else df.dropDuplicates(keys)


transform = Deduplicate()
