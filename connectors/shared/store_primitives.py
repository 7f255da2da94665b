"""What a store does in one step: the operations on which the ownership of runs relies.

| store                 | rename | create if absent |
|-----------------------|--------|------------------|
| this machine's disk   | atomic | yes: `link(2)`   |
| hdfs, viewfs          | atomic | yes: a rename never replaces |
| abfs, abfss           | atomic | yes: `If-None-Match` |
| s3a                   | a copy | yes: a conditional write, `If-None-Match` |
| gs                    | a copy | yes: a generation that must not exist |
| sftp                  | atomic | yes: a rename never replaces |
| ftp                   | atomic | no               |
| oss, and any other    | a copy | no               |

Every store shows a written file to all readers at once, and lists it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Primitives:
    """`renames`: a file or directory is renamed in one step, and the name it had is gone. `creates`: of two writers of
    a new file, one wins."""

    renames: bool
    creates: bool


ATOMIC: Final = Primitives(renames=True, creates=True)
CONDITIONAL_WRITES: Final = Primitives(renames=False, creates=True)
NONE: Final = Primitives(renames=False, creates=False)

_OF_SCHEMES: Final[Mapping[str, Primitives]] = {
    "file": ATOMIC,
    "hdfs": ATOMIC,
    "viewfs": ATOMIC,
    "abfs": ATOMIC,
    "abfss": ATOMIC,
    "s3a": CONDITIONAL_WRITES,
    "gs": CONDITIONAL_WRITES,
    "sftp": ATOMIC,
    "ftp": Primitives(renames=True, creates=False),
}


def primitives_of(scheme: str) -> Primitives:
    """Those of a Hadoop file system; none for one that is not known."""
    return _OF_SCHEMES.get(scheme, NONE)


def missing_primitive(path: str) -> str | None:
    """A note for `explain` on what is not guaranteed at a path; None where its store has all that is needed."""
    scheme, separator, _ = path.partition("://")
    if not separator or primitives_of(scheme).creates:
        return None
    return (
        f"`{scheme}` cannot create a file only where there is none: a driver that was paused for longer than its lease "
        "and goes on while another process ends its run may still decide to commit"
    )
