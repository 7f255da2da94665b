"""The origin of a text: files, spans in them, and values that know their location.

A `PlacedText` is what makes an error inside a query inside a HOCON string point into the job file: the front end
records which range of the file each range of the value was read from, and `span` maps back.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final


@dataclass(frozen=True, slots=True)
class Span:
    """A range in a file; lines and columns are 1-based, counted in characters, the end exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __reduce__(self) -> "tuple[type[Span], tuple[str | int, ...]]":
        """Faster to read back than what dataclasses do: a project has ten thousands of them."""
        return Span, (self.file, self.line, self.column, self.end_line, self.end_column)


_NEWLINE: Final = re.compile("\n")


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A file's name, as the user wrote it, and its text."""

    path: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        return (0, *(newline.end() for newline in _NEWLINE.finditer(self.text)))

    def span(self, start: int, end: int) -> Span:
        """The span of the characters `start` to `end` (offsets, 0-based, end exclusive)."""
        starts, last = self._line_starts, len(self.text)
        start = min(max(start, 0), last)
        end = min(max(start, end), last)
        line = bisect_right(starts, start)
        is_one_line = line == len(starts) or end < starts[line]  # as nearly always: no second search
        end_line = line if is_one_line else bisect_right(starts, end)
        return Span(self.path, line, start - starts[line - 1] + 1, end_line, end - starts[end_line - 1] + 1)


@dataclass(frozen=True, slots=True)
class Segment:
    """Characters `start` to `end` of a value were read from `file_start` to `file_end` of a file.

    Ranges of equal length map character by character; of unequal length (an escape, a variable), as a whole.
    """

    start: int
    end: int
    file_start: int
    file_end: int

    @property
    def is_verbatim(self) -> bool:
        return self.end - self.start == self.file_end - self.file_start


@dataclass(frozen=True, eq=False, slots=True)
class PlacedText:
    """A text value and the ranges of the file that it was read from, in order and without gaps."""

    value: str = field(repr=False)
    source: SourceFile
    segments: tuple[Segment, ...]

    @classmethod
    def verbatim(cls, source: SourceFile, start: int, end: int) -> "PlacedText":
        """The characters `start` to `end` of a file, unchanged."""
        return cls(source.text[start:end], source, (Segment(0, end - start, start, end),))

    @classmethod
    def bare(cls, value: str, file: str = "<text>") -> "PlacedText":
        """A text that is a file of its own (tests, generated queries)."""
        return cls.verbatim(SourceFile(file, value), 0, len(value))

    @classmethod
    def join(cls, parts: "Iterable[str | PlacedText]") -> "PlacedText":
        """Concatenate texts. Generated text takes the location of its neighbour: an error in it points there. All
        located parts are of the first part's file; parts of other files count as generated."""
        pieces = tuple(parts)
        source = next((part.source for part in pieces if isinstance(part, PlacedText)), None)
        value = "".join(part if isinstance(part, str) else part.value for part in pieces)
        if source is None:
            return cls.bare(value)
        first = next(part for part in pieces if isinstance(part, PlacedText) and part.segments)
        at, offset, segments = first.segments[0].file_start, 0, list[Segment]()
        for part in pieces:
            if isinstance(part, PlacedText) and part.source is source and part.segments:
                segments += (
                    replace(segment, start=segment.start + offset, end=segment.end + offset)
                    for segment in part.segments
                )
                at, length = part.segments[-1].file_end, len(part.value)
            else:
                length = len(part) if isinstance(part, str) else len(part.value)
                segments.append(Segment(offset, offset + length, at, at))
            offset += length
        return cls(value, source, tuple(segments))

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The location in the file of the value's characters `start` to `end` (end exclusive; default: all)."""
        last = len(self.value) if end is None else end
        return self.source.span(
            self._to_file(start, at_end=False), self._to_file(max(last, start), at_end=last > start)
        )

    def slice(self, start: int, end: int) -> "PlacedText":
        """The part `start` to `end` of this text, with its location."""
        segments = tuple(
            _clip(segment, start, end) for segment in self.segments if segment.start < end and segment.end > start
        )
        return PlacedText(self.value[start:end], self.source, segments)

    def _to_file(self, offset: int, *, at_end: bool) -> int:
        probe = offset - 1 if at_end else offset
        segment = (
            self.segments[max(bisect_right(self.segments, probe, key=_start_of) - 1, 0)] if self.segments else None
        )
        if segment is None or not segment.start <= probe < segment.end:
            return self.segments[-1].file_end if self.segments else 0
        if segment.is_verbatim:
            return segment.file_start + offset - segment.start
        return segment.file_end if at_end else segment.file_start


def _start_of(segment: Segment) -> int:
    return segment.start


def _clip(segment: Segment, start: int, end: int) -> Segment:
    first, last = max(segment.start, start), min(segment.end, end)
    if segment.is_verbatim:
        shift = segment.file_start - segment.start
        return Segment(first - start, last - start, first + shift, last + shift)
    return Segment(first - start, last - start, segment.file_start, segment.file_end)
