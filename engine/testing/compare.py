"""Compares rows as a multiset or in order, and shows the difference as a table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Row: TypeAlias = tuple[object, ...]
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Difference:
    """The `missing` and `unexpected` rows; `order`: only the order differs."""

    columns: tuple[str, ...]
    missing: tuple[Row, ...]
    unexpected: tuple[Row, ...]
    order: bool = False

    def __str__(self) -> str:
        if self.order:
            return "the rows are equal, but their order differs"
        lines = [("", *self.columns)]
        lines += [("-", *map(shown, row)) for row in self.missing[:SHOWN]]
        lines += [("+", *map(shown, row)) for row in self.unexpected[:SHOWN]]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        table = [
            " ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        hidden = max(0, len(self.missing) - SHOWN) + max(0, len(self.unexpected) - SHOWN)
        head = f"{len(self.missing)} missing (-), {len(self.unexpected)} unexpected (+)"
        return "\n".join([head, *table, *([f"… {hidden} more"] if hidden else [])])


def difference(
    columns: Sequence[str], expected: Sequence[Row], found: Sequence[Row], *, ordered: bool = False
) -> Difference | None:
    """What differs; None if nothing does. Nulls, decimals and nested values are compared exactly."""
    wanted, there = Counter(map(_key, expected)), Counter(map(_key, found))
    missing, unexpected = wanted - there, there - wanted
    if missing or unexpected:
        return Difference(tuple(columns), _rows(missing, expected), _rows(unexpected, found))
    if ordered and [*map(_key, expected)] != [*map(_key, found)]:
        return Difference(tuple(columns), (), (), order=True)
    return None


def shown(value: object) -> str:
    return "NULL" if value is None else str(value)


def _rows(counts: Counter[str], rows: Sequence[Row]) -> tuple[Row, ...]:
    left, result = Counter(counts), []
    for row in rows:
        if left[_key(row)] > 0:
            left[_key(row)] -= 1
            result.append(row)
    return tuple(result)


def _key(value: object) -> str:
    """A text that is equal only for equal values: `1` and `1.0` differ, maps do not by the order of their keys."""
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(f"{_key(k)}:{_key(v)}" for k, v in value.items())) + "}"
    if isinstance(value, tuple | list):
        return "[" + ",".join(map(_key, value)) + "]"
    return f"{type(value).__name__}:{value!r}"
