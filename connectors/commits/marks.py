"""What a target has recorded of a write that was committed to it: its mark.

A mark says which write of which run it is of, and the work that it stands for: a digest of the plan, or of the offsets
of a micro-batch. An equal mark means that the rows are there; another one, that something else was written under the
same name, from a state directory that is lost or was another one.
"""

from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from catalog.diagnostics.diagnostic import RunError, run_error


class MarkState(str, Enum):
    """UNKNOWN: the target no longer keeps what it recorded then."""

    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WriteMark:
    """What a target says of one write; `work` is empty where an earlier version of Penstock wrote it."""

    state: MarkState
    work: str = ""

    def stands_for(self, work: str) -> bool:
        return not self.work or not work or self.work == work


def work_of(text: str) -> str:
    """The digest of what a write stands for: 15 hexadecimal digits, which fit a Java long."""
    return sha256(text.encode()).hexdigest()[:15]


def refuse_other_work(run_id: str, target: str, then: str, now: str) -> None:
    """Raise PEN5221 where the mark that a commit finds is of other work than its own."""
    if not WriteMark(MarkState.FOUND, then).stands_for(now):
        raise other_work(run_id, target)


def replaced(target: str, identity: str) -> RunError:
    """PEN5222: the target is not the one that the write was committed to."""
    message = f"`{target}` was dropped and created anew, or restored, since `{identity}` was committed to it"
    help = "whether its rows are there is not known: where they are not, another run id writes them"
    return run_error("PEN5222", message, None, help)


def other_work(run_id: str, target: str) -> RunError:
    message = f"`{target}` has a mark of run `{run_id}` for other rows than those of this run"
    help = (
        "restore the state directory that the run had; or write under another run id (a stream: with another "
        "`stream.checkpoint`), or to another target"
    )
    notes = ("its state directory is lost, is an older copy, or was another one when the id was used before",)
    return run_error("PEN5221", message, None, help, notes)
