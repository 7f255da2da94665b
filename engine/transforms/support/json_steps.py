"""A JSON path as its steps: `$.a['b'][0]` is `.a`, `['b']` and `[0]`."""

import re
from typing import Final, TypeAlias

Steps: TypeAlias = tuple[str, ...]

_STEP: Final = re.compile(r"\.(?:[^.\[\]'\"*$?@()]+)|\['[^']+'\]|\[\"[^\"]+\"\]|\[\d+\]|\[\*\]")


def steps_of(path: str) -> Steps | None:
    """The steps behind `$`; None for a path with anything else (filters, `..`, slices)."""
    text = path.strip()
    if not text.startswith("$"):
        return None
    steps: list[str] = []
    position = 1
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return None
        step = match.group()
        steps.append(f"['{step[2:-2]}']" if step.startswith('["') else step)
        position = match.end()
    return tuple(steps)
