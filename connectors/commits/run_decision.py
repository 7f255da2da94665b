"""The decision of a run: one file of its journal, created once, says that it commits or that it is rolled back.

<journal>/commit.json    the first of the two writers that create it decides
<journal>/end.json       how the run ended, also if its user dismissed it
"""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import RunError, run_error
from connectors.commits.commit_errors import dismissal
from connectors.commits.run_folder import run_name_of
from connectors.commits.steps import read_step, step_text
from connectors.storage.filesystem import Files, files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DISMISSED: Final = "dismissed"
"""The outcome in `end.json` of a run that its user dismissed (`penstock runs --forget`)."""

_OUTCOME: Final = "outcome"
_ROLLS_BACK: Final = "roll back"


def settle(spark: "SparkSession | None", journal: str) -> bool:
    """Whether the run commits; one that has not decided is rolled back from here on, also if its process goes on.

    `journal` is `WriteTask.journal` of that run. A dismissed run does not commit, nor does one whose journal is gone.
    """
    if not journal:
        return False
    files, folder = files_at(spark, journal)
    if not files.exists(f"{folder}/begin.json") or was_dismissed(files, folder):
        return False
    roll_back(files, folder)
    return commits(files, folder)


def record_committed(spark: "SparkSession | None", journal: str, run_id: str, identity: str) -> None:
    """Record in the journal of another run that its write is committed, before this run changes the target: a target
    whose rows are replaced no longer shows it."""
    if journal:
        files, folder = files_at(spark, journal)
        if files.exists(f"{folder}/begin.json"):
            write_id = identity.removeprefix(f"{run_id}.")
            files.write(f"{folder}/{write_id}.committed.json", step_text({"by": "another run", "at": time.time()}))


def roll_back(files: Files, folder: str) -> None:
    """Decide that the run of a journal is rolled back, unless it has decided already."""
    if not files.exists(f"{folder}/commit.json"):
        files.write_new(f"{folder}/commit.json", step_text({_OUTCOME: _ROLLS_BACK, "at": time.time()}))


def commits(files: Files, folder: str) -> bool:
    """Whether the run of a journal has decided to commit. Raises PEN5011 if the decision cannot be read."""
    step = journal_step(files, f"{folder}/commit.json")
    return step is not None and is_commit(step)


def is_commit(step: Mapping[str, Any]) -> bool:
    """Whether a decision is one to commit."""
    return step.get(_OUTCOME) != _ROLLS_BACK


def has_dismissed(spark: "SparkSession | None", journal: str) -> bool:
    """Whether the run of that journal was dismissed: then its process is taken to be gone."""
    return bool(journal) and was_dismissed(*files_at(spark, journal))


def was_dismissed(files: Files, folder: str) -> bool:
    """The same for a journal's folder in its file system."""
    try:
        end = journal_step(files, f"{folder}/end.json")
    except RunError:
        return False
    return end is not None and end.get(_OUTCOME) == DISMISSED


def journal_step(files: Files, path: str) -> dict[str, Any] | None:
    """A step of a journal; None if it is not there. Raises PEN5011, which names it, if it is damaged."""
    if not files.exists(path):
        return None
    try:
        return read_step(files.read(path))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise damaged(path, error) from error


def damaged(path: str, error: Exception) -> RunError:
    """PEN5011: a step of a journal cannot be read."""
    run_id = run_name_of(path.rpartition("/")[0])
    message = f"`{path}` is damaged: {error}"
    notes = ("its run stays as it is; the rows that it staged are kept, and no target was changed for it now",)
    return run_error("PEN5011", message, None, dismissal(run_id), notes)
