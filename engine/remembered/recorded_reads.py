"""Records what a block of code asks of the file system, so that it is known whether it would be answered the same."""

import os
import stat
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

Read: TypeAlias = tuple[str, str]
"""A question (what is at a path, what is there if links are not followed, what a folder has), and an absolute path."""

PATH: Final = "path"
LINK: Final = "link"
FOLDER: Final = "folder"


@dataclass(eq=False, slots=True)
class RecordedReads:
    """`is_whole`: nothing was done whose answer cannot be asked again: written files, processes, connections."""

    reads: set[Read] = field(default_factory=set)
    is_whole: bool = True

    def add(self, question: str, path: object) -> None:
        if isinstance(path, int):
            return  # a file that is open
        try:
            text = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]
        except TypeError:
            self.is_whole = False
            return
        if not f"{text}{os.sep}".startswith(_CODE) and not text.endswith(".pyc") and text != _OWN_MEMORY:
            self.reads.add((question, text))

    def add_all(self, other: "RecordedReads") -> None:
        """Add what was read before."""
        self.reads |= other.reads
        self.is_whole &= other.is_whole


_ROOT: Final = Path(__file__).parents[2]
_CODE: Final = tuple(
    f"{folder}{os.sep}"
    for folder in (
        *(_ROOT / name for name in ("catalog", "connectors", "engine", "sql")),
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    )
)
"""What is imported on the way: it is no answer."""
_OWN_MEMORY: Final = "/proc/self/status"
"""Of which the limits of a job are reckoned."""
_RECORDING: Final[ContextVar[RecordedReads | None]] = ContextVar("recording", default=None)
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_OUTSIDE: Final = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.", "urllib.",
                   "ctypes.", "shutil.", "tempfile.", "os.rename", "os.remove", "os.mkdir", "os.symlink")  # fmt: skip


@contextmanager
def recorded_reads() -> Iterator[RecordedReads]:
    """What the block reads. Only for a process that belongs to Penstock, since it watches all of it."""
    reads = RecordedReads()
    before = {name: getattr(os, name) for name in _WATCHED}
    encoded = os.environ.encodekey
    _watch_openings()
    token = _RECORDING.set(reads)
    for name, question in _WATCHED.items():
        setattr(os, name, partial(_asked, before[name], question))
    os.environ.encodekey = partial(_variable, encoded)
    try:
        yield reads
    finally:
        for name, function in before.items():
            setattr(os, name, function)
        os.environ.encodekey = encoded
        _RECORDING.reset(token)


_WATCHED: Final = {
    "stat": PATH,
    "access": PATH,
    "lstat": LINK,
    "readlink": LINK,
}
"""Functions of `os` that raise no event."""


def _asked(function: Callable[..., Any], question: str, path: Any, *arguments: Any, **named: Any) -> Any:
    reads = _RECORDING.get()
    if reads is not None:
        reads.is_whole &= named.get("dir_fd") is None
        reads.add(LINK if named.get("follow_symlinks") is False else question, path)
    return function(path, *arguments, **named)


OF_THE_SHELL: Final = ("_", "OLDPWD", "SHLVL")
"""Variables that change from one command to the next: a job that asks for one is not remembered."""


def _variable(function: Callable[[Any], Any], name: Any) -> Any:
    reads = _RECORDING.get()
    if reads is not None and name in OF_THE_SHELL:
        reads.is_whole = False
    return function(name)


_IS_WATCHING: Final[list[bool]] = []


def _watch_openings() -> None:
    """A hook of this process, which cannot be removed."""
    if not _IS_WATCHING:
        _IS_WATCHING.append(True)
        sys.addaudithook(_audited)


def _audited(event: str, arguments: tuple[Any, ...]) -> None:
    reads = _RECORDING.get()
    if reads is None:
        return
    if event == "open":
        path, _, flags = arguments
        if (
            isinstance(flags, int)
            and flags & _WRITES
            and not str(path).endswith(".pyc")
            and "__pycache__" not in str(path)
        ):
            reads.is_whole = False
        reads.add(PATH, path)
    elif event in ("os.listdir", "os.scandir"):
        reads.add(FOLDER, arguments[0] if arguments and arguments[0] is not None else ".")
    elif event.startswith(_OUTSIDE):
        reads.is_whole = False


def kind_of(mode: int) -> str:
    """What a path is: `d` for a folder, `f` for a file, else its type."""
    return "d" if stat.S_ISDIR(mode) else "f" if stat.S_ISREG(mode) else str(stat.S_IFMT(mode))
