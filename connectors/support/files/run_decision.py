"""Whether a run decided to commit, for staged rows of a killed run that a sink finds at its target."""

from typing import TYPE_CHECKING

from connectors.support.files.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def was_decided(spark: "SparkSession | None", journal: str) -> bool:
    """Whether the run decided to commit. If so, its staged rows must be committed, otherwise removed.

    `journal` is `WriteTask.journal` of that run.
    """
    files, folder = files_at(spark, journal)
    return files.exists(f"{folder}/commit.json")
