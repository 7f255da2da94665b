"""Delta's transactions, through the session's JVM: the rows' files are written in one, committed in another.

`stage_files` has Delta write data files into the table's directory, where no reader sees them until `DeltaTable.commit`
puts what it returned (Delta's actions, as JSON) into the log.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import unquote

from connectors.commits.retrying import retried
from connectors.delta.clustering import DOMAIN, clustering_action, with_clustering
from connectors.lakehouse.own_session import own_session
from connectors.shared.java_names import java_named
from connectors.storage.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILE_PREFIX: Final = "spark.databricks.delta.testOnly.dataFileNamePrefix"
_CHANGE_TYPE: Final = "_change_type"
_CONFLICT: Final = "DeltaConcurrentModificationException"

MetadataOf: TypeAlias = Callable[[Mapping[str, Any] | None], str | None]
"""The `metaData` action that a commit adds, None for none, by the one of the table (None: there is no table)."""


@dataclass(frozen=True, slots=True)
class StagedFiles:
    """What Delta returned for the files that it wrote; `metadata` where the commit must change the table's, `before`
    the table's as the files were written; both are `metaData` actions."""

    actions: tuple[str, ...]
    metadata: str | None
    table_id: str
    before: Mapping[str, Any] | None


class DeltaTable:
    """One Delta table as a session sees it."""

    def __init__(self, spark: "SparkSession", path: str, session: Any = None) -> None:
        jvm: Any = spark.sparkContext._jvm
        self.spark = spark
        self.jvm = jvm
        self.session: Any = session or spark._jsparkSession
        self.path = path
        folder = self._java("org.apache.hadoop.fs.Path")(path)
        self.log: Any = self._java("org.apache.spark.sql.delta.DeltaLog.forTable")(self.session, folder)

    def exists(self) -> bool:
        return int(self._snapshot().version()) >= 0

    def metadata(self) -> Mapping[str, Any]:
        """Delta's `metaData` action of the latest version."""
        return _metadata_of(self._snapshot())

    def found(self) -> Mapping[str, Any] | None:
        """The same, or None where there is no table: one look at the log."""
        snapshot = self._snapshot()
        return _metadata_of(snapshot) if int(snapshot.version()) >= 0 else None

    def committed_version(self, application: str) -> int | None:
        """The version of the application's transaction in the log; None where there is none."""
        txn = self.log.startTransaction()
        found = int(txn.txnVersion(application)) if txn.readVersion() >= 0 else -1
        return found if found >= 0 else None

    def committed_at(self, application: str) -> int:
        """When that transaction was made, in milliseconds of the epoch; 0 where it does not say so."""
        found = self._snapshot().setTransactions()
        made = (found.apply(index) for index in range(found.size()))
        times = (each.lastUpdated() for each in made if str(each.appId()) == application)
        return next((int(time.get()) for time in times if time.isDefined()), 0)

    def restored_to(self) -> int | None:
        """When the version was made, in milliseconds, to which the table was restored last; None if it never was."""
        rows = self.spark.sql(f"DESCRIBE HISTORY delta.`{self.path.replace('`', '``')}`\n").collect()
        at = {int(row.version): int(row.timestamp.timestamp() * 1000) for row in rows}
        restored = next((row.operationParameters for row in rows if row.operation == "RESTORE"), None)
        version = None if restored is None else restored.get("version")
        return None if version is None else at.get(int(version), 0)

    def _snapshot(self) -> Any:
        return self.log.update(False, self._none(), self._none())

    def rows_of(self, spark: "SparkSession", actions: Sequence[str], *, is_in_table: bool) -> "DataFrame":
        """The rows of staged files; `is_in_table`: in the table's schema, which else is not known before the commit."""
        from pyspark.sql import DataFrame

        if not is_in_table:
            paths = [f"{self.path}/{unquote(json.loads(action)['add']['path'])}" for action in actions]
            return spark.read.parquet(*paths)
        files = self._seq([self._action(action) for action in actions])
        frame = self.log.createDataFrame(self._snapshot(), files, False, self._none())
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
            txn.updateMetadata(self._action(metadata), False)
        mode = self._java("org.apache.spark.sql.SaveMode")
        none = self._none()
        write = self._java("org.apache.spark.sql.delta.commands.WriteIntoDelta")(
            self.log,
            mode.Overwrite if overwrites_schema else mode.Append,
            self._java("org.apache.spark.sql.delta.DeltaOptions")(
                self._map(options), self.session.sessionState().conf()
            ),
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
            None if txn.readVersion() < 0 else json.loads(str(before.json()))["metaData"],
        )

    def commit(
        self,
        actions: Sequence[str],
        *,
        application: str,
        version: int,
        is_done: Callable[[int], bool],
        metadata: "MetadataOf",
        replaces: "Replaces",
        cluster_by: Sequence[str] = (),
        is_fresh: bool = False,
    ) -> bool:
        """One transaction of the staged files and what they replace; False if it was committed before, which is not
        looked for if it `is_fresh`: Delta reads the whole log for it. `is_done`: whether a version of the
        `application` shows that. Each attempt asks for the `metadata` that it commits, by what its transaction has
        read.

        A conflict with another writer is resolved by a retry on the changed table.
        """

        tries = count()

        def attempt() -> bool:
            return self._commit(
                actions,
                application,
                version,
                is_done=is_done,
                metadata=metadata,
                replaces=replaces,
                cluster_by=cluster_by,
                is_fresh=is_fresh and next(tries) == 0,
            )

        return retried(attempt, is_conflict)

    def _commit(
        self,
        actions: Sequence[str],
        application: str,
        version: int,
        *,
        is_done: Callable[[int], bool],
        metadata: "MetadataOf",
        replaces: "Replaces",
        cluster_by: Sequence[str],
        is_fresh: bool,
    ) -> bool:
        txn = self.log.startTransaction()
        is_there = txn.readVersion() >= 0
        if is_fresh:  # the log is not read, but a commit of the same write by another process is a conflict
            txn.readTxn().addOne(application)
        elif (found := int(txn.txnVersion(application))) >= 0 and is_done(found):
            return False
        wanted = metadata(_metadata_in(txn) if is_there else None)
        if is_there and not replaces.schema:
            cluster_by = ()  # another process has made the table
        clusters = bool(cluster_by) or (replaces.schema and self._is_clustered())
        if clusters and wanted is None:  # a table that is recreated with the same columns
            wanted = str(txn.metadata().json())
        if wanted is not None:
            found = self._action(with_clustering(wanted) if clusters else wanted)
            if txn.readVersion() < 0:
                txn.updateMetadataForNewTable(found)
            elif replaces.schema:
                txn.updateMetadataForTableOverwrite(found)
            else:
                txn.updateMetadata(found, False)
        added = self._seq([self._action(action) for action in actions])
        removed = list(self._removed(txn, replaces, added))
        if any(str(action.json()).startswith('{"cdc"') for action in removed):
            removed += self._added_changes(txn, actions, is_in_table=wanted is None)
        now = self._java("scala.Some")(self._java("java.lang.System.currentTimeMillis")())
        done = self._java("org.apache.spark.sql.delta.actions.SetTransaction")(application, version, now)
        whole = [*(added.apply(index) for index in range(added.size())), *removed, done]
        if clusters:
            about = json.loads(str(txn.metadata().json()))["metaData"]
            whole.append(self._action(clustering_action(cluster_by, about)))
        try:
            txn.commit(self._seq(whole), self._operation(replaces))
        except Exception as error:
            if is_conflict(error):
                self._delete_written(removed)
            raise
        return True

    def _delete_written(self, actions: Sequence[Any]) -> None:
        """Delete the files that an attempt wrote for the rows that remain of replaced files: it was not committed."""
        records = [json.loads(str(action.json())) for action in actions]
        replaced = {record["remove"]["path"] for record in records if "remove" in record}
        files, folder = files_at(self.spark, self.path)
        for record in records:
            path = next((record[kind]["path"] for kind in ("add", "cdc") if kind in record), None)
            if path is not None and path not in replaced:  # one with a new deletion vector is the table's
                files.delete(f"{folder}/{unquote(path)}")

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

    def _added_changes(self, txn: Any, actions: Sequence[str], *, is_in_table: bool) -> Iterator[Any]:
        """The staged rows for the change feed. Its readers take a version's recorded changes, where it has some, for
        all of them: the deleted rows would be there without the added ones."""
        rows = self.rows_of(self.spark, actions, is_in_table=is_in_table)
        written = txn.writeFiles(rows.selectExpr("*", f"'insert' as {_CHANGE_TYPE}")._jdf)
        return (written.apply(index) for index in range(written.size()))

    def _delete(self, condition: str | None) -> Any:
        """The actions of Delta's DELETE, for use in another transaction."""
        none = self._none()
        if condition is None:
            plan = self.session.emptyDataFrame().queryExecution().logical()
            return self._java("org.apache.spark.sql.delta.commands.DeleteCommand")(self.log, none, plan, none)
        text = f"DELETE FROM delta.`{self.path.replace('`', '``')}` WHERE {condition}\n"
        state = self.session.sessionState()
        return state.analyzer().execute(state.sqlParser().parsePlan(text))

    def _operation(self, replaces: "Replaces") -> Any:
        modes = self._java("org.apache.spark.sql.SaveMode")
        mode = modes.Append if replaces == Replaces() else modes.Overwrite
        none, some = self._none(), self._java("scala.Some")
        condition = none if replaces.condition is None else some(replaces.condition)
        write = self._java("org.apache.spark.sql.delta.DeltaOperations.Write")
        return write(mode, none, condition, none, none, none, none, none, none)

    def check_condition(self, condition: str) -> None:
        """Raise Spark's error where the rows of a condition could not be deleted."""
        text = f"DELETE FROM delta.`{self.path.replace('`', '``')}` WHERE {condition}\n"
        analyze(self.jvm, self.session, text)

    def check_metadata(self, metadata: str) -> None:
        """Raise Delta's error where the table could not take this `metaData` action."""
        self.log.startTransaction().updateMetadata(self._action(metadata), False)

    def change_metadata(self, change: Callable[[Mapping[str, Any]], str | None]) -> None:
        """Commit the `metaData` action that `change` makes of the latest one; nothing if it makes none."""

        def attempt() -> None:
            txn = self.log.startTransaction()
            changed = change(_metadata_in(txn))
            if changed is None:
                return
            before = txn.metadata().schema()
            txn.updateMetadata(self._action(changed), False)
            update = self._java("org.apache.spark.sql.delta.DeltaOperations.UpdateSchema")
            txn.commit(self._seq([]), update(before, txn.metadata().schema()))

        retried(attempt, is_conflict)

    def _java(self, name: str) -> Any:
        return java_named(self.jvm, name)

    def _none(self) -> Any:
        return self._java("scala.Option.empty")()

    def _action(self, text: str) -> Any:
        """An action of Delta's log, of its JSON."""
        return self._java("org.apache.spark.sql.delta.actions.Action.fromJson")(text)

    def _seq(self, items: Sequence[Any]) -> Any:
        found = self._java("java.util.ArrayList")()
        for item in items:
            found.add(item)
        return self._java("org.apache.spark.api.python.PythonUtils.toSeq")(found)

    def _map(self, items: Mapping[str, str]) -> Any:
        found = self._java("java.util.HashMap")()
        for key, value in items.items():
            found.put(key, value)
        return self._java("org.apache.spark.api.python.PythonUtils.toScalaMap")(found)


