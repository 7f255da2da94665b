"""The schema lock: the columns and primary keys of jobs' sources, as of the last `penstock schema sync`, for git.

    [orders.conf] customers
      id bigint not null
      `full name` string
      primary key (id)

A section is one source of a job, named by the path of the job file (relative to the lock) and the source's name.
Sections are sorted, so that a change to one source changes only its own lines. A line with a name that has ends of
lines or other controls is written as a JSON text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from catalog.diagnostics.shown_names import read_line, written_line
from catalog.tables.table import Column, PrimaryKey, TableSchema
from catalog.types.typenames import quote_name, to_ddl
from catalog.types.typetext import TypeTextError, parse_type

FILE_NAME: Final = "penstock.lock"
HEADING: Final = (
    "# The schemas of the sources of the jobs in this folder. Written by `penstock schema sync`; commit it.\n"
)
_SECTION: Final = re.compile(r"\[(?P<job>(?:[^\]]|\]\])+)\] (?P<node>.+)", re.DOTALL)
_PRIMARY_KEY: Final = re.compile(r"  primary key \((?P<names>.+)\)", re.DOTALL)
_NAME: Final = re.compile(r"`(?:[^`]|``)+`|[^`,\s]+")
_COLUMN: Final = re.compile(r"  (?P<name>`(?:[^`]|``)+`|\S+) (?P<type>.+?)(?P<strict> not null)?", re.DOTALL)

Key: TypeAlias = tuple[str, str]
"""The path of the job file, relative to the lock, and the source's name."""


class LockError(ValueError):
    """A line of a lock that cannot be read; the message names it."""


@dataclass(frozen=True, slots=True)
class Lock:
    """The columns and the primary key of each source."""

    sources: Mapping[Key, TableSchema] = field(default_factory=dict)

    def __str__(self) -> str:
        sections = [
            "\n".join(
                written_line(line)
                for line in (f"[{job.replace(']', ']]')}] {node}", *(f"  {line}" for line in _lines(schema)))
            )
            for (job, node), schema in sorted(self.sources.items())
        ]
        return HEADING + "".join(f"\n{section}\n" for section in sections)


def parse_lock(text: str) -> Lock:
    """The lock of a text; raises `LockError`."""
    sources: dict[Key, list[Column]] = {}
    keys: dict[Key, PrimaryKey] = {}
    here: Key | None = None
    for number, written in enumerate(text.split("\n"), start=1):
        try:
            line = read_line(written.rstrip("\r"))
        except ValueError as cause:
            raise LockError(f"line {number} is no text in quotes: {written.strip()}") from cause
        if not line.strip() or line.startswith("#"):
            continue
        if section := _SECTION.fullmatch(line):
            here = section["job"].replace("]]", "]"), section["node"]
            sources.setdefault(here, [])
            continue
        if here is not None and (key := _PRIMARY_KEY.fullmatch(line)):
            keys[here] = PrimaryKey(tuple(_unquoted(name) for name in _NAME.findall(key["names"])))
            continue
        column = _COLUMN.fullmatch(line)
        if column is None or here is None:
            raise LockError(f"line {number} is neither `[job] source` nor a column: {line.strip()}")
        try:
            type = parse_type(column["type"])
        except TypeTextError as cause:
            raise LockError(f"line {number}: {cause}") from cause
        sources[here].append(Column(_unquoted(column["name"]), type, nullable=column["strict"] is None))
    try:
        return Lock({key: TableSchema(tuple(columns), keys.get(key)) for key, columns in sources.items()})
    except ValueError as cause:  # a column named twice, or a key of none
        raise LockError(str(cause)) from cause


def find_lock(folder: Path) -> Path | None:
    """The nearest lock file, in the folder or one above it."""
    return next((parent / FILE_NAME for parent in (folder, *folder.parents) if (parent / FILE_NAME).is_file()), None)


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _lines(schema: TableSchema) -> Iterator[str]:
    yield from map(_line, schema.columns)
    if schema.primary_key is not None:
        yield f"primary key ({', '.join(map(quote_name, schema.primary_key.columns))})"


def _line(column: Column) -> str:
    return f"{quote_name(column.name)} {to_ddl(column.type)}" + ("" if column.nullable else " not null")
