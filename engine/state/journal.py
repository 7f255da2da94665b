"""The journal of a run: one small file for each step; `commit.json` is the decision to commit.

    <state dir>/runs/<run id>/journal/
        begin.json                  who runs, what it writes, and what its plan means
        prepared.json               where the rows of each write will be staged
        <write id>.staged.json      that they are
        <write id>.basis.json       what they rest on, once all writes of their pipeline are staged
        <scan id>.read.json         what was read of a source that is notified after the commit (Kafka)
        commit.json                 the decision, created once: from here on the run can only be finished, with the
                                    watermarks that it moves and the intervals that it does; or, by a process that ends
                                    it, only be rolled back
        <write id>.committed.json
        aborting.json               that the process of this attempt removes what it has staged
        kept.json                   the writes that a later attempt takes over: they are not removed any more
        <scan id>.acknowledged.json
        end.json                    finished, rolled back, or dismissed by the user

Files are written atomically. A killed run is rolled back without `commit.json`, and completed with it. A run that was
rolled back and is begun again has another journal, `journal-<epoch>`, by the epoch of its claim.
"""

import errno
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.options import Value
from connectors.commits.claiming import taken_over
from connectors.commits.run_decision import DISMISSED, commits, is_commit, journal_step, roll_back, was_dismissed
from connectors.commits.steps import step_text
from connectors.shared.staged import Staged
from connectors.storage.filesystem import Files, as_uri
from engine.plan.meaning.plan_record import PlanRecord
from engine.state.interval_ledger import DoneInterval
from engine.state.layout import RunPaths, StateLayout
from engine.state.staged_basis import StagedBasis
from engine.state.watermarks import AnyWatermark, HighWatermark, watermark_from_json


class RunOutcome(str, Enum):
    FINISHED = "finished"
    ROLLED_BACK = "rolled back"
    DISMISSED = DISMISSED


