"""The limits of what a job may cost to read: a job of somebody else neither hangs `validate` nor fills the memory.

    PENSTOCK_LIMITS="seconds=60,nodes=2000000" penstock validate jobs/

Whatever is above a limit ends as one error (PEN1601) with the limit's name, its value, and how to raise it.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import IO, Final

from catalog.diagnostics.diagnostic import Diagnostic, JobError
from catalog.diagnostics.source import Span

VARIABLE: Final = "PENSTOCK_LIMITS"


@dataclass(frozen=True, slots=True)
class Limits:
    """`seconds`: of the processor's time for one job. `megabytes`: of memory.

    `text`: characters of one file of a job, and of a value that substitutions make; `query`: of one query.
    `includes`: files that a job includes. `nodes`: values of a job, those that substitutions bring counted each time.
    `nesting`: levels of blocks and substitutions; `expression`, `calls`, `subqueries`: of a query, beyond which
    Spark cannot run it. `columns`: of one query or table. `digits`: of one number.
    `type_nodes`: types within one type; `type_nesting`: their levels. `header`: bytes of a schema file. `log`: bytes of
    a commit or a metadata file of a table. `paths`: what a pattern of paths stands for.
    """

    seconds: float = 3.8
    megabytes: int = 800
    text: int = 2_000_000
    query: int = 2_000_000
    includes: int = 300
    nodes: int = 300_000
    nesting: int = 1_000
    expression: int = 6_000
    calls: int = 2_000
    subqueries: int = 2_000
    columns: int = 10_000
    digits: int = 4_300
    type_nodes: int = 20_000
    type_nesting: int = 200
    header: int = 8_000_000
    log: int = 64_000_000
    paths: int = 10_000


class LimitError(JobError):
    """A job is above a limit; `limit` is its name."""

    def __init__(self, limit: str, span: Span | None = None, what: str = "") -> None:
        self.limit = limit
        value = getattr(limits(), limit)
        message = f"the limit `{limit}` of {value:,} is exceeded" + (f": {what}" if what else "")
        help = f"if the job is meant to be so large, raise it: {VARIABLE}={limit}={10 * value:g}"
        super().__init__([Diagnostic("PEN1601", message, span, help)])


def limit_behind(error: BaseException) -> str | None:
    """The name of the limit for which an error of Python's own stands; None for any other error."""
    match error:
        case RecursionError():
            return "nesting"
        case MemoryError():
            return "megabytes"
        case ValueError() if "for integer string conversion" in str(error):
            return "digits"
        case _:
            return None


def limits() -> Limits:
    """The limits of this process: the defaults, and what the environment says of them."""
    return _limits_of(os.environ.get(VARIABLE, ""))


def check(limit: str, value: float, span: Span | None = None, what: str = "") -> None:
    """Raises `LimitError` where the value is above the limit of that name."""
    if value > getattr(limits(), limit):
        raise LimitError(limit, span, what)


def regular_file(path: str | os.PathLike[str]) -> None:
    """Raises `OSError` for what never ends or waits for a writer: a pipe, a device."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise IsADirectoryError(21, os.strerror(21), str(path)) if os.path.isdir(path) else NotAFileError(path)


def read_small(path: str | os.PathLike[str], limit: str = "text") -> bytes:
    """The bytes of a regular file that is not above a limit. Raises `OSError`, `LimitError`."""
    regular_file(path)
    most = int(getattr(limits(), limit))
    with open(path, "rb") as file:
        found = file.read(most + 1)
    check(limit, len(found), None, f"`{os.fspath(path)}` is larger")
    return found


def read_start(file: IO[str]) -> str:
    """The beginning of a file of lines, up to the limit `header`; whole lines but for one that is longer."""
    return file.read(min(int(limits().header), 1_000_000))


class NotAFileError(OSError):
    """A pipe, a device, a socket."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(22, "it is no regular file", os.fspath(path))


@cache
def _limits_of(text: str) -> Limits:
    kinds: Mapping[str, object] = {field.name: field.type for field in fields(Limits)}
    given: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name in kinds and value.replace(".", "", 1).replace("e+", "", 1).isdigit():
            given[name] = float(value) if name == "seconds" else int(float(value))
    return replace(Limits(), **given)  # type: ignore[arg-type]
