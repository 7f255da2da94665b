"""What the processes of the explorer do: run a job, or end a run of another process, by the engine's own steps."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from catalog.diagnostics.diagnostic import PenstockError
from connectors.commits import claiming
from connectors.commits.claiming import HeldError
from connectors.commits.leases import Renewals
from connectors.commits.steps import step_text
from connectors.files.committing import file_commit, target_lock
from connectors.files.committing.file_staged import APPEND, FileStaged, mark_of
from connectors.interface.run_context import RunContext
from connectors.storage import filesystem
from connectors.storage.filesystem import Files
from engine.spark.writing.recover import resume
from engine.state.journal import RunOutcome, journal_in
from engine.state.layout import StateLayout, layout_at
from engine.state.run_claims import claim_run, release
from engine.state.run_claims import mark_of as process_mark
from tests.ownership.model_store import Content, ModelFiles, Step, apply

STATE, TARGET = "/state", "/out/t"
WRITE = "w"


def writer(run_id: str, mode: str = APPEND, parts: int = 1) -> Callable[[ModelFiles], str]:
    """One run that adds its own part files to the target."""

    def program(files: ModelFiles) -> str:
        with stored_in(files):
            return reported(lambda: write(files, STATE, TARGET, run_id, mode, parts))

    return program


def reported(work: Callable[[], str]) -> str:
    """What the work returns, or its error."""
    try:
        return work()
    except (PenstockError, HeldError, OSError) as error:
        return f"{type(error).__name__} {error}"


def write(files: Files, state: str, target: str, run_id: str, mode: str, parts: int) -> str:
    """The steps of a run, as the engine does them, with rows that Python writes."""
    if journal_in(StateLayout(files, state), run_id).has_ended:
        return "ended before"
    claim = claim_run(journal_in(StateLayout(files, state), run_id), process_mark(None))
    try:
        before = journal_in(StateLayout(files, state), run_id)
        if before.has_ended or before.is_decided:
            return "ended before"
        log = before.of_epoch(claim.epoch)
        run = RunContext(run_id, "", claim)
        staged = staged_of(target, run_id, mode, log.uri, claim.owner, claim.epoch)
        log.begin(claim.owner, {WRITE: "LocalFile"}, "job", is_claimed=True)
        log.prepared({WRITE: staged})
        try:
            target_lock.acquire(None, files, staged, run)
            place = staged.staging.removeprefix("file://")
            names = [f"{run_id}-{part}" for part in range(parts)]
            for name in names:
                files.write(f"{place}/data/{name}", f"rows of {run_id}")
            files.write(f"{place}/data/{mark_of(staged.identity)}", json.dumps({"files": names}))
            files.write(f"{place}/staged.json", step_text(staged.to_json()))
            target_lock.check(files, place.rpartition("/")[0], run)
        except PenstockError:
            file_commit.abort(None, staged, run)
            log.end(RunOutcome.ROLLED_BACK)
            raise
        log.staged(WRITE, staged)
        log.decide()
        file_commit.commit(None, staged, run)
        log.committed(WRITE)
        log.end(RunOutcome.FINISHED)
        return "finished"
    finally:
        release(claim)


def resumer(run_id: str) -> Callable[[ModelFiles], str]:
    """`penstock run --resume`."""

    def program(files: ModelFiles) -> str:
        with stored_in(files):
            return reported(lambda: resume(None, layout_at(None, STATE), run_id).value)

    return program


def staged_of(target: str, run_id: str, mode: str, journal: str, owner: object, epoch: int) -> FileStaged:
    folder, _, table = target.rpartition("/")
    identity, root = f"{run_id}.{WRITE}", f"{folder}/.{table}.penstock"
    name = identity if epoch <= 1 else f"{identity}~{epoch}"
    return FileStaged(
        f"file://{target}", f"file://{root}", (), f"file://{root}/{name}", identity, run_id, mode, journal, owner,
        epoch=epoch,
    )  # fmt: skip


@contextmanager
def stored_in(files: ModelFiles) -> Iterator[None]:
    """All local paths are in the model's store; leases are not renewed: the explorer says who has expired."""
    disk, tries, add = filesystem.LocalFiles, claiming._TRIES, Renewals.add
    filesystem.LocalFiles = lambda: files
    claiming._TRIES = 2
    Renewals.add = lambda renewals, store, path: None
    try:
        yield
    finally:
        filesystem.LocalFiles, claiming._TRIES, Renewals.add = disk, tries, add


class Store(ModelFiles):
    """The model's store, where each step is done at once."""

    def __init__(self, content: Content, kind: type[ModelFiles]) -> None:
        self.content, self.primitives = content, kind.primitives

    def ask(self, name: str, *arguments: str):
        if name == "expired":
            return True
        self.content, answer = apply(self.content, Step(name, arguments))
        if isinstance(answer, OSError):
            raise answer
        return answer
