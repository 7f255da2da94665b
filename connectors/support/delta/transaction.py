"""Delta's transactions, through the session's JVM: the rows' files are written in one, committed in another.

`stage_files` has Delta write data files into the table's directory, where no reader sees them until `commit_files` puts
what it returned (Delta's actions, as JSON) into the log.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from connectors.support.delta.clustering import DOMAIN, clustering_action, with_clustering
from connectors.support.retrying import retried

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILE_PREFIX: Final = "spark.databricks.delta.testOnly.dataFileNamePrefix"
_CONFLICT: Final = "DeltaConcurrentModificationException"


@dataclass(frozen=True, slots=True)
class StagedFiles:
    """What Delta returned for the files that it wrote; `metadata` where the commit must change the table's."""

    actions: tuple[str, ...]
    metadata: str | None
    table_id: str


class DeltaTable:
    """One Delta table as a session sees it."""

    def __init__(self, spark: "SparkSession", path: str, session: Any = None) -> None:
        jvm: Any = spark.sparkContext._jvm
        self.jvm = jvm
        self.session: Any = session or spark._jsparkSession
        self.path = path
        self.delta: Any = jvm.org.apache.spark.sql.delta
        self.log: Any = self.delta.DeltaLog.forTable(self.session, jvm.org.apache.hadoop.fs.Path(path))

    def exists(self) -> bool:
        return int(self._snapshot().version()) >= 0

    def metadata(self) -> Mapping[str, Any]:
        """Delta's `metaData` action of the latest version."""
        found: Mapping[str, Any] = json.loads(str(self._snapshot().metadata().json()))["metaData"]
        return found

    def has_committed(self, application: str, version: int) -> bool:
        """Whether the log holds this transaction of the application, or a later one."""
        return self.exists() and bool(self.log.startTransaction().txnVersion(application) >= version)

    def _snapshot(self) -> Any:
        return self.log.update(False, self.jvm.scala.Option.empty(), self.jvm.scala.Option.empty())

    def rows_of(self, spark: "SparkSession", actions: Sequence[str], *, is_in_table: bool) -> "DataFrame":
        """The rows of staged files; `is_in_table`: in the table's schema, which else is not known before the commit."""
        from pyspark.sql import DataFrame

        if not is_in_table:
            paths = [f"{self.path}/{unquote(json.loads(action)['add']['path'])}" for action in actions]
            return spark.read.parquet(*paths)
        files = self._seq([self.delta.actions.Action.fromJson(action) for action in actions])
        frame = self.log.createDataFrame(self._snapshot(), files, False, self.jvm.scala.Option.empty())
        return DataFrame(frame, spark)

    def append_actions(
        self,
        df: Any,
        *,
        options: Mapping[str, str],
        partition_by: Sequence[str],
        properties: Mapping[str, str],
        metadata: str | None,
        overwrites_schema: bool,
    ) -> StagedFiles:
        """Have Delta write the rows (a JVM DataFrame) without a log entry."""
        txn = self.log.startTransaction()
        before = txn.metadata()
        if metadata is not None:
            txn.updateMetadata(self.delta.actions.Action.fromJson(metadata), False)
        mode = self.jvm.org.apache.spark.sql.SaveMode
        none = self.jvm.scala.Option.empty()
        write = self.delta.commands.WriteIntoDelta(
            self.log,
            mode.Overwrite if overwrites_schema else mode.Append,
            self.delta.DeltaOptions(self._map(options), self.session.sessionState().conf()),
            self._seq(partition_by),
            self._map(properties),
            df,
            none,
            none,
            False,
        )
        written = write.write(txn, self.session, none, False)
        texts = (str(written.apply(index).json()) for index in range(written.size()))
        changed = txn.newMetadata().isDefined()
        return StagedFiles(
            tuple(text for text in texts if text.startswith('{"add"')),
            str(txn.metadata().json()) if changed else None,
            str((txn.metadata() if txn.readVersion() < 0 else before).id()),
        )

    def commit(
        self,
        actions: Sequence[str],
        *,
        application: str,
        version: int,
        metadata: str | None,
        replaces: "Replaces",
        cluster_by: Sequence[str] = (),
    ) -> bool:
        """One transaction of the staged files and what they replace; False if it was committed before.

        A conflict with another writer is resolved by a retry on the changed table.
        """

        def attempt() -> bool:
            self._snapshot()
            return self._commit(
                actions, application, version, metadata=metadata, replaces=replaces, cluster_by=cluster_by
            )

        return retried(attempt, is_conflict)

    def _commit(
        self,
        actions: Sequence[str],
        application: str,
        version: int,
        *,
        metadata: str | None,
        replaces: "Replaces",
        cluster_by: Sequence[str],
    ) -> bool:
        txn = self.log.startTransaction()
        if txn.txnVersion(application) >= version:
            return False
        kinds = self.delta.actions
        clusters = bool(cluster_by) or (replaces.schema and self._is_clustered())
        if clusters and metadata is None:  # a table that is recreated with the same columns
            metadata = str(txn.metadata().json())
        if metadata is not None:
            found = kinds.Action.fromJson(with_clustering(metadata) if clusters else metadata)
            if txn.readVersion() < 0:
                txn.updateMetadataForNewTable(found)
            elif replaces.schema:
                txn.updateMetadataForTableOverwrite(found)
            else:
                txn.updateMetadata(found, False)
        added = self._seq([kinds.Action.fromJson(action) for action in actions])
        removed = self._removed(txn, replaces, added)
        done = kinds.SetTransaction(application, version, self.jvm.scala.Some(self.jvm.System.currentTimeMillis()))
        whole = [*(added.apply(index) for index in range(added.size())), *removed, done]
        if clusters:
            about = json.loads(str(txn.metadata().json()))["metaData"]
            whole.append(kinds.Action.fromJson(clustering_action(cluster_by, about)))
        txn.commit(self._seq(whole), self._operation(replaces))
        return True

    def _is_clustered(self) -> bool:
        """Whether the table that is replaced is clustered: its columns may go."""
        domains = self._snapshot().domainMetadata()
        return any(str(domains.apply(index).domain()) == DOMAIN for index in range(domains.size()))

    def _removed(self, txn: Any, replaces: "Replaces", added: Any) -> Iterator[Any]:
        if txn.readVersion() < 0:
            return
        if replaces.partitions:
            found, now = txn.filterFiles(added), self.jvm.System.currentTimeMillis()
            for index in range(found.size()):
                yield found.apply(index).removeWithTimestamp(now, True)
        elif replaces.everything or replaces.condition is not None:
            removed = self._delete(replaces.condition).performDelete(self.session, self.log, txn)._1()
            yield from (removed.apply(index) for index in range(removed.size()))

    def _delete(self, condition: str | None) -> Any:
        """The actions of Delta's DELETE, for use in another transaction."""
        none = self.jvm.scala.Option.empty()
        if condition is None:
            plan = self.session.emptyDataFrame().queryExecution().logical()
            return self.delta.commands.DeleteCommand(self.log, none, plan, none)
        text = f"DELETE FROM delta.`{self.path.replace('`', '``')}` WHERE {condition}\n"
        state = self.session.sessionState()
        return state.analyzer().execute(state.sqlParser().parsePlan(text))

    def _operation(self, replaces: "Replaces") -> Any:
        modes = self.jvm.org.apache.spark.sql.SaveMode
        mode = modes.Append if replaces == Replaces() else modes.Overwrite
        none, some = self.jvm.scala.Option.empty(), self.jvm.scala.Some
        condition = none if replaces.condition is None else some(replaces.condition)
        return self.delta.DeltaOperations.Write(mode, none, condition, none, none, none, none, none, none)

    def check_condition(self, condition: str) -> None:
        """Raise Spark's error where the rows of a condition could not be deleted."""
        text = f"DELETE FROM delta.`{self.path.replace('`', '``')}` WHERE {condition}\n"
        analyze(self.jvm, self.session, text)

    def check_metadata(self, metadata: str) -> None:
        """Raise Delta's error where the table could not take this `metaData` action."""
        self.log.startTransaction().updateMetadata(self.delta.actions.Action.fromJson(metadata), False)

    def change_metadata(self, change: Callable[[Mapping[str, Any]], str | None]) -> None:
        """Commit the `metaData` action that `change` makes of the latest one; nothing if it makes none."""

        def attempt() -> None:
            changed = change(self.metadata())
            if changed is None:
                return
            txn = self.log.startTransaction()
            before = txn.metadata().schema()
            txn.updateMetadata(self.delta.actions.Action.fromJson(changed), False)
            txn.commit(self._seq([]), self.delta.DeltaOperations.UpdateSchema(before, txn.metadata().schema()))

        retried(attempt, is_conflict)

    def _seq(self, items: Sequence[Any]) -> Any:
        found = self.jvm.java.util.ArrayList()
        for item in items:
            found.add(item)
        return self.jvm.org.apache.spark.api.python.PythonUtils.toSeq(found)

    def _map(self, items: Mapping[str, str]) -> Any:
        found = self.jvm.java.util.HashMap()
        for key, value in items.items():
            found.put(key, value)
        return self.jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(found)


