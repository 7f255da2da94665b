"""The cache of `validate`: what each job of a project was compiled to, and all that this rests on.

A job is taken from it only if everything that was read for it is there as it was: files by their content, folders by
what they have, columns that other jobs write; and if the version and the code of Penstock, the installed packages, the
environment, the settings and `penstock.conf` are the same. A job with an error, a secret, or a step that cannot be
asked again is never in it.

It is in the user's own cache folder, not in the project: a folder of jobs from somebody else must not bring one along.
"""

import hmac
import os
import pickle
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from catalog.masks import Masks
from catalog.tables.table import Column
from engine.job.model.settings import Settings, read_text
from engine.plan.datasets import Dataset
from engine.remembered.answers import Answer, Answers
from engine.remembered.recorded_reads import OF_THE_SHELL, Read

Given: TypeAlias = Mapping[Dataset, tuple[Column, ...] | None]
"""The columns of datasets that another job writes, None where none was known."""

Place: TypeAlias = tuple[Path, bool]
"""The file of a job, and whether it has been given columns of other jobs."""

_Content: TypeAlias = tuple[list[tuple[Read, Answer]], list[tuple[Place, bytes, frozenset[int], Given]]]
"""What was read for all jobs with the answers, and each job with the numbers of those that it rests on."""

_ROOT: Final = Path(__file__).parents[2]
_PACKAGES: Final = ("catalog", "connectors", "engine", "sql")
_MOST_FILES: Final = 50
"""The caches of one user: of each project, one for each environment and each set of arguments."""
_MOST_BYTES: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RememberedJob:
    """A job, pickled, with what was read for it, and the columns that it was given. `is_new`: compiled just now."""

    job: bytes
    reads: tuple[Read, ...]
    given: Given
    is_new: bool = False


@dataclass(eq=False, slots=True)
class JobCache:
    """The remembered jobs of a project: each as it is by itself; and with columns of others, where it needs them.

    `jobs`: those that the file has; `used`: those of now.
    """

    file: Path
    key: bytes
    answers: Answers
    jobs: dict[Place, RememberedJob] = field(default_factory=dict)
    used: dict[Place, RememberedJob] = field(default_factory=dict)
    loaded: dict[Place, object] = field(default_factory=dict)
    equal: dict[tuple[int, int], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path, settings: Settings, project: Sequence[object], kind: str = "") -> "JobCache | None":
        """That of a project with these settings; None where there can be none. `project`: what it gives its jobs;
        `kind`: what is kept of them."""
        answers, folder = Answers(os.getcwd()), _folder(root)
        if folder is None or settings.read is not read_text or settings.reads_secrets:
            return None
        names = [each.name for each in fields(settings) if each.compare and each.name != "project"]
        own = repr(
            [kind, root.resolve(), settings.project.environment, [(name, getattr(settings, name)) for name in names]]
        )
        file = folder / f"{sha256(own.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.jobs"
        key = _key(own, (pickle.dumps(settings.project), *project))
        table, listed = _read(file, key)
        changed = [number for number, (read, answer) in enumerate(table) if answers.of(read) != answer]
        jobs = {
            place: RememberedJob(job, tuple(table[number][0] for number in numbers), given)
            for place, job, numbers, given in listed
            if not numbers.intersection(changed)
        }
        return cls(file, key, answers, jobs)

    def first(self, path: Path) -> object | None:
        """The remembered job, if all that it rests on is as it was."""
        return self._used((path, False))

    def second(self, path: Path, given: Given) -> object | None:
        """The same of a job that is given columns of others, if they are what it was given."""
        found = self.jobs.get((path, True))
        if found is None or not self._are_equal(found.given, given):
            return None
        self._keep((path, False))
        return self._used((path, True))

    def given_before(self, path: Path) -> object | None:
        """The remembered job that was given columns of others, whatever these are now."""
        return self._loaded((path, True)) if (path, True) in self.jobs else None

    def remember_first(self, path: Path, job: object, reads: Iterable[Read]) -> None:
        """Remember a job, which can be pickled, for which this was read."""
        self._remember((path, False), job, reads, {})

    def remember_second(self, path: Path, job: object, reads: Iterable[Read], given: Given) -> None:
        self._remember((path, True), job, reads, given)

    def _are_equal(self, one: Given, other: Given) -> bool:
        """Each two tuples of columns are compared once: many jobs are given the same ones."""
        if one.keys() != other.keys():
            return False
        for dataset, columns in one.items():
            pair = id(columns), id(other[dataset])  # of objects that the cache and the project keep
            if pair not in self.equal:
                self.equal[pair] = repr(columns) == repr(other[dataset])  # `==` passes over collations
            if not self.equal[pair]:
                return False
        return True

    def _used(self, place: Place) -> object | None:
        if not self._keep(place):
            return None
        return self._loaded(place)

    def _keep(self, place: Place) -> bool:
        if (found := self.jobs.get(place)) is not None:
            self.used[place] = found
        return found is not None

    def _loaded(self, place: Place) -> object:
        if place not in self.loaded:
            self.loaded[place] = pickle.loads(self.jobs[place].job)
        return self.loaded[place]

    def _remember(self, place: Place, job: object, reads: Iterable[Read], given: Given) -> None:
        self.used[place] = RememberedJob(pickle.dumps(job), tuple(reads), given, is_new=True)

    def save(self) -> None:
        """Keep what was used, and rests on nothing that changed while it was compiled, or right before: that could
        have changed once more. A cache that cannot be written is none."""
        kept = {place: job for place, job in self.used.items() if not job.is_new or all(map(self._is_safe, job.reads))}
        if kept.keys() == self.jobs.keys() and not any(job.is_new for job in kept.values()):
            return
        numbers: dict[Read, int] = {}
        listed = [
            (place, job.job, frozenset(numbers.setdefault(read, len(numbers)) for read in job.reads), job.given)
            for place, job in kept.items()
        ]
        table = [(read, self.answers.of(read)) for read in numbers]
        content = pickle.dumps((table, listed), protocol=pickle.HIGHEST_PROTOCOL)
        if len(content) <= _MOST_BYTES and self.answers.is_same_root():
            self._write(self.key + sha256(content).digest() + content)

    def _is_safe(self, read: Read) -> bool:
        return self.answers.is_settled(read)

    def _write(self, content: bytes) -> None:
        own = self.file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(own, self.file)
            others = sorted(self.file.parent.iterdir(), key=lambda file: file.stat().st_mtime)
            for other in others[:-_MOST_FILES]:
                other.unlink()


