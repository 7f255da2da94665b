"""Whether another run still works on a target, by the mark and the journal that it left there."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from catalog.options import Value
from connectors.commits import run_owner
from connectors.commits.claiming import claims_in, expired
from connectors.commits.run_decision import has_dismissed
from connectors.commits.run_folder import claims_folder, run_folder_of
from connectors.commits.run_owner import Presence
from connectors.storage.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_over(spark: "SparkSession | None", owner: Mapping[str, Value], journal: str) -> bool:
    """Whether no process works on the run any more; False if that cannot be seen from here.

    Watches the lease of a process of another machine, where its journal can be read here.
    """
    if has_dismissed(spark, journal) or run_owner.has_died(owner):
        return True
    if not journal or run_owner.presence(owner) is Presence.RUNNING:
        return False
    files, folder = files_at(spark, journal)
    if not files.exists(f"{folder}/begin.json"):
        return False
    claims = claims_folder(run_folder_of(folder))
    return all(expired(files, claims, claim) for claim in claims_in(files, claims))
