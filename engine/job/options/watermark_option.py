"""The option `watermark` of a source or a transform: the event time of its rows, and how late they come.

watermark { column = "at", delay = "10 minutes", idle.timeout = "5 minutes", late = sink }
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option, Options, OptionType, Value
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import TIMESTAMP, has_unknown
from connectors.interface.incremental import duration
from engine.job.model.job import Reference

WATERMARK: Final = Option(
    "watermark",
    OptionType.MAP,
    'The event time of the rows, and how late they come: `{ column = at, delay = "10 minutes" }`. In a streaming job, '
    "groups, joins of streams and `Deduplicate` forget by it what no later row needs. Of Kafka also `idle.timeout`: "
    "partitions without records for so long are not waited for; and `late = drop | sink`: with `sink`, rows that come "
    "too late are the output `<plugin_output>_late`.",
)
_KEYS: Final = ("column", "delay", "idle.timeout", "late")
_NEEDED: Final = _KEYS[:2]
LATE_SINK: Final = "sink"
_LATE: Final = ("drop", LATE_SINK)


@dataclass(frozen=True, slots=True)
class WatermarkOption:
    """`idle`: how long a partition without records is waited for (None: for ever); `has_late_rows`: rows that come too
    late are an output."""

    column: str
    delay: str
    idle: str | None = None
    has_late_rows: bool = False


def watermark_of(options: Options) -> WatermarkOption | None:
    """What a block declares; None where it declares nothing, or too little."""
    if options.get("watermark") is None:
        return None
    given = _given(options)
    column, delay, idle, late = (given.get(key) for key in _KEYS)
    if column is None or delay is None:
        return None
    has_late_rows = str(late).lower() == LATE_SINK
    return WatermarkOption(str(column), str(delay), None if idle is None else str(idle), has_late_rows)


def check_watermark(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report keys and values that cannot be meant, for rows of `table`."""
    if options.get("watermark") is None:
        return
    given = _given(options)
    for key in given:
        if key not in _KEYS:
            span = options.key_span(f"watermark.{key}")
            diagnostics.error("PEN2003", f"`watermark` has no `{key}`", span, did_you_mean(key, _KEYS))
    for key in _NEEDED:
        if given.get(key) is None:
            help = 'watermark { column = "at", delay = "10 minutes" }'
            diagnostics.error("PEN2005", f"`watermark` needs `{key}`", options.span("watermark"), help)
    declared = watermark_of(options)
    if declared is None:
        return
    for key, text in (("delay", declared.delay), ("idle.timeout", declared.idle)):
        if text is not None and duration(text) is None:
            message = f"`{key}` must be a duration, found `{text}`"
            diagnostics.error("PEN2004", message, options.span(f"watermark.{key}"), f'{key} = "10 minutes"')
    if (late := given.get("late")) is not None and str(late).lower() not in _LATE:
        message = f"`late` is `drop` or `sink`, found `{late}`"
        diagnostics.error("PEN2004", message, options.span("watermark.late"), did_you_mean(str(late), _LATE))
    column, span = table.column(declared.column), options.span("watermark.column")
    if column is None and not table.is_open:
        hint = did_you_mean(declared.column, table.schema.names)
        diagnostics.error("PEN4008", f"no column `{declared.column}` for the watermark", span, hint)
    elif column is not None and not has_unknown(column.type) and column.type != TIMESTAMP:
        message = f"the event time `{column.name}` must be a timestamp, and is {column.type}"
        help = "make it one by a query, and give the `watermark` to that transform"
        diagnostics.error("PEN4008", message, span, help)


def late_outputs(options: Options, outputs: Sequence[Reference]) -> tuple[Reference, ...]:
    """The output of the rows that come too late, where the block asks for one."""
    declared = watermark_of(options)
    if declared is None or not declared.has_late_rows:
        return ()
    return tuple(Reference(f"{output.name}_late", options.span("watermark")) for output in outputs[:1])


def _given(options: Options) -> dict[str, Value]:
    """The keys as they are written: `idle.timeout` is `timeout` in `idle` to HOCON."""
    found: dict[str, Value] = {}
    for key, value in options.mapping("watermark").items():
        found |= (
            {f"{key}.{name}": inner for name, inner in value.items()} if isinstance(value, Mapping) else {key: value}
        )
    return found
