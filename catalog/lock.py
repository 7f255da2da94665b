"""The schema lock: the columns of jobs' sources as of the last `penstock schema sync`, in one file for git.

    [orders.conf] customers
      id bigint not null
      `full name` string

A section is one source of a job, named by the path of the job file (relative to the lock) and the source's name.
Sections are sorted, so that a change to one source changes only its own lines.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from catalog.table import Column
from catalog.typenames import quote_name, to_ddl
from catalog.typetext import TypeTextError, parse_type

FILE_NAME: Final = "penstock.lock"
HEADING: Final = (
    "# The schemas of the sources of the jobs in this folder. Written by `penstock schema sync`; commit it.\n"
)
_SECTION: Final = re.compile(r"\[(?P<job>[^\]]+)\] (?P<node>.+)")
_COLUMN: Final = re.compile(r"  (?P<name>`(?:[^`]|``)+`|\S+) (?P<type>.+?)(?P<strict> not null)?")

Key: TypeAlias = tuple[str, str]
"""The path of the job file, relative to the lock, and the source's name."""


class LockError(ValueError):
    """A line of a lock that cannot be read; the message names it."""


@dataclass(frozen=True, slots=True)
class Lock:
    """The columns of each source."""

    sources: Mapping[Key, tuple[Column, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        sections = [
            "\n".join([f"[{job}] {node}", *(f"  {_line(column)}" for column in columns)])
            for (job, node), columns in sorted(self.sources.items())
        ]
        return HEADING + "".join(f"\n{section}\n" for section in sections)


def parse_lock(text: str) -> Lock:
    """The lock of a text; raises `LockError`."""
    sources: dict[Key, list[Column]] = {}
    here: list[Column] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if section := _SECTION.fullmatch(line):
            here = sources.setdefault((section["job"], section["node"]), [])
            continue
        column = _COLUMN.fullmatch(line)
        if column is None or here is None:
            raise LockError(f"line {number} is neither `[job] source` nor a column: {line.strip()}")
        name = column["name"][1:-1].replace("``", "`") if column["name"].startswith("`") else column["name"]
        try:
            here.append(Column(name, parse_type(column["type"]), nullable=column["strict"] is None))
        except TypeTextError as cause:
            raise LockError(f"line {number}: {cause}") from cause
    return Lock({key: tuple(columns) for key, columns in sources.items()})


def find_lock(folder: Path) -> Path | None:
    """The nearest lock file, in the folder or one above it."""
    return next((parent / FILE_NAME for parent in (folder, *folder.parents) if (parent / FILE_NAME).is_file()), None)


def _line(column: Column) -> str:
    return f"{quote_name(column.name)} {to_ddl(column.type)}" + ("" if column.nullable else " not null")