def recorded_settings(settings: Settings) -> Settings:
    """The settings for a job whose secrets are looked at by themselves."""
    return replace(settings, masks=Masks())


def has_secrets(own: Settings, settings: Settings) -> bool:
    """Whether a job has secrets that the session would not know without it."""
    return not own.masks.adds_nothing_to(recorded_settings(settings).masks)


def _folder(root: Path) -> Path | None:
    """The cache folder of the user, if nobody else can write to it, and it is not in the checkout of the project."""
    chosen = os.environ.get("PENSTOCK_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(chosen) if chosen else Path(base) / "penstock" / "validate"
    if not hasattr(os, "getuid") or not folder.is_absolute():
        return None
    if _checkout(root.resolve()) in (resolved := Path(os.path.realpath(folder)), *resolved.parents):
        return None
    with suppress(OSError):
        found = folder.stat()
        return folder if found.st_uid == os.getuid() and not found.st_mode & 0o022 else None
    return folder


def _checkout(root: Path) -> Path:
    """The folder of the repository, all of which somebody else may have made; the project's own without one."""
    return next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), root)


def _read(file: Path, key: bytes) -> _Content:
    try:
        found = file.stat()
        if found.st_uid != os.getuid() or found.st_mode & 0o022 or found.st_size > _MOST_BYTES:
            return [], []
        content = file.read_bytes()
        head, digest, rest = content[:32], content[32:64], content[64:]
        if not hmac.compare_digest(head, key) or sha256(rest).digest() != digest:
            return [], []
        read: _Content = pickle.loads(rest)
    except (OSError, ValueError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError):
        return [], []
    return read


def _key(settings: str, project: Sequence[object]) -> bytes:
    """What all jobs rest on."""
    variables = sorted((name, value) for name, value in os.environ.items() if name not in OF_THE_SHELL)
    parts = (
        sys.version, sys.flags, variables, os.getcwd(), os.getuid(), settings, project, _code(),
        _installed(),
    )  # fmt: skip
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


def _code() -> Sequence[object]:
    """The files of Penstock, by their sizes and times."""
    found: list[object] = []
    folders = [str(_ROOT / package) for package in _PACKAGES]
    while folders:
        folder = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        folders.append(entry.path)
                else:
                    state = entry.stat()
                    found.append((entry.path, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino))
    return sorted(found, key=str)


def _installed() -> Sequence[object]:
    """The folders of packages, which change when one is installed or removed."""
    found: list[object] = []
    for folder in sys.path:
        with suppress(OSError):
            state = os.stat(folder or ".")
            found.append((folder, state.st_mtime_ns, state.st_ctime_ns))
    return found
