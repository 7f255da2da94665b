"""How a job is read and compiled, as the command line or another caller says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from catalog.compat import Compat
from catalog.limits import read_small
from catalog.masks import Masks
from engine.job.model.intervals import TimeInterval
from engine.job.model.job import Accelerator
from engine.job.model.project_defaults import NO_PROJECT, ProjectDefaults

ReadText: TypeAlias = Callable[[str], str]
"""The text of a file. Raises `OSError` or `UnicodeDecodeError`."""


def read_text(path: str) -> str:
    """The text of a regular file on disk that is not too large; its line ends count as one character."""
    text = read_small(path).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings from the command line.

    `strict_types`: a column whose type cannot be proved is an error. `strict_data`: data that is missing, differs from
    its declaration or is not read is an error. `reads_secrets`: passwords are read and decrypted, which only a run
    needs. `only`, `but`: the tables to write, and those to leave out. `project`: what the jobs have from their project.
    `masks`: the secrets of this session, to which compiling adds those of the job. `credentials`: what opens the
    databases and stores of the session's jobs, by their address; known where `reads_secrets`. `read`: gives the text of
    job files and of what they include; an editor passes one that knows unsaved text. `allows_outside`: files outside of
    the project are read. `limits_process`: time and memory of this process are limited. `state_dir`: where runs are
    recorded, whatever a job sets. `accelerator`: the one of all jobs, whatever they set.
    `interval`: the one that a job with intervals is compiled for; without it, its first.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    compat: Compat = Compat.OFF
    strict_types: bool = False
    disabled_rules: tuple[str, ...] = ()
    reads_secrets: bool = False
    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    project: ProjectDefaults = NO_PROJECT
    masks: Masks = field(default_factory=Masks, compare=False, repr=False)
    credentials: dict[str, Mapping[str, str]] = field(default_factory=dict, compare=False, repr=False)
    read: ReadText = field(default=read_text, compare=False, repr=False)
    allows_outside: bool = False
    limits_process: bool = False
    strict_data: bool = False
    state_dir: str | None = None
    accelerator: Accelerator | None = None
    interval: TimeInterval | None = None

    def __post_init__(self) -> None:
        self.masks.add_named(self.project.variables)
        self.masks.add_named(self.variables)
