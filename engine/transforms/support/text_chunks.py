"""Splits texts into chunks, in Spark's workers: it imports nothing of Penstock."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.transforms.support.arrow_rows import with_values

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Chunking:
    """Which column is split into which, and how long chunks and their overlap are, in code points."""

    text: str
    chunk: str
    index: str
    size: int
    overlap: int
    separators: Sequence[str]
    skips_empty: bool


def run(rules: Chunking, batches: "Iterator[pyarrow.RecordBatch]", schema: "pyarrow.Schema") -> Iterator[Any]:
    import pyarrow

    for batch in batches:
        rows: list[int] = []
        made: list[str | None] = []
        numbers: list[int] = []
        for row, text in enumerate(batch.column(batch.schema.get_field_index(rules.text)).to_pylist()):
            found: Sequence[str | None] = chunks(text, rules) if text else [] if rules.skips_empty else [None]
            rows += [row] * len(found)
            made += found
            numbers += range(len(found))
        yield with_values(
            batch.take(pyarrow.array(rows, pyarrow.int32())), {rules.chunk: made, rules.index: numbers}, schema
        )


def chunks(text: str, rules: Chunking) -> list[str]:
    """The text in chunks of at most `size`; each begins with whole pieces from the end of the one before."""
    if not rules.separators:
        step = rules.size - rules.overlap
        starts = range(0, max(len(text) - rules.overlap, 1), step)
        return [text[start : start + rules.size] for start in starts]
    found: list[str] = []
    held: list[str] = []
    length = 0
    for piece in _pieces(text, rules.separators, rules.size):
        if held and length + len(piece) > rules.size:
            found.append("".join(held))
            held = _tail(held, min(rules.overlap, rules.size - len(piece)))
            length = sum(map(len, held))
        held.append(piece)
        length += len(piece)
    return [*found, "".join(held)] if held else found


def _pieces(text: str, separators: Sequence[str], size: int) -> Iterator[str]:
    """The text at the first separator, each piece with its separator; what is too long at the next one."""
    if len(text) <= size:
        yield text
    elif not separators:
        yield from (text[start : start + size] for start in range(0, len(text), size))
    else:
        parts = text.split(separators[0])
        ends = [part + separators[0] for part in parts[:-1]]
        for part in [*ends, parts[-1]]:
            if part:
                yield from _pieces(part, separators[1:], size) if len(part) > size else (part,)


def _tail(pieces: Sequence[str], budget: int) -> list[str]:
    kept: list[str] = []
    for piece in reversed(pieces):
        if sum(map(len, kept)) + len(piece) > budget:
            break
        kept.insert(0, piece)
    return kept
