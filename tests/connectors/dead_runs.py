"""Runs of this process whose process is made a killed one, as other processes see it."""

import subprocess
import sys
from dataclasses import replace
from functools import cache

from connectors.commits.claiming import _to_json, claims_in
from connectors.commits.steps import step_text
from connectors.storage.filesystem import Files
from engine.spark.writing.open_run import OpenRun


def bury(run: OpenRun) -> None:
    """Let the claim on the run be that of a killed process."""
    run.claim.renewals.stop()
    bury_claims(run.claim.files, run.claim.folder)


def bury_claims(files: Files, folder: str) -> None:
    for claim in claims_in(files, folder):
        owner = {**claim.owner, "pid": dead_process(), "jvm_pid": None}
        files.write(f"{folder}/{claim.name}.json", step_text(_to_json(replace(claim, owner=owner))))


@cache
def dead_process() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
