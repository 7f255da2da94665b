"""A position in the log of a database, at the end of a transaction."""

import re
from dataclasses import dataclass, field

_OF_BINLOG = re.compile(r"(?P<name>.+)\.(?P<file>\d+):(?P<offset>\d+)")
_OF_WAL = re.compile(r"(?P<high>[0-9A-Fa-f]+)/(?P<low>[0-9A-Fa-f]+)")


@dataclass(frozen=True, order=True, slots=True)
class LogPosition:
    """`offset`: PostgreSQL's LSN, or the bytes of MySQL's log number `file`, whose files begin with `name`."""

    file: int
    offset: int
    name: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> "LogPosition":
        """The position of its text: `0/16B3748`, `binlog.000003:1234`. Raises ValueError for another text."""
        if found := _OF_WAL.fullmatch(text):
            return cls(0, (int(found["high"], 16) << 32) + int(found["low"], 16))
        if found := _OF_BINLOG.fullmatch(text):
            return cls(int(found["file"]), int(found["offset"]), found["name"])
        raise ValueError(f"`{text}` is no position of a log")

    @property
    def log_file(self) -> str:
        """The file's name, as MySQL has it: six digits at least."""
        return f"{self.name}.{self.file:06d}"

    def __str__(self) -> str:
        if self.name:
            return f"{self.log_file}:{self.offset}"
        return f"{self.offset >> 32:X}/{self.offset & 0xFFFFFFFF:X}"
