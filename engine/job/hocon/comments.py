"""The comments above the parts of a job file, each used once."""

from dataclasses import dataclass, field

from catalog.diagnostics.source import SourceFile

MARKS = ("--", "#", "//")


@dataclass(eq=False, slots=True)
class Comments:
    """The comments of a file; a line is returned only once."""

    source: SourceFile
    taken: set[int] = field(default_factory=set)
    lines: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = self.source.text.split("\n")

    def header(self) -> list[str]:
        """The lines of comments that the file starts with, after empty ones."""
        first = next((i for i, line in enumerate(self.lines) if line.strip()), 0)
        count = next((i for i, line in enumerate(self.lines[first:], first) if not _is_comment(line)), len(self.lines))
        return self._take(range(first, count))

    def above(self, offset: int) -> list[str]:
        """The lines of comments right above the line that holds the character at `offset`."""
        first = last = self.source.span(offset, offset).line - 1
        while first > 0 and _is_comment(self.lines[first - 1]):
            first -= 1
        return self._take(range(first, last))

    def _take(self, numbers: range) -> list[str]:
        found = [_plain(self.lines[number]) for number in numbers if number not in self.taken]
        self.taken.update(numbers)
        return found


def _is_comment(line: str) -> bool:
    return line.strip().startswith(MARKS)


def _plain(line: str) -> str:
    text = line.strip()
    return next((text[len(mark) :].strip() for mark in MARKS if text.startswith(mark)), text)