@dataclass(frozen=True, slots=True)
class Replaces:
    """What the staged files replace: nothing, everything, their partitions, or the rows of a condition."""

    everything: bool = False
    schema: bool = False
    partitions: bool = False
    condition: str | None = None


@contextmanager
def own_session(spark: "SparkSession", settings: Mapping[str, str]) -> Iterator[Any]:
    """A JVM session with additional settings, active in this thread: Delta reads some values only from the session,
    and other writes of the pipeline must not see them."""
    jvm: Any = spark.sparkContext._jvm
    classic = jvm.org.apache.spark.sql.classic.SparkSession
    session = spark._jsparkSession.cloneSession()
    for key, value in settings.items():
        session.sessionState().conf().setConfString(key, value)  # `conf().set` refuses some settings
    before = classic.getActiveSession()
    classic.setActiveSession(session)
    try:
        yield session
    finally:
        if before.isDefined():
            classic.setActiveSession(before.get())
        else:
            classic.clearActiveSession()


def stage_files(spark: "SparkSession", df: "DataFrame", path: str, prefix: str, **given: Any) -> StagedFiles:
    """Write the rows into the table's directory, in files whose names begin with `prefix`; see `append_actions`."""
    with own_session(df.sparkSession, {_FILE_PREFIX: prefix}) as session:
        jvm: Any = spark.sparkContext._jvm
        frame = jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, df._jdf.queryExecution().analyzed())
        return DeltaTable(spark, path, session).append_actions(frame, **given)


def analyze(jvm: Any, session: Any, statement: str) -> None:
    """Raise Spark's error where the statement could not be run in this JVM session; it is not run."""
    state = session.sessionState()
    skip = jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    state.executePlan(state.sqlParser().parsePlan(statement), skip).assertAnalyzed()


def is_conflict(error: BaseException) -> bool:
    return _CONFLICT in str(error) or "Concurrent" in str(getattr(error, "java_exception", ""))
