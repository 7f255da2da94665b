"""Real processes that run and end the same runs, stopped and killed at chosen steps, leave right rows."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from connectors.commits import claiming
from connectors.commits.claiming import acquire, claims_in, expired
from connectors.commits.leases import SECONDS_VARIABLE
from connectors.storage.local_files import LocalFiles
from tests.ownership.disk_stores import STORES

SCHEDULES = int(os.environ.get("PENSTOCK_OWNERSHIP_SCHEDULES", "3"))
FIRST = int(os.environ.get("PENSTOCK_OWNERSHIP_SEED", "0"))


@pytest.mark.slow
@pytest.mark.parametrize("store", STORES)
def test_seeded_schedules_of_processes(tmp_path, store):
    """A schedule is run again by its seed: `PENSTOCK_OWNERSHIP_SEED=7 PENSTOCK_OWNERSHIP_SCHEDULES=1`."""
    run_schedules(tmp_path, store)


@pytest.mark.slow
@pytest.mark.parametrize("store", STORES)
def test_a_process_that_was_paused_while_another_ended_its_run_changes_nothing(tmp_path, store):
    run_schedules(tmp_path, store, "paused")


def run_schedules(folder: Path, store: str, *kind: str) -> None:
    command = [sys.executable, "-m", "tests.ownership.processes", str(folder), str(FIRST), str(SCHEDULES), store, *kind]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30 + 20 * SCHEDULES)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


HOLDER = """
import sys, time
from connectors.commits.claiming import acquire
from connectors.commits.leases import Renewals, lease_seconds
from connectors.storage.local_files import LocalFiles
acquire(LocalFiles(), sys.argv[1], run_id="r", renewals=Renewals(lease_seconds()))
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path, monkeypatch):
    """Starts a process that holds a claim, by a command before Python's."""
    monkeypatch.setenv(SECONDS_VARIABLE, "2")
    started = []

    def start(*before: str) -> subprocess.Popen:
        command = [*before, sys.executable, "-c", HOLDER, str(tmp_path / "claims")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def claim_of(tmp_path: Path) -> tuple[LocalFiles, str, claiming.Claim]:
    files, folder = LocalFiles(), str(tmp_path / "claims")
    (claim,) = claims_in(files, folder)
    return files, folder, claim


def test_a_process_of_another_namespace_counts_as_running_while_it_renews_its_lease(tmp_path, holder):
    if os.geteuid() != 0:
        pytest.skip("a namespace of process numbers needs root")
    process = holder("unshare", "--pid", "--uts", "--fork", "--kill-child")
    files, folder, claim = claim_of(tmp_path)
    assert claim.owner["pid"] == 1  # here, another process has this number
    assert not expired(files, folder, claim)
    process.kill()
    process.wait()
    assert expired(files, folder, claim)


def test_a_process_of_this_machine_that_has_ended_is_taken_over_at_once(tmp_path, holder, monkeypatch):
    process = holder()
    files, folder, claim = claim_of(tmp_path)
    assert not expired(files, folder, claim)
    process.kill()
    process.wait()
    monkeypatch.setattr(claiming, "is_renewed", lambda *watched: pytest.fail("its lease was watched"))
    assert acquire(files, folder, run_id="r").epoch == claim.epoch + 1


def test_a_stopped_process_loses_its_claim_when_its_lease_has_expired(tmp_path, holder):
    process = holder()
    files, folder, _ = claim_of(tmp_path)
    process.send_signal(19)
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.01)  # the signal is on its way
    try:
        held = acquire(files, folder, run_id="r")
        assert claims_in(files, folder) == [held.claim]
    finally:
        process.send_signal(18)
