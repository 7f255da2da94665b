"""The lock of a target: one run at a time writes to it, and ends the writes of runs that have lost it.

    .orders.penstock/claims/…      the claim of the run (`connectors.commits.claiming`)
    .orders.penstock/<attempt>     the staged rows of a write
    .orders.penstock/<attempt>,…   the same, renamed by the process that ends the write

Who takes the lock over first decides for the runs that have lost it (`run_decision.settle`), then renames their
stagings: a process that was paused while it committed finds its staging gone, and changes nothing.
"""

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from catalog.diagnostics.diagnostic import RunError, run_error
from connectors.commits import claiming, run_owner
from connectors.commits.claiming import Claim, HeldError, taken_over
from connectors.commits.run_decision import has_dismissed, record_committed, settle
from connectors.commits.run_folder import epoch_of, run_folder_of
from connectors.commits.steps import read_step
from connectors.files.committing.file_staged import FileStaged, has_mark
from connectors.files.committing.finish_commit import finish
from connectors.files.committing.upload_commit import abort_uploads
from connectors.interface.run_context import RunContext
from connectors.storage.filesystem import Files, as_uri, files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLAIMS = "claims"
_FENCE = ","
"""Between the name of a staging and the token of the process that ends it: no name of a run has one."""


def acquire(
    spark: "SparkSession | None", files: Files, staged: FileStaged, run: RunContext, *, keeps: str | None = None
) -> None:
    """Lock the target for this process's work on the run, and end the writes of runs that have lost it, but for the
    staging `keeps`; nothing if it holds the lock. Raises PEN5007 if another run holds it, and PEN5401 if another
    process has taken this run over: the lock is of its later attempt then."""
    _, root = files_at(spark, staged.root)
    if holds(files, root, run):
        return
    run.check_claim()
    try:
        held = claiming.acquire(
            files,
            f"{root}/{CLAIMS}",
            run_id=staged.run_id,
            journal=staged.journal,
            owner=staged.owner if run.claim is None else run.claim.owner,
            token=_token(run),
            renewals=None if run.claim is None else run.claim.renewals,
            has_expired=partial(_has_lost, spark, staged.journal),
        )
    except HeldError as error:
        raise _is_locked(staged, error.claim) from error
    for claim in held.taken:
        if not _is_of_run(claim, staged.journal):
            settle(spark, claim.journal)
    for name in _stagings(files, root):
        if name == keeps:
            continue
        _end(spark, files, f"{root}/{name}", staged, run)


def holds(files: Files, root: str, run: RunContext) -> bool:
    """Whether this process holds the lock for the run."""
    own = f"{_token(run)}.json"
    return any(name.partition("-")[2] == own for name in files.children(f"{root}/{CLAIMS}"))


def check(files: Files, root: str, run: RunContext) -> None:
    """Raise PEN5401 if another process has taken the lock over: it may have removed a part of what is staged."""
    if not holds(files, root, run):
        raise taken_over(run.run_id)


def fenced(files: Files, root: str, staged: FileStaged, run: RunContext) -> str:
    """The staging of a write, which only this process can find from here on.

    The process that staged the rows has no need to rename them, and a store that copies cannot: there, each step of a
    commit can be done by two processes.
    """
    name = base_name(staged)
    found = located(files, root, name)
    is_own = run.claim is None or run.claim.epoch == staged.epoch
    if found is None or (is_own and found == name) or not files.primitives.renames:
        return f"{root}/{found or name}"
    return _renamed(files, f"{root}/{found}", run)


def located(files: Files, root: str, name: str) -> str | None:
    """The present name of a staging; None if it is gone."""
    found = named(files, root, name)
    staged = (each for each in found if files.exists(f"{root}/{each}/staged.json"))
    return next(staged, next(iter(found), None))


def named(files: Files, root: str, name: str) -> list[str]:
    """All directories of a staging: also those that a process has made which had been paused while it was renamed."""
    return [each for each in files.children(root) if each == name or each.startswith(f"{name}{_FENCE}")]


def clear(files: Files, staging: str) -> None:
    """Remove a staging that is not committed; one that holds what was at the target, as that of a run that was
    dismissed in the middle of its commit, is moved to `.dismissed`."""
    if any(name == "old" or name.startswith(f"old{_FENCE}") for name in files.children(staging)):
        root, _, name = staging.rpartition("/")
        files.rename(staging, f"{root}.dismissed/{name}-{time.time_ns()}")
    abort_uploads(files, staging)
    files.delete(staging)