@dataclass(frozen=True, eq=False, slots=True)
class Journal:
    """The journal of one attempt of a run; `epoch`: of the claim under which it was begun."""

    layout: StateLayout
    run_id: str
    epoch: int = 1

    @property
    def files(self) -> Files:
        return self.layout.files

    @property
    def paths(self) -> RunPaths:
        return self.layout.run(self.run_id)

    @property
    def folder(self) -> str:
        return self.paths.journal(self.epoch)

    def step(self, name: str, of: str = "") -> str:
        """The file of a step; `of`: the write or source that it is about."""
        return f"{self.folder}/{f'{of}.' if of else ''}{name}.json"

    @property
    def uri(self) -> str:
        return as_uri(self.folder)

    @property
    def scratch(self) -> str:
        """Where the run may write what it needs only while it runs; removed when it ends, also by another process."""
        return self.paths.scratch(self.epoch)

    def staging(self, write_id: str) -> str:
        """The directory in which a write may stage rows; its sink removes it."""
        return self.paths.staging(write_id, self.epoch)

    def of_epoch(self, epoch: int) -> "Journal":
        """The journal of another attempt of the run."""
        return Journal(self.layout, self.run_id, epoch)

    def latest_epoch(self) -> int:
        """The highest epoch of which there is a trace; 0 if there is none."""
        return max(self.paths.epochs(self.files), default=0)

    def close_before(self, epoch: int) -> None:
        """Decide that all attempts of lower epochs which have not decided are rolled back."""
        for lower in range(1, epoch):
            roll_back(self.files, self.of_epoch(lower).folder)

    def begin(
        self,
        mark: Mapping[str, Value],
        writes: Mapping[str, str],
        job: str,
        *,
        done: Collection[str] = (),
        incremental: Mapping[str, str] | None = None,
        targets: Mapping[str, str] | None = None,
        is_claimed: bool = False,
        plan: PlanRecord | None = None,
        work: str = "",
    ) -> None:
        """Start: `writes` are connector names by write id; `done` the ids of writes that earlier attempts committed;
        `incremental` the names of the sources whose watermarks the run is to move, by the files of these; `targets`
        where these writes and the done ones write to, by write id; `is_claimed`: a claim shows who works on the
        run, not its mark alone; `plan`: what the job means, with the writes that are done; `work`: what a micro-batch
        stands for, as the marks in its targets say it."""
        content: dict[str, Any] = {"run_id": self.run_id, "owner": dict(mark), "writes": dict(writes), "job": job}
        if is_claimed:
            content["claimed"] = True
        if targets:
            content["targets"] = dict(targets)
        if incremental:
            content["incremental"] = dict(sorted(incremental.items()))
        if work:
            content["work"] = work
        if plan is not None:
            content["plan"] = plan.to_json()
        if done:
            content["done"] = sorted(done)
        list_open(self.layout)
        self.files.write(self.layout.open_run(self.run_id), "")
        self._put("begin", content)

    def prepared(self, places: Mapping[str, Staged]) -> None:
        self._put("prepared", {write_id: {"staged": staged.to_json()} for write_id, staged in places.items()})

    def staged(self, write_id: str, staged: Staged) -> None:
        self._put(f"{write_id}.staged", {"staged": staged.to_json()})

    def rests_on(self, write_id: str, basis: StagedBasis) -> None:
        """Record what staged rows rest on: a later attempt may commit them."""
        self._put(f"{write_id}.basis", {"basis": basis.to_json()})

    def read_from(self, scan_id: str, source: str, position: Staged) -> None:
        self._put(f"{scan_id}.read", {"source": source, "position": position.to_json()})

    def acknowledged(self, scan_id: str) -> None:
        self._put(f"{scan_id}.acknowledged", {})

    def decide(self, watermarks: Sequence[HighWatermark] = (), intervals: Sequence[DoneInterval] = ()) -> None:
        """Record the decision: from here on the run can only be finished. `watermarks` are those that move then,
        `intervals` those that are done then.

        Raises PEN5401 if another process has decided before that the run is rolled back, and FileNotFoundError if the
        journal is gone.
        """
        path, nonce = self.step("commit"), secrets.token_hex(8)
        if not self.files.exists(self.step("begin")):
            raise FileNotFoundError(errno.ENOENT, f"`{self.step('begin')}` is gone")
        moved = [asdict(watermark) for watermark in watermarks]
        done = [record.to_json() for record in intervals]
        content = {"watermarks": moved, "intervals": done, "by": nonce, "at": time.time()}
        if not self.files.write_new(path, step_text(content)):
            found = journal_step(self.files, path)
            if found is None or found.get("by") != nonce:  # else only the answer of the store was lost
                raise taken_over(self.run_id)

    def committed(self, write_id: str) -> None:
        self._put(f"{write_id}.committed", {})

    def begin_abort(self) -> frozenset[str]:
        """Record that the process of this attempt begins to remove what it has staged, and return the ids of the writes
        that are not its own any more: a later attempt keeps them.

        Each side records, then looks at what the other one has recorded: so of a process that was paused before it
        removes its staging and one that takes the rows over, at least one sees the other.
        """
        if not self.files.exists(f"{self.folder}/begin.json"):  # nobody can take over what no journal names
            return frozenset()
        with suppress(OSError):  # a full disk: what is staged is removed all the more
            self._put("aborting", {})
        found = journal_step(self.files, f"{self.folder}/kept.json")
        return frozenset() if found is None else frozenset(found["writes"])

    def keep(self, write_ids: Collection[str]) -> bool:
        """Record, before an attempt takes over what this one has staged, which writes it takes; False if the process of
        this one has begun to remove them."""
        self._put("kept", {"writes": sorted(write_ids)})
        return not self.files.exists(f"{self.folder}/aborting.json")

    def end(self, outcome: RunOutcome) -> None:
        self.files.delete(self.scratch)
        self._put("end", {"outcome": outcome.value})
        if self.latest_epoch() <= self.epoch:  # else a later attempt is open
            self.files.delete(self.layout.open_run(self.run_id))

    def _put(self, step: str, content: Mapping[str, Any]) -> None:
        self.files.write(self.step(step), step_text({**content, "at": time.time()}))

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended, without reading all steps."""
        return self.files.exists(self.step("end"))

    @property
    def is_decided(self) -> bool:
        return commits(self.files, self.folder)

    @property
    def is_dismissed(self) -> bool:
        return was_dismissed(self.files, self.folder)

    def read(self) -> "Recorded | None":
        """What is recorded; None if the run never began. Raises PEN5011 if a step cannot be read.

        Of a dismissed run, which may be one that cannot be read, such steps are left out.
        """
        by_name: dict[str, dict[str, Any]] = {}
        is_dismissed = self.is_dismissed
        for name in self.files.children(self.folder):
            if name.endswith(".json") and not name.startswith("."):
                try:
                    step = journal_step(self.files, f"{self.folder}/{name}")
                except RunError:
                    if not is_dismissed:
                        raise
                else:
                    by_name |= {} if step is None else {name.removesuffix(".json"): step}
        return Recorded(by_name) if "begin" in by_name else None


@dataclass(frozen=True, eq=False, slots=True)
class Recorded:
    """The steps of a run's journal, by name."""

    steps: Mapping[str, Mapping[str, Any]]

    @property
    def writes(self) -> Mapping[str, str]:
        """Connector names by write id, in the order of commits."""
        return dict(self.steps["begin"]["writes"])

    @property
    def job(self) -> str:
        """The name of the job."""
        return str(self.steps["begin"].get("job") or "")

    @property
    def done(self) -> frozenset[str]:
        """The ids of writes that this run has committed, in this try where it has ended, and in those before."""
        before = frozenset(self.steps["begin"].get("done") or ())
        ended = self.outcome in (RunOutcome.FINISHED, RunOutcome.DISMISSED)
        return before | {write_id for write_id in self.writes if ended and self.is_committed(write_id)}

    @property
    def targets(self) -> Mapping[str, str]:
        """Where the writes go, by their ids; also those of earlier tries that are `done`."""
        return dict(self.steps["begin"].get("targets") or {})

    @property
    def work(self) -> str:
        """What a micro-batch stands for; empty where that is not recorded."""
        return str(self.steps["begin"].get("work") or "")

    @property
    def plan(self) -> PlanRecord | None:
        """What the job of the run means; None of an earlier version of Penstock, and of streams."""
        found = self.steps["begin"].get("plan")
        return None if found is None else PlanRecord.from_json(found)

    @property
    def is_decided(self) -> bool:
        return "commit" in self.steps and is_commit(self.steps["commit"])

    @property
    def is_claimed(self) -> bool:
        """Whether a claim shows who works on the run; its mark does for a run of an earlier version of Penstock."""
        return bool(self.steps["begin"].get("claimed"))

    @property
    def watermarks(self) -> tuple[AnyWatermark, ...]:
        """What the run's commit moves."""
        return tuple(map(watermark_from_json, self.steps.get("commit", {}).get("watermarks", ())))

    @property
    def intervals(self) -> tuple[DoneInterval, ...]:
        """The intervals that are done with the run's commit."""
        return tuple(map(DoneInterval.from_json, self.steps.get("commit", {}).get("intervals", ())))

    @property
    def incremental(self) -> Mapping[str, str]:
        """The files of the watermarks that the run is to move, and the names of their sources."""
        found = self.steps["begin"].get("incremental") or {}
        return dict(found) if isinstance(found, Mapping) else {}

    @property
    def outcome(self) -> RunOutcome | None:
        return RunOutcome(self.steps["end"]["outcome"]) if "end" in self.steps else None

    @property
    def mark(self) -> Mapping[str, Value]:
        """The owner's mark (`connectors.commits.run_owner`)."""
        return dict(self.steps["begin"]["owner"])

    def has_place(self, write_id: str) -> bool:
        """Whether the write had staged rows, or was about to."""
        return self.is_staged(write_id) or write_id in self.steps.get("prepared", {})

    def place(self, write_id: str, kind: type[Staged]) -> Staged:
        """The record of what the write staged, or was about to. Raises PEN5011 if another version of the
        connector wrote it."""
        step = self.steps[f"{write_id}.staged"] if self.is_staged(write_id) else self.steps["prepared"][write_id]
        return kind.from_json(step.get("staged", {}))

    @property
    def has_bases(self) -> bool:
        """Whether a pipeline was staged completely, so that a later attempt may keep its rows."""
        return any(name.endswith(".basis") for name in self.steps)

    def basis(self, write_id: str) -> StagedBasis | None:
        """What the staged rows of a write rest on; None where its pipeline was not staged, or a source of it has no
        position. Raises PEN5011 for a record of another version."""
        step = self.steps.get(f"{write_id}.basis")
        try:
            return None if step is None else StagedBasis.from_json(step["basis"])
        except (KeyError, TypeError, ValueError) as error:
            message = f"the journal's record of what `{write_id}` rests on cannot be read: {error!r}"
            help = "`penstock run --resume ID` without `--continue` removes what the run has staged"
            raise run_error("PEN5011", message, None, help) from error

    @property
    def unacknowledged(self) -> Mapping[str, str]:
        """Source connectors, by scan id, that must still be notified of what was read."""
        names = (step.removesuffix(".read") for step in self.steps if step.endswith(".read"))
        return {name: str(self.steps[f"{name}.read"]["source"]) for name in names
                if f"{name}.acknowledged" not in self.steps}  # fmt: skip

    def position(self, scan_id: str, kind: type[Staged]) -> Staged:
        """What was read. Raises PEN5011 where another version of the connector wrote it."""
        return kind.from_json(self.steps[f"{scan_id}.read"].get("position", {}))

    def is_staged(self, write_id: str) -> bool:
        return f"{write_id}.staged" in self.steps

    def is_committed(self, write_id: str) -> bool:
        return f"{write_id}.committed" in self.steps


def journal_in(layout: StateLayout, run_id: str) -> Journal:
    """The journal of a run's latest attempt."""
    first = Journal(layout, run_id)
    for epoch in sorted(first.paths.epochs(layout.files), reverse=True):
        attempt = first.of_epoch(epoch)
        if epoch == 1 or layout.files.exists(attempt.step("begin")):
            return attempt
    return first


def open_journals_in(layout: StateLayout) -> list[Journal]:
    """The journals of all runs that have not ended."""
    listed = layout.open_run_ids()
    found = [journal_in(layout, run_id) for run_id in (layout.run_ids() if listed is None else listed)]
    return [log for log in found if not log.has_ended]


def list_open(layout: StateLayout) -> None:
    """List the open runs of a state directory of an earlier version of Penstock."""
    if layout.open_run_ids() is None:
        for log in open_journals_in(layout):
            if layout.files.exists(log.step("begin")):
                layout.files.write(layout.open_run(log.run_id), "")
        layout.begin_listing()
