"""What became of another run: asked when a sink finds the staged rows of a killed run at its target."""

import json
from typing import TYPE_CHECKING, Final

from connectors.storage.filesystem import Files, files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DISMISSED: Final = "dismissed"
"""The outcome in `end.json` of a run that its user dismissed (`penstock runs --forget`)."""


def was_decided(spark: "SparkSession | None", journal: str) -> bool:
    """Whether the run decided to commit, and was not dismissed: its staged rows must be committed, otherwise removed.

    `journal` is `WriteTask.journal` of that run.
    """
    files, folder = files_at(spark, journal)
    return files.exists(f"{folder}/commit.json") and not was_dismissed(files, folder)


def has_dismissed(spark: "SparkSession | None", journal: str) -> bool:
    """Whether the run of that journal was dismissed: then its process is taken to be gone."""
    return bool(journal) and was_dismissed(*files_at(spark, journal))


def was_dismissed(files: Files, folder: str) -> bool:
    """The same for a journal's folder in its file system."""
    if not files.exists(f"{folder}/end.json"):
        return False
    try:
        return bool(json.loads(files.read(f"{folder}/end.json"))["outcome"] == DISMISSED)
    except (ValueError, TypeError, KeyError):
        return False