@dataclass(frozen=True, slots=True)
class Replaces:
    """What the staged files replace: nothing, everything, their partitions, or the rows of a condition."""

    everything: bool = False
    schema: bool = False
    partitions: bool = False
    condition: str | None = None


def stage_files(spark: "SparkSession", df: "DataFrame", path: str, prefix: str, **given: Any) -> StagedFiles:
    """Write the rows into the table's directory, in files whose names begin with `prefix`; see `append_actions`."""
    with own_session(df.sparkSession, {_FILE_PREFIX: prefix}) as session:
        jvm: Any = spark.sparkContext._jvm
        of_rows = java_named(jvm, "org.apache.spark.sql.classic.Dataset.ofRows")
        frame = of_rows(session, df._jdf.queryExecution().analyzed())
        return DeltaTable(spark, path, session).append_actions(frame, **given)


def analyze(jvm: Any, session: Any, statement: str) -> None:
    """Raise Spark's error where the statement could not be run in this JVM session; it is not run."""
    state = session.sessionState()
    skip = jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    state.executePlan(state.sqlParser().parsePlan(statement), skip).assertAnalyzed()


def _metadata_in(txn: Any) -> Mapping[str, Any]:
    """The `metaData` action that a transaction has read."""
    found: Mapping[str, Any] = json.loads(str(txn.metadata().json()))["metaData"]
    return found


def _metadata_of(snapshot: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(str(snapshot.metadata().json()))["metaData"]
    return found


def is_conflict(error: BaseException) -> bool:
    return _CONFLICT in str(error) or "Concurrent" in str(getattr(error, "java_exception", ""))
