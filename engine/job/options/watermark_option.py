"""The option `watermark` of a source or a transform: the event time of its rows, and how late they come.

watermark { column = "at", delay = "10 minutes" }
"""

from dataclasses import dataclass
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import TIMESTAMP, has_unknown
from connectors.interface.incremental import duration

WATERMARK: Final = Option(
    "watermark",
    OptionType.MAP,
    'The event time of the rows, and how late they come: `{ column = at, delay = "10 minutes" }`. In a streaming job, '
    "groups, joins of streams and `Deduplicate` forget by it what no later row needs.",
)
_KEYS: Final = ("column", "delay")


@dataclass(frozen=True, slots=True)
class WatermarkOption:
    column: str
    delay: str


def watermark_of(options: Options) -> WatermarkOption | None:
    """What a block declares; None where it declares nothing, or too little."""
    if options.get("watermark") is None:
        return None
    given = options.mapping("watermark")
    column, delay = (given.get(key) for key in _KEYS)
    return None if column is None or delay is None else WatermarkOption(str(column), str(delay))


def check_watermark(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report keys and values that cannot be meant, for rows of `table`."""
    if options.get("watermark") is None:
        return
    given = options.mapping("watermark")
    for key in given:
        if key not in _KEYS:
            span = options.key_span(f"watermark.{key}")
            diagnostics.error("PEN2003", f"`watermark` has no `{key}`", span, did_you_mean(key, _KEYS))
    for key in _KEYS:
        if given.get(key) is None:
            help = 'watermark { column = "at", delay = "10 minutes" }'
            diagnostics.error("PEN2005", f"`watermark` needs `{key}`", options.span("watermark"), help)
    declared = watermark_of(options)
    if declared is None:
        return
    if duration(declared.delay) is None:
        message = f"`delay` must be a duration, found `{declared.delay}`"
        diagnostics.error("PEN2004", message, options.span("watermark.delay"), 'delay = "10 minutes"')
    column, span = table.column(declared.column), options.span("watermark.column")
    if column is None and not table.is_open:
        hint = did_you_mean(declared.column, table.schema.names)
        diagnostics.error("PEN4008", f"no column `{declared.column}` for the watermark", span, hint)
    elif column is not None and not has_unknown(column.type) and column.type != TIMESTAMP:
        message = f"the event time `{column.name}` must be a timestamp, and is {column.type}"
        help = "make it one by a query, and give the `watermark` to that transform"
        diagnostics.error("PEN4008", message, span, help)
