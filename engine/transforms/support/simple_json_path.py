"""A simple JSON path as its steps: `$.a['b'][0]` is `.a`, `['b']` and `[0]`."""

import re
from typing import Final, TypeAlias

Steps: TypeAlias = tuple[str, ...]

_STEP: Final = re.compile(r"\.(?:[^.\[\]'\"*$?@()]+)|\['[^']+'\]|\[\"[^\"]+\"\]|\[\d+\]|\[\*\]")


def steps_of(path: str) -> tuple[Steps, str]:
    """The steps behind `$` that Spark can take, and the rest of the path, which begins with another: a filter, `..`, a
    slice or a function."""
    text = path.strip()
    steps: list[str] = []
    position = 1 if text.startswith("$") else 0
    while position and position < len(text):
        match = _STEP.match(text, position)
        if match is None or text.startswith("(", match.end()):
            break
        step = match.group()
        steps.append(f"['{step[2:-2]}']" if step.startswith('["') else step)
        position = match.end()
    return tuple(steps), text[position:]
