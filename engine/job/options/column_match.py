"""`match_columns`: how a sink matches the columns of several inputs.

Console { plugin_input = ["orders", "returns"], match_columns = name }
Console { plugin_input = ["orders", "returns", "gifts"], match_columns = [name, position] }
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from engine.job.model.job import ColumnMatch, Reference

MATCH_COLUMNS: Final = Option(
    "match_columns",
    OptionType.LIST,
    "How the columns of further inputs are matched with those of the first: `exact` (the default: equal names and "
    "types in equal order), `position` or `name`. A list has one for each further input.",
    element=OptionType.STRING,
    choices=tuple(match.value for match in ColumnMatch),
)


def with_matches(inputs: Sequence[Reference], options: Options, diagnostics: Diagnostics) -> tuple[Reference, ...]:
    """The inputs of a sink, each but the first with the match that `match_columns` names for it."""
    words = options.strings(MATCH_COLUMNS.name) if options.is_valid else ()
    further = inputs[1:]
    if words and len(words) not in (1, len(further)):
        message = f"`match_columns` has {len(words)} entries, not {len(further)}"
        help = "write one for all of them, or one for each input but the first"
        diagnostics.error("PEN2004", message, options.span(MATCH_COLUMNS.name), help)
    matches = [ColumnMatch(word.lower()) for word in words] or [ColumnMatch.EXACT]
    matches += [matches[-1]] * (len(further) - len(matches))
    return (*inputs[:1], *(replace(input, match=match) for input, match in zip(further, matches, strict=False)))
