"""The setting `interval` of a job: which stretches of time its runs do, one after the other.

env { interval { column = day, grain = day, start = "2024-01-01", lookback = 2 } }
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from engine.job.model.intervals import UTC, Grain, InputWindow, IntervalSpec, zone_of

INTERVAL_OPTIONS: Final = (
    Option("interval.column", OptionType.STRING,
           "The column by which a row belongs to an interval: a date or a timestamp (docs/intervals.md)."),
    Option("interval.grain", OptionType.STRING, "How long an interval is.", default=Grain.DAY.value,
           choices=tuple(grain.value for grain in Grain)),
    Option("interval.start", OptionType.STRING, "Where the first interval starts: `2024-01-01`, `2024-01-01 05:00`."),
    Option("interval.end", OptionType.STRING,
           "Where the last interval ends (default: the last one that is over when the job runs)."),
    Option("interval.timezone", OptionType.STRING, "The time zone of days, months and hours.", default=UTC),
    Option("interval.lookback", OptionType.INTEGER,
           "How many hours, days or months after its end an interval may still get rows: it is run again until then.",
           default=0, minimum=0),
    Option("interval.batch", OptionType.INTEGER, "The most intervals that one run does.", default=1, minimum=1),
    Option("interval.concurrency", OptionType.INTEGER, "How many runs are made at once.", default=1, minimum=1),
    Option("interval.inputs", OptionType.MAP,
           "Sources of which only some rows are read, by their names: `orders { column = day, before = 7, after = 0 }` "
           "reads the interval and seven before it."),
)  # fmt: skip

_FIRST_YEAR, _LAST_YEAR = 1800, 2999
"""Within them an hour of each day can be counted in a moment."""
_LONGEST_LOOKBACK = 100_000


def read_interval(options: Options, diagnostics: Diagnostics) -> IntervalSpec | None:
    """The intervals that `env` declares; None if it declares none, or something wrong, which is reported."""
    given = [option.name for option in INTERVAL_OPTIONS if option.name in options.places]
    if not given:
        return None
    mark = diagnostics.mark()
    for name in ("interval.column", "interval.start"):
        if options.get(name) is None:
            help = 'interval { column = day, grain = day, start = "2024-01-01" }'
            diagnostics.error("PEN2005", f"`interval` needs `{name.partition('.')[2]}`", options.span(given[0]), help)
    if options.string("job.mode") == "STREAMING":
        message = "a streaming job has no intervals: it reads rows as they come"
        diagnostics.error("PEN2011", message, options.span(given[0]), "leave `interval` out, or `job.mode`")
    zone = _zone(options, diagnostics)
    if mark.has_errors or zone is None:
        return None
    return _spec(options, zone, diagnostics)


def _zone(options: Options, diagnostics: Diagnostics) -> str | None:
    name = options.string("interval.timezone")
    if name.upper() in (UTC, "Z", "ETC/UTC"):
        return UTC
    try:
        zone_of(name)
    except ValueError:
        message = f"`{name}` is no time zone that this machine knows"
        diagnostics.error("PEN1650", message, options.span("interval.timezone"), 'timezone = "Europe/Berlin"')
        return None
    return name


def _spec(options: Options, zone: str, diagnostics: Diagnostics) -> IntervalSpec | None:
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    grain = next(grain for grain in Grain if grain.value == options.string("interval.grain").lower())
    bare = IntervalSpec(
        options.string("interval.column"), grain, epoch, zone=zone, lookback=options.integer("interval.lookback"),
        batch=options.integer("interval.batch"), concurrency=options.integer("interval.concurrency"),
    )  # fmt: skip
    if bare.lookback > _LONGEST_LOOKBACK:
        message = f"`lookback` is more than {_LONGEST_LOOKBACK:,} intervals"
        diagnostics.error("PEN1650", message, options.span("interval.lookback"), "count whole intervals: lookback = 3")
        return None
    start = _boundary(bare, options, "interval.start", diagnostics)
    end = _boundary(bare, options, "interval.end", diagnostics) if options.get("interval.end") is not None else None
    if start is None or (end is None and options.get("interval.end") is not None):
        return None
    if end is not None and end <= start:
        diagnostics.error("PEN1650", "`end` is not after `start`", options.span("interval.end"), "it is exclusive")
        return None
    return replace(bare, start=start, end=end, inputs=tuple(_inputs(bare, options, diagnostics)))


def _inputs(spec: IntervalSpec, options: Options, diagnostics: Diagnostics) -> Iterator[InputWindow]:
    for name, given in options.mapping("interval.inputs").items():
        own = given if isinstance(given, Mapping) else {}
        column, before, after = own.get("column", spec.column), own.get("before", 0), own.get("after", 0)
        unknown = own.keys() - {"column", "before", "after"}
        numbers = [_whole(before), _whole(after)]
        if not isinstance(given, Mapping) or unknown or not isinstance(column, str) or None in numbers:
            what = f"`{sorted(unknown)[0]}` is none of its settings" if unknown else "it has a value of another type"
            message = f"the window of the input `{name}`: {what}"
            help = "inputs { orders { column = day, before = 7, after = 0 } }, in intervals"
            diagnostics.error("PEN1669", message, options.span("interval.inputs"), help)
        else:
            yield InputWindow(name, column, numbers[0] or 0, numbers[1] or 0)


def _whole(value: object) -> int | None:
    """A number of intervals."""
    text = str(value)
    return int(text) if not isinstance(value, bool) and text.isdecimal() and len(text) < 5 else None


def _boundary(spec: IntervalSpec, options: Options, name: str, diagnostics: Diagnostics) -> datetime | None:
    text = options.string(name)
    try:
        return boundary(spec, text)
    except ValueError as error:
        diagnostics.error("PEN1650", f"`{name.partition('.')[2]}`: {error}", options.span(name), _example(spec))
        return None


def boundary(spec: IntervalSpec, text: str) -> datetime:
    """The boundary between two intervals that a text names. Raises `ValueError` with what is wrong."""
    try:
        instant = spec.parsed(text)
        is_far = not _FIRST_YEAR <= instant.year <= _LAST_YEAR
    except (ValueError, OverflowError):
        raise ValueError(f"`{text}` is no time") from None
    if is_far:
        raise ValueError(f"`{text}` is not between the years {_FIRST_YEAR} and {_LAST_YEAR}")
    if not spec.is_boundary(instant):
        before = spec.floor(instant)
        first, second = spec.boundary_label(before), spec.boundary_label(spec.after(before))
        raise ValueError(f"`{text}` is within one {spec.grain.value}: intervals begin at {first} and {second}")
    return instant


def _example(spec: IntervalSpec) -> str:
    text = {Grain.HOUR: "2024-01-01 05:00", Grain.DAY: "2024-01-01", Grain.MONTH: "2024-01"}[spec.grain]
    return f'for instance "{text}"'
