"""The tree of errors.

    PenstockError               carries one or more diagnostics
    ├── JobError                the job file or the command is wrong         exit code 2
    ├── RunError                the job failed while running                 exit code 1
    │   └── TransientError      … and a retry may succeed
    └── InternalError           a bug in Penstock                   exit code 1

An error that users can fix is a `Diagnostic`: code, message, location and remedy. A phase collects its diagnostics in a
`Diagnostics` list and continues, so that one run reports all of them. At its end it calls `raise_errors`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum

from catalog.diagnostics.codes import CODES
from catalog.diagnostics.source import Span


class Severity(str, Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, its location and its remedy. `also`: further locations with the same cause, in order."""

    code: str
    message: str
    span: Span | None = None
    help: str | None = None
    severity: Severity = Severity.ERROR
    notes: tuple[str, ...] = ()
    also: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"diagnostic code {self.code} is not in catalog/diagnostics/codes.py")

    def remarks(self) -> Iterator[tuple[str, str]]:
        """The labelled lines below the message: help, notes and further locations."""
        if self.help is not None:
            yield "help", self.help
        yield from (("note", note) for note in self.notes)
        if self.also:
            yield "also", ", ".join(self._short(span) for span in self.also)

    def _short(self, span: Span) -> str:
        is_same_file = self.span is not None and span.file == self.span.file
        return f"{span.line}:{span.column}" if is_same_file else str(span)


@dataclass(slots=True)
class Diagnostics:
    """The diagnostics collected so far, in order."""

    items: list[Diagnostic] = field(default_factory=list)

    def error(
        self, code: str, message: str, span: Span | None = None, help: str | None = None, notes: Iterable[str] = ()
    ) -> None:
        self.items.append(Diagnostic(code, message, span, help, Severity.ERROR, tuple(notes)))

    def warning(
        self, code: str, message: str, span: Span | None = None, help: str | None = None, notes: Iterable[str] = ()
    ) -> None:
        self.items.append(Diagnostic(code, message, span, help, Severity.WARNING, tuple(notes)))

    def extend(self, items: Iterable[Diagnostic]) -> None:
        self.items.extend(items)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def has_errors(self) -> bool:
        return bool(self.items) and any(item.severity is Severity.ERROR for item in self.items)

    def mark(self) -> "Mark":
        """This point in the list, to ask later what was reported after it."""
        return Mark(self, len(self.items))

    def raise_errors(self) -> None:
        """Raise a `JobError` with all diagnostics, warnings included, if one of them is an error."""
        if self.has_errors:
            raise JobError(self.items)


@dataclass(frozen=True, slots=True)
class Mark:
    """A point in a list of diagnostics, and what was reported after it: `mark.has_errors`, `list(mark)`."""

    diagnostics: Diagnostics
    position: int

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics.items[self.position :])

    @property
    def has_errors(self) -> bool:
        return not self.is_last and any(item.severity is Severity.ERROR for item in self)

    @property
    def is_last(self) -> bool:
        """Whether nothing was reported after it, no warning either."""
        return len(self.diagnostics) == self.position


class PenstockError(Exception):
    """The base class: an exception that carries diagnostics."""

    exit_code = 1

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"[{item.code}] {item.message}" for item in self.diagnostics))

    def __reduce__(self) -> tuple[object, ...]:
        """An error of another process is raised in this one."""
        return type(self), (self.diagnostics,)


class JobError(PenstockError):
    """The job file or the command is invalid; nothing was run."""

    exit_code = 2


class RunError(PenstockError):
    """The job failed while it ran."""


class TransientError(RunError):
    """Penstock itself found why the job failed, and a retry may succeed. Errors that were caused by another one are
    `RunError`s: the cause decides."""


class InternalError(PenstockError):
    """A bug in Penstock."""


def internal_error(error: Exception, *, where: str = "", verbose: bool = False) -> Diagnostic:
    """A bug in Penstock as PEN9001; `where`: the job in which it was met."""
    words = " ".join(str(error).split())
    message = f"{type(error).__name__}: {words[:300]}" if words else type(error).__name__
    command = f"`penstock explain {where} --verbose` shows" if where else "run it again with `--verbose` for"
    help = None if verbose else f"{command} the whole trace"
    return Diagnostic("PEN9001", f"in `{where}`: {message}" if where else message, help=help)


def job_error(code: str, message: str, span: Span | None = None, help: str | None = None) -> JobError:
    """A `JobError` of one diagnostic."""
    return JobError([Diagnostic(code, message, span, help)])


def run_error(
    code: str, message: str, span: Span | None = None, help: str | None = None, notes: Iterable[str] = ()
) -> RunError:
    """A `RunError` of one diagnostic."""
    return RunError([Diagnostic(code, message, span, help, Severity.ERROR, tuple(notes))])


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name closest to this one, ignoring case; None if none is near. `cutoff`: difflib's ratio."""
    folded = {candidate.lower(): candidate for candidate in sorted(known)}
    close = get_close_matches(name.lower(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the nearest of the known names, or all of them where they are few; None without any."""
    names = sorted(set(known))
    if close := nearest(name, names):
        return f"did you mean `{close}`?"
    return listed_names(names)


def listed_names(known: Iterable[str]) -> str | None:
    """A hint that lists the known names where they are few; None without any."""
    names = sorted(set(known))
    return "known: " + ", ".join(f"`{choice}`" for choice in names) if 0 < len(names) <= 8 else None
