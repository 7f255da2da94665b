"""One rule of the Assert sink, and the locations of its parts in the job file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import Span
from catalog.options import Options, Value
from connectors.shared.tolerated import report_tolerated


@dataclass(frozen=True, slots=True)
class AssertRule:
    """A rule: its description, and the Spark SQL predicate that valid rows satisfy (None: a rule on the row count)."""

    text: str
    span: Span | None
    keeps: str | None
    actual: str | None = None
    least: int | None = None
    most: int | None = None


def span_of(options: Options, location: str) -> Span | None:
    """The span of the location, or of the nearest enclosing one that is known."""
    while location:
        if location in options.places:
            return options.places[location]
        location = location.rpartition(".")[0]
    return options.span()


def blocks(
    block: Mapping[str, Value], key: str, location: str, options: Options, diagnostics: Diagnostics
) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """The objects of a list under a key, each with its location."""
    value = block.get(key)
    if value is None:
        return
    if not isinstance(value, Sequence) or isinstance(value, str):
        message = f"`{key}` must be a list of objects"
        diagnostics.error("PEN2004", message, span_of(options, f"{location}.{key}"), f"{key} = [{{ … }}]")
        return
    for index, item in enumerate(value):
        if isinstance(item, Mapping):
            yield f"{location}.{key}.{index}", item
        else:
            span = span_of(options, f"{location}.{key}.{index}")
            diagnostics.error("PEN2004", f"`{key}` must be a list of objects", span)


def check_keys(
    block: Mapping[str, Value], known: Sequence[str], location: str, options: Options, diagnostics: Diagnostics
) -> None:
    """Report keys that a rule does not have: an error, or a warning under `--compat seatunnel`, which passes over
    them."""
    for key in block:
        if key not in known:
            span = options.key_places.get(f"{location}.{key}") or span_of(options, f"{location}.{key}")
            help = did_you_mean(key, known)
            report_tolerated(options, diagnostics, "PEN2003", f"a rule has no `{key}`", span, help=help)


def unknown_rule(kind: str, known: Sequence[str], location: str, options: Options, diagnostics: Diagnostics) -> None:
    help = did_you_mean(kind, known) or "known: " + ", ".join(f"`{name}`" for name in known)
    diagnostics.error("PEN2004", f"unknown rule type `{kind}`", span_of(options, location), help)