def release(files: Files, root: str, staged: FileStaged, run: RunContext) -> None:
    """Remove what is left of a write's staging, and release the lock with the last staging of the run."""
    for name in named(files, root, base_name(staged)):
        files.delete(f"{root}/{name}")
    if _stagings(files, root) or not holds(files, root, run):
        return
    folder = f"{root}/{CLAIMS}"
    for claim in claiming.claims_in(files, folder):
        if claim.token == _token(run):
            if run.claim is not None:
                run.claim.renewals.drop(f"{folder}/{claim.name}.alive")
            claiming.remove(files, folder, claim)
    if not claiming.claims_in(files, folder):
        for place in (folder, root):
            for name in files.children(place):  # temporary files that a kill left
                if files.is_file(f"{place}/{name}"):
                    files.delete(f"{place}/{name}")
    files.delete_empty(folder)
    files.delete_empty(root)  # another run may have taken the lock by now
    for missing in staged.missing:  # they contain the target, unless nothing was committed
        files.delete_empty(missing)


def _end(spark: "SparkSession | None", files: Files, staging: str, staged: FileStaged, run: RunContext) -> None:
    """Finish a write whose run has decided to commit; remove any other. Those of this run are left to its own end."""
    record = _read(files, f"{staging}/staged.json")
    other = None if record is None else type(staged).from_json(record)
    if other is not None and other.journal == staged.journal:
        return
    is_due = other is not None and (settle(spark, other.journal) or _is_marked(spark, files, other))
    place = _renamed(files, staging, run) if files.primitives.renames else staging
    if other is not None and is_due:
        done = partial(record_committed, spark, other.journal, other.run_id, other.identity)
        finish(spark, other.at(as_uri(place)), done)
    else:
        clear(files, place)


def base_name(staged: FileStaged) -> str:
    """The name under which a write was staged."""
    return staged.staging.rpartition("/")[2].partition(_FENCE)[0]


def _is_marked(spark: "SparkSession | None", files: Files, staged: FileStaged) -> bool:
    return has_mark(files, staged, files_at(spark, staged.target)[1])


def _renamed(files: Files, staging: str, run: RunContext) -> str:
    root, _, name = staging.rpartition("/")
    place = f"{root}/{name.partition(_FENCE)[0]}{_FENCE}{_token(run)}"
    if place != staging:
        files.rename(staging, place)
    return place


def _has_lost(spark: "SparkSession | None", journal: str, files: Files, folder: str, claim: Claim) -> bool:
    """Whether the holder of a lock is gone. Of the run that this process works on, it holds the claim itself."""
    if _is_of_run(claim, journal) or has_dismissed(spark, claim.journal):
        return True
    return claiming.expired(files, folder, claim)


def _is_of_run(claim: Claim, journal: str) -> bool:
    """Whether a claim is of the run of that journal, in this or an earlier attempt."""
    is_same = bool(journal) and run_folder_of(claim.journal) == run_folder_of(journal)
    return is_same and epoch_of(claim.journal) <= epoch_of(journal)


def _is_locked(staged: FileStaged, holder: Claim) -> RunError:
    help = (
        f"wait until {run_owner.describe(holder.owner)} has ended; where that process is gone for certain, "
        f"`penstock runs --forget {holder.run_id}` dismisses its run and changes no target"
    )
    target = staged.target.removeprefix("file://")
    return run_error("PEN5007", f"run {holder.run_id} is writing to `{target}`", None, help)


def _token(run: RunContext) -> str:
    return run.run_id if run.claim is None else run.claim.token


def _stagings(files: Files, root: str) -> list[str]:
    """The staging directories of all writes to the target in progress."""
    names = (name for name in files.children(root) if name != CLAIMS and not name.startswith("."))
    return [name for name in names if not files.is_file(f"{root}/{name}")]


def _read(files: Files, path: str) -> dict[str, Any] | None:
    """The record of staged rows; None if they are not all staged. Raises PEN5011 if it is damaged."""
    try:
        return read_step(files.read(path)) if files.exists(path) else None
    except (ValueError, TypeError) as error:
        message = f"`{path}` is damaged, so that it is not known which run staged the rows next to it: {error}"
        help = f"move `{path.rpartition('/')[0]}` to another folder: the target stays as it is"
        raise run_error("PEN5011", message, None, help) from error
