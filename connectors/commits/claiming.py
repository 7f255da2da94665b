"""Claims: one process at a time works on a run, or on a target.

    <folder>/<epoch>-<token>.json    a claim; its name is never used again
    <folder>/<epoch>-<token>.alive   its lease, renewed by its holder

`acquire` judges the claims that are there, announces its own with a higher epoch, then looks again: a process that sees
another's claim which it has not judged expired withdraws its own. So of two that announce at once, none holds. It needs
no atomic operation of a store, only that a written file is listed. The holder deletes the expired claims: the file of a
claim is its proof, and a process that was paused finds its own gone.
"""

import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.options import Value
from connectors.commits import run_owner
from connectors.commits.leases import Renewals, is_renewed, lease_seconds
from connectors.commits.run_owner import Presence
from connectors.commits.steps import read_step, step_text
from connectors.storage.filesystem import Files

_TRIES: Final = 12


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as it is recorded. `owner`: the mark of its process; `run_id` and `journal` (a URI): the run for which it
    was made; `seconds`: the length of its lease."""

    epoch: int
    token: str
    owner: Mapping[str, Value]
    run_id: str
    journal: str
    seconds: float

    @property
    def name(self) -> str:
        return f"{self.epoch}-{self.token}"


class HeldError(Exception):
    """Another process holds the claim."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(run_owner.describe(claim.owner))
        self.claim = claim


@dataclass(frozen=True, eq=False, slots=True)
class HeldClaim:
    """A claim that this process holds, or has held. `taken`: the expired claims that it has replaced."""

    files: Files
    folder: str
    claim: Claim
    renewals: Renewals
    taken: tuple[Claim, ...] = ()

    @property
    def run_id(self) -> str:
        return self.claim.run_id

    @property
    def epoch(self) -> int:
        return self.claim.epoch

    @property
    def token(self) -> str:
        return self.claim.token

    @property
    def owner(self) -> Mapping[str, Value]:
        return self.claim.owner

    @property
    def is_held(self) -> bool:
        return self.files.exists(f"{self.folder}/{self.claim.name}.json")

    def check(self) -> None:
        """Raises PEN5401 if another process has taken over what this one works on."""
        if not self.is_held:
            raise taken_over(self.run_id)

    def release(self) -> None:
        """Give the claim up; a second call does nothing."""
        self.renewals.drop(f"{self.folder}/{self.claim.name}.alive")
        remove(self.files, self.folder, self.claim)
        names = set(self.files.children(self.folder))
        for name in names:  # of a process that was paused while it renewed its lease
            if name.endswith(".alive") and f"{name.removesuffix('.alive')}.json" not in names:
                self.files.delete(f"{self.folder}/{name}")
        self.files.delete_empty(self.folder)


def taken_over(run_id: str) -> RunError:
    """PEN5401: another process has ended the run, since this one did not renew its lease."""
    message = f"another process has taken over run `{run_id}`: this one was paused, or could not renew its lease"
    help = f"`penstock runs {run_id}` shows how the run ended; run the job again if it was rolled back"
    return run_error("PEN5401", message, None, help)


def acquire(
    files: Files,
    folder: str,
    *,
    run_id: str,
    journal: str = "",
    owner: Mapping[str, Value] | None = None,
    token: str | None = None,
    renewals: Renewals | None = None,
    floor: int = 0,
    has_expired: "Callable[[Files, str, Claim], bool] | None" = None,
    pause: Callable[[int], None] | None = None,
) -> HeldClaim:
    """Claim what the folder stands for, with an epoch above `floor` and above all that were seen there.

    Raises `HeldError` if another process holds the claim. `token`: a name that no other claim has or will have.
    `renewals` renews its lease; without them it has none.
    """
    has_expired, seconds = has_expired or expired, lease_seconds()
    for number in range(_TRIES):
        seen = claims_in(files, folder)
        for claim in seen:
            if not has_expired(files, folder, claim):
                raise HeldError(claim)
        epoch = 1 + max((floor, *(claim.epoch for claim in seen)))
        mark = run_owner.this_process() if owner is None else owner
        own = Claim(epoch, f"{token or secrets.token_hex(8)}", dict(mark), run_id, journal, seconds)
        if _announced(files, folder, own, seen):
            for claim in seen:
                remove(files, folder, claim)
            renewing = renewals or Renewals(seconds)
            if renewals is not None:
                renewing.add(files, f"{folder}/{own.name}.alive")
            return HeldClaim(files, folder, own, renewing, tuple(seen))
        (pause or _pause)(number)
    raise HeldError(next(iter(claims_in(files, folder)), own))


def _announced(files: Files, folder: str, own: Claim, judged: Sequence[Claim]) -> bool:
    """Write the claim; False, and it is withdrawn, if there is one that was not judged, or its own is gone again."""
    try:
        files.write(f"{folder}/{own.name}.json", step_text(_to_json(own)))
    except FileNotFoundError:  # another process has removed the empty folder between two steps of the write
        return False
    known = {claim.name for claim in judged}
    now = claims_in(files, folder)
    is_alone = all(claim.name == own.name or claim.name in known for claim in now)
    if is_alone and any(claim.name == own.name for claim in now):
        return True
    remove(files, folder, own)
    return False


def claims_in(files: Files, folder: str) -> list[Claim]:
    """The claims that are recorded, by their epochs. Raises PEN5011 for a file that cannot be read."""
    found = []
    for name in files.children(folder):
        if name.endswith(".json") and not name.startswith("."):
            claim = _read(files, f"{folder}/{name}")
            if claim is not None:
                found.append(claim)
    return sorted(found, key=lambda claim: (claim.epoch, claim.token))


def expired(files: Files, folder: str, claim: Claim) -> bool:
    """Whether the holder of a claim is gone: its process has ended on this machine, or its lease is not renewed.

    Watches the lease of a process that cannot be seen from here, up to its length.
    """
    if run_owner.has_died(claim.owner):
        return True
    if run_owner.presence(claim.owner) is Presence.RUNNING:
        return False
    return not is_renewed(files, f"{folder}/{claim.name}.alive", claim.seconds)


def is_gone(claim: Claim) -> bool:
    """Whether the holder is known to have ended, without a look at its lease."""
    return run_owner.has_died(claim.owner)


def remove(files: Files, folder: str, claim: Claim) -> None:
    """Delete a claim that has expired, or an own one. No other claim ever gets its name."""
    for ending in ("json", "alive"):
        files.delete(f"{folder}/{claim.name}.{ending}")


def _read(files: Files, path: str) -> Claim | None:
    """None if the file is gone again."""
    try:
        return _from_json(read_step(files.read(path)))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        message = f"`{path}` cannot be read as a claim: {error}"
        help = "it is safe to move the file away once no process works on this run or target any more"
        raise run_error("PEN5011", message, None, help) from error


def _to_json(claim: Claim) -> dict[str, Any]:
    return {
        "epoch": claim.epoch,
        "token": claim.token,
        "owner": dict(claim.owner),
        "run_id": claim.run_id,
        "journal": claim.journal,
        "lease_seconds": claim.seconds,
    }


def _from_json(record: Mapping[str, Any]) -> Claim:
    return Claim(
        int(record["epoch"]),
        str(record["token"]),
        dict(record["owner"]),
        str(record["run_id"]),
        str(record["journal"]),
        float(record["lease_seconds"]),
    )


def _pause(number: int) -> None:
    """Two processes that have withdrawn at once try again at different times."""
    time.sleep(random.uniform(0.01, 0.05) * (number + 1))
