"""The steps by which the engine calls a sink, one by one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from catalog.options import Option, Options, Value
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode, plan_actions
from catalog.tables.table import CatalogTable
from connectors.commits.claim import RunClaim
from connectors.commits.claiming import taken_over
from connectors.commits.leases import DEFAULT_SECONDS, Renewals
from connectors.commits.run_folder import journal_folder
from connectors.commits.run_owner import this_process
from connectors.interface.run_context import RunContext
from connectors.interface.sink import AnySink, WriteTask
from connectors.shared.running_tasks import tagged_jobs, wait_for_tasks
from connectors.shared.spark_types import columns_of
from connectors.shared.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def options_of(spec: Sequence[Option], given: Mapping[str, Value]) -> Options:
    """The options of a block as they are checked: those that are given, and the defaults of the others."""
    known = {option.name for option in spec}
    if unknown := given.keys() - known:
        raise ValueError(f"no option `{min(unknown)}`; there are {', '.join(sorted(known))}")
    return Options({option.name: option.default for option in spec} | dict(given))


def run_of(spark: "SparkSession", run_id: str, claim: RunClaim | None = None) -> RunContext:
    return RunContext(run_id, spark.version, claim)


@dataclass(frozen=True, slots=True)
class LostClaim:
    """The claim of a process that has lost its run to another one."""

    run_id: str
    epoch: int = 1
    token: str = "lost"
    owner: Mapping[str, Value] = field(default_factory=this_process)
    renewals: Renewals = field(default_factory=lambda: Renewals(DEFAULT_SECONDS))

    def check(self) -> None:
        raise taken_over(self.run_id)


@dataclass(frozen=True, eq=False, slots=True)
class OneWrite:
    """One write of a run: `task`, and what the steps have made so far."""

    spark: "SparkSession"
    sink: AnySink
    df: "DataFrame"
    task: WriteTask
    state: TargetState
    actions: tuple[Action, ...]
    prepared: Staged
    tag: str = field(default_factory=lambda: f"write {uuid4().hex}")
    """Of its Spark jobs."""

    @classmethod
    def of(
        cls,
        spark: "SparkSession",
        sink: AnySink,
        given: Mapping[str, Value],
        df: "DataFrame",
        state: Path,
        *,
        run_id: str = "run",
        claim: RunClaim | None = None,
    ) -> "OneWrite":
        """Inspect the target and name the staging location, as the engine does before a run; `state` is a directory for
        the run's journal and staged rows."""
        options = options_of(sink.sink_options, given)
        folder = state / "runs" / run_id
        task = WriteTask(
            options,
            CatalogTable.of("rows", columns_of(df.schema)),
            SchemaSaveMode(str(options.get("schema_save_mode") or "CREATE_SCHEMA_WHEN_NOT_EXIST")),
            DataSaveMode(str(options.get("data_save_mode") or "APPEND_DATA")),
            WriteMode(str(options.get("write_mode") or "append")),
            run_of(spark, run_id, claim),
            "w",
            scratch=f"file://{folder}/staging/w",
            owner=this_process(),
            journal=f"file://{journal_folder(str(folder))}",
            looks_for_rows=True,
        )
        found = sink.inspect(spark, task)
        actions = plan_actions(task.schema_save_mode, task.data_save_mode, task.write_mode, found)
        return cls(spark, sink, df, task, found, actions, sink.prepare(spark, task, actions))

    def stage(self) -> Staged:
        with tagged_jobs(self.spark, self.tag):
            staged: Staged = self.sink.stage(self.spark, self.df, self.task, self.prepared)
        return staged

    def commit(self, staged: Staged) -> None:
        self.sink.commit(self.spark, staged, self.task.run)

    def abort(self, staged: Staged) -> None:
        """As the engine does, once no task is running: those of a failed job may still write."""
        assert wait_for_tasks(self.spark, self.tag), "tasks of the failed write have not ended"
        self.sink.abort(self.spark, staged, self.task.run)

    def recorded(self, staged: Staged) -> Staged:
        """The record as another process reads it from the journal, which has no secrets; a job of that process lends
        those of the same place."""
        record: Any = json.loads(json.dumps(staged.to_json()))
        found: Staged = self.sink.staged_type.from_json(record)
        return found.with_credentials(self.sink.credentials(self.task.options))
