"""Iceberg's tables and transactions, through the session's JVM.

`stage` has Spark write data files in a transaction that is never committed; another one appends these files. Iceberg
does the conflict checks, and its catalog makes the change atomic.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import run_error
from connectors.commits.retrying import retried
from connectors.iceberg.changed_columns import promotes
from connectors.iceberg.iceberg_staged import NewTable, ReplacedPart
from connectors.iceberg.partitioning import specification
from connectors.iceberg.session_catalog import open_catalog
from connectors.iceberg.sorting import sort_order
from connectors.iceberg.table_address import TableAddress
from connectors.iceberg.table_metadata import Metadata, commit_of, table_of, without_times
from connectors.lakehouse.own_session import own_session
from connectors.shared.java_names import java_named
from connectors.shared.spark_types import of_spark_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CONFLICTS: Final = (
    "CommitFailedException",
    "ValidationException",
    "CommitStateUnknownException",
    "Cannot fast-forward",
)
_FORMAT: Final = "format-version"


@dataclass(frozen=True, slots=True)
class IcebergFiles:
    """Data files that no snapshot has: Java's serialization of them, and what they hold."""

    files: str
    fields: str
    rows: int
    bytes: int


@contextmanager
def opened(
    spark: "SparkSession", address: TableAddress, settings: Mapping[str, str] | None = None
) -> Iterator["IcebergTable"]:
    """The table, in a JVM session that has its catalog and these settings."""
    fresh = {
        f"spark.sql.catalog.{address.catalog}.cache-enabled": "false"
    }  # another session may have written meanwhile
    with own_session(spark, {**address.settings, **fresh, **(settings or {})}) as session:
        yield IcebergTable(spark, session, address)


