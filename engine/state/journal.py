"""The journal of a run: one small file for each step; `commit.json` is the decision to commit.

    <state dir>/runs/<run id>/journal/
        begin.json                  who runs, and what it writes
        prepared.json               where the rows of each write will be staged
        <write id>.staged.json      that they are
        <scan id>.read.json         what was read of a source that is notified after the commit (Kafka)
        commit.json                 all are: from here on the run can only be finished; the watermarks that it moves
        <write id>.committed.json
        <scan id>.acknowledged.json
        end.json                    finished, rolled back, or dismissed by the user

Files are written atomically. A killed run is rolled back without `commit.json`, and completed with it.
"""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.options import Value
from connectors.commits import run_owner as owner
from connectors.commits.commit_errors import dismissal
from connectors.commits.run_decision import DISMISSED, was_dismissed
from connectors.shared.staged import Staged
from connectors.storage.filesystem import Files, as_uri
from engine.state.layout import RunPaths, StateLayout, layout_at
from engine.state.watermarks import HighWatermark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RunOutcome(str, Enum):
    FINISHED = "finished"
    ROLLED_BACK = "rolled back"
    DISMISSED = DISMISSED


@dataclass(frozen=True, eq=False, slots=True)
class Journal:
    """The journal of one run in a state directory."""

    layout: StateLayout
    run_id: str

    @property
    def files(self) -> Files:
        return self.layout.files

    @property
    def paths(self) -> RunPaths:
        return self.layout.run(self.run_id)

    @property
    def folder(self) -> str:
        return self.paths.journal

    @property
    def uri(self) -> str:
        return as_uri(self.folder)

    @property
    def scratch(self) -> str:
        """Where the run may write what it needs only while it runs; removed when it ends, also by another process."""
        return self.paths.scratch

    def begin(
        self,
        mark: Mapping[str, Value],
        writes: Mapping[str, str],
        job: str,
        *,
        done: Collection[str] = (),
        incremental: Collection[str] = (),
        targets: Mapping[str, str] | None = None,
    ) -> None:
        """Start again: `writes` are connector names by write id. The steps of an earlier, ended try are removed; `done`
        are the ids of writes that it committed; `incremental` the sources whose watermarks the run is to move;
        `targets` where these writes and the done ones write to, by write id.

        If the process is killed in between, either the earlier try has ended or this one has begun:
        `end.json` is removed last.
        """
        content = {"run_id": self.run_id, "owner": dict(mark), "writes": dict(writes), "job": job}
        if targets:
            content["targets"] = dict(targets)
        if incremental:
            content["incremental"] = sorted(incremental)
        if not done:
            self.files.delete(self.folder)
            self._put("begin", content)
            return
        self._put("begin", {**content, "done": sorted(done)})
        ends = {"begin.json", "commit.json", "end.json"}
        steps = [name for name in self.files.children(self.folder) if name not in ends]
        for name in (*steps, "commit.json", "end.json"):
            self.files.delete(f"{self.folder}/{name}")

    def prepared(self, places: Mapping[str, Staged]) -> None:
        self._put("prepared", {write_id: {"staged": staged.to_json()} for write_id, staged in places.items()})

    def staged(self, write_id: str, staged: Staged) -> None:
        self._put(f"{write_id}.staged", {"staged": staged.to_json()})

    def read_from(self, scan_id: str, source: str, position: Staged) -> None:
        self._put(f"{scan_id}.read", {"source": source, "position": position.to_json()})

    def acknowledged(self, scan_id: str) -> None:
        self._put(f"{scan_id}.acknowledged", {})

    def decide(self, watermarks: Sequence[HighWatermark] = ()) -> None:
        """Record the decision: from here on the run can only be finished. `watermarks` are those that move then."""
        self._put("commit", {"watermarks": [asdict(watermark) for watermark in watermarks]})

    def committed(self, write_id: str) -> None:
        self._put(f"{write_id}.committed", {})

    def end(self, outcome: RunOutcome) -> None:
        self.files.delete(self.scratch)
        self._put("end", {"outcome": outcome.value})

    def _put(self, step: str, content: Mapping[str, Any]) -> None:
        self.files.write(f"{self.folder}/{step}.json", json.dumps({**content, "at": time.time()}))

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended, without reading all steps."""
        return self.files.exists(f"{self.folder}/end.json")

    @property
    def is_decided(self) -> bool:
        return self.files.exists(f"{self.folder}/commit.json")

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
                    by_name[name.removesuffix(".json")] = self._step(f"{self.folder}/{name}")
                except RunError:
                    if not is_dismissed:
                        raise
        return Recorded(by_name) if "begin" in by_name else None

    def _step(self, path: str) -> dict[str, Any]:
        try:
            return dict(json.loads(self.files.read(path)))
        except (ValueError, TypeError) as error:
            message = f"`{path}` is not a step of a journal: {error}"
            help = dismissal(self.run_id)
            raise run_error("PEN5011", message, None, help) from error


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
    def is_decided(self) -> bool:
        return "commit" in self.steps

    @property
    def watermarks(self) -> tuple[HighWatermark, ...]:
        """What the run's commit moves."""
        return tuple(map(HighWatermark.from_json, self.steps.get("commit", {}).get("watermarks", ())))

    @property
    def outcome(self) -> RunOutcome | None:
        return RunOutcome(self.steps["end"]["outcome"]) if "end" in self.steps else None

    @property
    def mark(self) -> Mapping[str, Value]:
        """The owner's mark (`connectors.commits.run_owner`)."""
        return dict(self.steps["begin"]["owner"])

    @property
    def is_alive(self) -> bool:
        return self.outcome is None and owner.is_alive(self.mark)

    def has_place(self, write_id: str) -> bool:
        """Whether the write had staged rows, or was about to."""
        return self.is_staged(write_id) or write_id in self.steps.get("prepared", {})

    def place(self, write_id: str, kind: type[Staged]) -> Staged:
        """The record of what the write staged, or was about to. Raises PEN5011 if another version of the
        connector wrote it."""
        step = self.steps[f"{write_id}.staged"] if self.is_staged(write_id) else self.steps["prepared"][write_id]
        return kind.from_json(step.get("staged", {}))

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


def journal(spark: "SparkSession | None", state: str, run_id: str) -> Journal:
    """The journal of a run; a state directory on this machine's disk needs no Spark."""
    return Journal(layout_at(spark, state), run_id)


def open_journals(spark: "SparkSession | None", state: str) -> list[Journal]:
    """The journals of all runs that have not ended."""
    layout = layout_at(spark, state)
    journals = (Journal(layout, run_id) for run_id in layout.run_ids())
    return [log for log in journals if not log.has_ended]
