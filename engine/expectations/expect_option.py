"""The option with the expectations of a block."""

from collections.abc import Mapping
from typing import Final

from catalog.options import Option, Options, OptionType
from engine.job.model.job import Reference

EXPECTATIONS: Final = Option(
    "expectations",
    OptionType.LIST,
    'Rules that the rows must satisfy: `{ name, condition = "amount > 0" }` or `{ type = expect_…, column = …, … }`, '
    "each with `on_violation = FAIL | WARN | DROP | QUARANTINE` and, for the last, `quarantine = output`.",
    element=OptionType.MAP,
)


def rejects_of(options: Options) -> tuple[Reference, ...]:
    """The outputs into which the block quarantines rows (by its expectations, or as `TableRoute`), without duplicates,
    at their first location."""
    found = {reject.name.lower(): reject for reject in rejects_of_rules(options)}
    if isinstance(strays := options.get("quarantine"), str):
        found.setdefault(strays.lower(), Reference(strays, options.span("quarantine")))
    return tuple(found.values())


def rejects_of_rules(options: Options) -> tuple[Reference, ...]:
    """The outputs into which the block's expectations quarantine rows."""
    written = options.get("expectations")
    found: dict[str, Reference] = {}
    for index, rule in enumerate(written if isinstance(written, list | tuple) else ()):
        name = rule.get("quarantine") if isinstance(rule, Mapping) else None
        if isinstance(name, str):
            place = options.places.get(f"expectations.{index}.quarantine") or options.span("expectations")
            found.setdefault(name.lower(), Reference(name, place))
    return tuple(found.values())
