"""The calls in a job's SQL for which Spark executes an operator instead of the accelerator."""

import re
from dataclasses import replace
from typing import Final

from catalog.diagnostics.source import PlacedText
from engine.plan.nodes import Plan, Query
from engine.runtime.counting.native_share import Fallback, NativeShare

_FUNCTION: Final = re.compile(r"(?:^|[ ,])(\w+)(?:\([^)]*\))? is not (?:fully compatible|supported)")


def in_queries(native: NativeShare | None, plan: Plan) -> NativeShare | None:
    """The share, with the place of the function that a reason names, where one of the plan's queries calls it."""
    if native is None:
        return None
    texts = [node.body for node in plan.nodes() if isinstance(node, Query) and isinstance(node.body, PlacedText)]
    return replace(native, fallbacks=tuple(_placed(fallback, texts) for fallback in native.fallbacks))


def _placed(fallback: Fallback, texts: list[PlacedText]) -> Fallback:
    for function in _FUNCTION.findall(fallback.reason):
        for text in texts:
            if call := re.search(rf"\b{re.escape(function)}\s*\(", text.value, re.IGNORECASE):
                return replace(fallback, place=str(text.span(call.start(), call.start() + len(function))))
    return fallback