class IcebergTable:
    """One table of a catalog, which may not exist yet."""

    def __init__(self, spark: "SparkSession", session: Any, address: TableAddress) -> None:
        from py4j.java_gateway import is_instance_of

        jvm: Any = spark.sparkContext._jvm
        self.jvm, self.spark = jvm, spark
        self.iceberg: Any = jvm.org.apache.iceberg
        self.session = session
        self.address = address
        gateway: Any = spark.sparkContext._gateway
        self.plugin: Any = open_catalog(spark, session, address.catalog, {}, address.secrets)
        kind = "org.apache.iceberg.spark.source.HasIcebergCatalog"
        if not is_instance_of(gateway, self.plugin, kind):  # type: ignore[no-untyped-call]
            message = f"the catalog `{address.catalog}` of the Spark session is not one of Iceberg's"
            help = f"env {{ spark.sql.catalog.{address.catalog} = org.apache.iceberg.spark.SparkCatalog, … }}"
            raise run_error("PEN5005", message, None, help)
        self.catalog: Any = self.plugin.icebergCatalog()
        self._levels = gateway.new_array(jvm.java.lang.String, len(address.namespace))
        for index, level in enumerate(address.namespace):
            self._levels[index] = level
        self._namespace = self.iceberg.catalog.Namespace.of(self._levels)
        self._name = self.iceberg.catalog.TableIdentifier.of(self._namespace, address.table)

    def exists(self) -> bool:
        return bool(self.catalog.tableExists(self._name))

    def load(self) -> Any:
        """Iceberg's `Table`, as it is now."""
        table = self.catalog.loadTable(self._name)
        table.refresh()
        return table

    def metadata(self) -> Metadata:
        found: Metadata = json.loads(self._metadata_text(self.load()))
        return found

    def _metadata_text(self, table: Any) -> str:
        return str(self.iceberg.TableMetadataParser.toJson(table.operations().current()))

    def rows_without_times(self) -> "DataFrame":
        """The rows without the columns that hold a `time`. Spark refuses the whole table otherwise (Iceberg's
        `TypeToSparkType`); the files are read by the numbers of the columns, of which these are not asked for."""
        from pyspark.sql import DataFrame

        table = self.load()
        location = table.operations().current().metadataFileLocation()
        text = json.dumps(without_times(json.loads(self._metadata_text(table))))
        metadata = self.iceberg.TableMetadataParser.fromJson(location, text)
        static = self.iceberg.BaseTable(self.iceberg.StaticTableOperations(metadata, table.io()), table.name())
        option = java_named(self.jvm, "scala.Option")
        relation = java_named(self.jvm, "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation").create(
            self.iceberg.spark.source.SparkTable(static), option.empty(), option.empty()
        )
        of_rows = java_named(self.jvm, "org.apache.spark.sql.classic.Dataset.ofRows")
        return DataFrame(of_rows(self.session, relation), self.spark)

    def committed(self, identity: str, branch: str | None = None) -> Mapping[str, str] | None:
        """The summary of the snapshot by which a write was committed; None where there is none."""
        return commit_of(self.metadata(), identity, branch) if self.exists() else None

    def data_folder(self) -> str:
        """Where the table's data files are, or would be."""
        table = self.load() if self.exists() else self._draft().table()
        location = str(table.location()).rstrip("/")
        return str(table.properties().get("write.data.path") or f"{location}/data").rstrip("/")

    def delete_folder(self, folder: str) -> None:
        table = self.load() if self.exists() else self._draft().table()
        table.io().deletePrefix(folder)

    def _draft(self) -> Any:
        """A transaction that creates the table; never committed, and nothing is written."""
        return self.catalog.buildTable(
            self._name, self.iceberg.Schema(self.jvm.java.util.ArrayList())
        ).createTransaction()

    def begin(self, table: NewTable | None, replaces: ReplacedPart, added: Mapping[str, Any]) -> Any:
        """A transaction on the table; on a new one, or one that is made anew, where `table` is given."""
        if table is None:
            transaction = self.load().newTransaction()
            self._change_columns(transaction, added)
            return transaction
        schema = self._schema(table.columns)
        builder = self.catalog.buildTable(self._name, schema)
        builder = builder.withPartitionSpec(specification(self.jvm, schema, table.partition_by))
        builder = builder.withSortOrder(sort_order(self.jvm, schema, table.sort_by))
        builder = builder.withProperties(self._map(table.properties))
        return builder.replaceTransaction() if replaces is ReplacedPart.TABLE else builder.createTransaction()

    def _change_columns(self, transaction: Any, changed: Mapping[str, Any]) -> None:
        """Add the columns that the table lacks, and widen the others, where they are not as wide already."""
        known = table_of(json.loads(self._metadata_text(self.load())))
        columns = {name: (known.column(name), type) for name, type in changed.items()}
        due = {
            name: (column, type)
            for name, (column, type) in columns.items()
            if column is None or promotes(column.type, of_spark_json(type))
        }
        if not due:
            return
        update = transaction.updateSchema()
        for name, (column, type) in due.items():
            spark_type = self.jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(type))
            wanted = self.iceberg.spark.SparkSchemaUtil.convert(spark_type)
            if column is None:
                update.addColumn(name, wanted)
            else:
                update.updateColumn(column.name, wanted)
        update.commit()

    def change_columns(self, changed: Mapping[str, Any]) -> None:
        """The same as one change of the table."""

        def attempt() -> None:
            transaction = self.load().newTransaction()
            self._change_columns(transaction, changed)
            transaction.commitTransaction()

        retried(attempt, is_conflict)

    def create_namespace(self) -> None:
        """The namespace of a new table, where the catalog has it not; a directory needs none."""
        if self.address.folder is None and self.address.namespace and not self.plugin.namespaceExists(self._levels):
            self.plugin.createNamespace(self._levels, self._map({}))

    def _schema(self, columns: str) -> Any:
        struct = self.jvm.org.apache.spark.sql.types.DataType.fromJson(columns)
        return self.iceberg.spark.SparkSchemaUtil.convert(struct.asNullable())

    def fields(self, transaction: Any) -> str:
        """The columns of the transaction's table, with their ids, as JSON."""
        schema = json.loads(self.iceberg.SchemaParser.toJson(transaction.table().schema()))
        return json.dumps(schema["fields"], sort_keys=True)

    def stage(self, transaction: Any, df: Any, folder: str) -> IcebergFiles:
        """Have Spark write the rows (a plan of the JVM's) into a directory as files of the table."""
        transaction.updateProperties().set("write.data.path", folder).commit()
        self._append(transaction.table(), df)
        snapshot, io = transaction.table().currentSnapshot(), transaction.table().io()
        files = self.jvm.java.util.ArrayList()
        added = snapshot.addedDataFiles(io).iterator()
        while added.hasNext():
            files.add(added.next())
        summary = snapshot.summary()
        manifests = snapshot.allManifests(io)
        for index in range(manifests.size()):
            if manifests.get(index).snapshotId() == snapshot.snapshotId():
                io.deleteFile(manifests.get(index).path())
        io.deleteFile(snapshot.manifestListLocation())
        return IcebergFiles(
            str(self.iceberg.util.SerializationUtil.serializeToBase64(files)),
            self.fields(transaction),
            int(summary.get("added-records") or 0),
            int(summary.get("added-files-size") or 0),
        )

    def _append(self, table: Any, plan: Any) -> None:
        """Spark's `INSERT INTO … BY NAME` on a table that no catalog shows."""
        some = self.jvm.scala.Some
        name = self.jvm.org.apache.spark.sql.connector.catalog.Identifier.of(self._levels, self.address.table)
        relation = self.jvm.org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation.create(
            self.iceberg.spark.source.SparkTable(table), some(self.plugin), some(name)
        )
        options = self.jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(self._map({}))
        command = self.jvm.org.apache.spark.sql.catalyst.plans.logical.AppendData.byName(relation, plan, options)
        mode = self.jvm.org.apache.spark.sql.execution.CommandExecutionMode.ALL()
        self.session.sessionState().executePlan(command, mode).assertCommandExecuted()

    def paths(self, files: str) -> list[str]:
        return [str(file.location()) for file in self._files(files)]

    def holds(self) -> Callable[[str], bool]:
        """Says whether a staged file is there."""
        files = (self.load() if self.exists() else self._draft().table()).io()
        return lambda path: bool(files.newInputFile(path).exists())

    def _files(self, text: str) -> Any:
        return self.iceberg.util.SerializationUtil.deserializeFromBase64(text)

    def base_of(self, transaction: Any) -> Metadata | None:
        """The metadata onto which a transaction commits; None if it creates the table."""
        base = transaction.startMetadata()
        return None if base is None else json.loads(self.iceberg.TableMetadataParser.toJson(base))

    def commit(
        self,
        transaction: Any,
        files: str,
        replaces: ReplacedPart,
        summary: Mapping[str, str],
        branch: str | None = None,
    ) -> None:
        """Commit one snapshot with the files, and with the transaction's other changes, onto `base_of` it: a conflict
        if the table has changed since. (`commitTransaction` would apply the changes to the changed table.)"""
        found = self._files(files)
        if replaces is ReplacedPart.PARTITIONS and not found.size():
            replaces = ReplacedPart.NOTHING  # Iceberg refuses to replace the partitions of no files
        if replaces is ReplacedPart.ROWS:
            everything = self.iceberg.expressions.Expressions.alwaysTrue()
            operation = transaction.newOverwrite().overwriteByRowFilter(everything)
        elif replaces is ReplacedPart.PARTITIONS:
            operation = transaction.newReplacePartitions()
        else:
            operation = transaction.newAppend()
        add = operation.addFile if replaces in (ReplacedPart.ROWS, ReplacedPart.PARTITIONS) else operation.appendFile
        for file in found:
            add(file)
        for key, value in summary.items():
            operation.set(key, value)
        if branch is not None:
            operation.toBranch(branch)
        operation.commit()
        base = transaction.startMetadata()
        if base is None:
            transaction.commitTransaction()
        else:
            transaction.underlyingOps().commit(base, transaction.currentMetadata())

    def create_branch(self, name: str, snapshot: int | None) -> None:
        """Create a branch at a snapshot; without one, an empty branch."""
        change = self.load().manageSnapshots()
        (change.createBranch(name) if snapshot is None else change.createBranch(name, snapshot)).commit()

    def reset_branch(self, name: str, snapshot: int | None) -> None:
        """The same of a branch that may be there, in one change."""
        if snapshot is None or name not in self.load().refs():
            self.remove_branch(name)
            self.create_branch(name, snapshot)
        else:
            self.load().manageSnapshots().replaceBranch(name, snapshot).commit()

    def remove_branch(self, name: str) -> None:
        table = self.load()
        if name in table.refs():
            table.manageSnapshots().removeBranch(name).commit()

    def publish(self, branch: str) -> None:
        """Make a branch's snapshot that of the main branch, and remove the branch, in one change."""
        self.load().manageSnapshots().fastForwardBranch("main", branch).removeBranch(branch).commit()

    def _map(self, items: Mapping[str, str]) -> Any:
        found = self.jvm.java.util.HashMap()
        for key, value in items.items():
            found.put(key, value)
        return found


def is_conflict(error: BaseException) -> bool:
    return any(name in str(error) for name in _CONFLICTS)
