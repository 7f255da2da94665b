"""The error of a value that the type of its target would change (`store_assignment = lossless`)."""

import json
import re
from collections.abc import Iterable
from typing import Final

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.tables.checked_cast import LOST_VALUE
from catalog.types.typenames import quote_name
from engine.plan.nodes import AnyNode
from engine.spark.failures.error_causes import ErrorCause

_MOST_SHOWN: Final = 40
_TIME_WITH_DIGITS: Final = re.compile(r"timestamp(?:_ntz)?\((\d)\)")
_MILLISECONDS: Final = 3


def lost_value(causes: Iterable[ErrorCause], node: AnyNode) -> RunError | None:
    """The error that a check of stored values raised, among the causes of Spark's."""
    text = next((cause.message for cause in causes if cause.message.startswith(LOST_VALUE)), None)
    if text is None:
        return None
    facts = json.loads(text.removeprefix(LOST_VALUE))
    if reason := facts.get("reason"):
        message = f"a value of `{facts['column']}` {reason} (in `{node.name}`)"
        return run_error("PEN5463", message, node.span, facts["remedy"])
    name, value = quote_name(facts["column"]), str(facts.get("value") or "")
    what = f"the value {value[:_MOST_SHOWN]} of `{facts['column']}`" if value else f"a value of `{facts['column']}`"
    message = f"{what}{_row(facts.get('row'))} is {facts['source']}, and does not fit {facts['target']} without loss"
    cast, tried = _casts(name, facts["target"])
    help = f"cast it in the query if that is meant: `{cast}`"
    if facts.get("declared"):
        help = f"declare it {facts['source']} in the `schema`, and cast it in the query if that is meant"
        return run_error("PEN5501", f"{message} (in `{node.name}`)", node.span, help)
    rows = f"; such rows: `WHERE {name} IS DISTINCT FROM {tried}`" if value else ""
    return run_error("PEN5501", f"{message} (in `{node.name}`)", node.span, help + rows)


def _casts(name: str, target: str) -> tuple[str, str]:
    """The cast to a type as messages show it, and one that is NULL where there is none."""
    if (digits := _TIME_WITH_DIGITS.fullmatch(target)) is not None:
        cut = f"date_trunc('{'SECOND' if int(digits[1]) < _MILLISECONDS else 'MILLISECOND'}', {name})"
        return cut, cut
    return f"CAST({name} AS {target})", f"TRY_CAST({name} AS {target})"


def _row(number: int | None) -> str:
    """Where the row is: monotonically increasing ids have the partition in their upper 31 bits."""
    if number is None:
        return ""
    partition, row = number >> 33, number & ((1 << 33) - 1)
    return f" in row {row + 1}" + (f" of partition {partition + 1}" if partition else "")
