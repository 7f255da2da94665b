"""Topics of Kafka: Apache SeaTunnel's Kafka source and sink, read and written by Spark's own connector.

A read covers the records that the topics have when it starts; the offsets where it ends are committed to the consumer
group after the commit of the sinks. A write stages its records as Parquet next to the run's journal and sends them at
the commit. Kafka cannot take them back, so that an interrupted commit looks for those that are sent when it goes on:

    <run>/staging/<write id>/data     the staged records
    <run>/staging/<write id>/began    where the topics ended before the first one was sent
    <run>/staging/<write id>/done     they have been sent: leftover files
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.diagnostics.source import Span
from catalog.options import Option, Options
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, Column, TablePath
from connectors.interface.run_context import RunContext
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import (
    SOURCE_PARTITION,
    SupportsAcknowledgement,
    SupportsNewColumns,
    SupportsPartitionTimes,
    SupportsStreaming,
)
from connectors.kafka.avro_records import is_avro
from connectors.kafka.client import brokers
from connectors.kafka.connection import KafkaConnection, check_servers
from connectors.kafka.new_columns import follows_schema, new_columns, with_columns
from connectors.kafka.offsets import (
    KafkaPosition,
    assignment,
    check_offsets,
    commit_position,
    offsets_still_read,
    offsets_text,
    partition_offsets,
    position_of,
    stream_options,
    stream_position,
    topic_ids,
    topics_of,
    unread_partitions,
)
from connectors.kafka.options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.kafka.protobuf_records import is_protobuf, message_of
from connectors.kafka.read_records import RECORD_DDL, rows_of, table_of, undeclared_columns
from connectors.kafka.sent_records import not_yet_sent
from connectors.kafka.write_records import (
    assigned_texts,
    check_records,
    in_other_partitions,
    is_change_log,
    is_fixed,
    keeps_order,
    records_of,
    registered,
    topic_text,
)
from connectors.shared.spark_jars import spark_jar
from connectors.shared.spark_types import columns_of
from connectors.shared.staged import Credentials, Staged, secret_mapping
from connectors.storage.filesystem import as_uri, committing, files_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class KafkaStaged(Staged):
    """`staging`: the directory of the staged records; `topics`: those that the commit creates if they are missing;
    `keeps_order`: records of one key are sent in the order of their rows; `assigned`: the partitions, from 0, that only
    records with certain texts go into."""

    staging: str
    servers: str
    topics: tuple[str, ...]
    config: Mapping[str, str]
    keeps_order: bool = False
    assigned: int = 0
    secrets: Mapping[str, str] = secret_mapping()

    @property
    def credentials_key(self) -> str:
        return self.servers

    @property
    def connection(self) -> KafkaConnection:
        return KafkaConnection(self.servers, self.config, self.secrets)


class Kafka(
    Source,
    SupportsStreaming,
    SupportsPartitionTimes,
    SupportsNewColumns,
    SupportsAcknowledgement[KafkaPosition],
    Sink[KafkaStaged],
):
    name: ClassVar[str] = "Kafka"
    tested_against: ClassVar[tuple[str, ...] | None] = ("Kafka", "a schema registry of the tests")
    doc: ClassVar[str] = (
        "Reads and writes topics of Kafka. A read covers the records that a topic has when the run starts; a write is "
        "once, also where its commit is interrupted and goes on; each record has headers by which a reader can drop "
        "what is sent again after the state directory is lost."
    )
    maven: ClassVar[tuple[str, ...]] = (spark_jar("kafka"), spark_jar("kafka-tokens"))
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_cheap=False)
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    staged_type: ClassVar[type[Staged]] = KafkaStaged
    aborts_without_spark: ClassVar[bool] = True
    position_type: ClassVar[type[Staged]] = KafkaPosition
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, SchemaSaveMode.IGNORE),
        data_save_modes=(DataSaveMode.APPEND_DATA,),
    )

    def credentials(self, options: Options) -> Credentials:
        return KafkaConnection.of(options).credentials

    def table_path(self, options: Options) -> TablePath | None:
        """The topic, or the pattern of topics."""
        topic = options.get("topic")
        return TablePath(topic) if isinstance(topic, str) and topic else None

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        check_servers(options, diagnostics)
        check_offsets(options, diagnostics)
        if not topics_of(options):
            diagnostics.error("PEN2004", "`topic` names no topic", options.span("topic"), 'topic = "orders"')
        return (table_of(options, diagnostics),)

    def jars(self, options: Options) -> tuple[str, ...]:
        return (*self.maven, spark_jar("avro")) if is_avro(options) else self.maven

    def staged_jars(self, staged: KafkaStaged) -> tuple[str, ...]:
        return self.maven  # records are staged as they are sent

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The declared table, or that of the registry or the Protobuf message: a topic describes no columns."""
        table = self.tables(options, Diagnostics())[0]
        return CatalogTable.of("kafka", undeclared_columns(options)) if table.is_open else table

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return _place(options, "" if options.flag("pattern") else ",".join(topics_of(options)))

    def position(self, spark: "SparkSession", options: Options) -> KafkaPosition:
        return position_of(spark, options)

    def acknowledge(self, spark: "SparkSession", position: KafkaPosition, run: RunContext) -> None:
        commit_position(spark, position)

    def stream_identity(self, options: Options) -> str:
        return KafkaConnection.of(options).servers

    def stream_incarnations(self, spark: "SparkSession", options: Options) -> Mapping[str, str]:
        return topic_ids(spark, options)

    def is_same_stream(self, before: str, now: str) -> bool:
        """The same brokers, where one of them is named by both: others of a cluster may come and go."""
        return not set(before.split(",")).isdisjoint(now.split(","))

    def offsets_still_read(self, options: Options, offsets: str) -> str:
        return offsets_still_read(options, offsets)

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        return spark.readStream.format("kafka").options(**stream_options(spark, task.options, is_new=is_new)).load()

    def arrived(self, spark: "SparkSession", task: ScanTask, batch: "DataFrame") -> "DataFrame":
        return task.selected(rows_of(batch, task.options, task.table))

    def timed_rows(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        records = self.stream(spark, task, is_new=is_new)
        named = f"concat(topic, '-', partition) as {SOURCE_PARTITION}"
        return task.selected(rows_of(records, task.options, task.table, [named]), SOURCE_PARTITION)

    def stream_partitions(self, offsets: str) -> tuple[str, ...]:
        return tuple(f"{topic}-{number}" for topic, number in partition_offsets(offsets))

    def unread_partitions(self, spark: "SparkSession", options: Options, offsets: str) -> frozenset[str]:
        return unread_partitions(spark, options, offsets)

    def has_stable_batch_plan(self, options: Options) -> bool:
        return options.get("schema_registry.url") is None  # a registry may have new schemas

    def follows_schema(self, options: Options) -> bool:
        return follows_schema(options)

    def new_columns(self, task: ScanTask, batch: "DataFrame") -> tuple[Column, ...]:
        return new_columns(task, batch)

    def with_columns(self, options: Options, table: CatalogTable, columns: Sequence[Column]) -> Options:
        return with_columns(options, table, columns)

    def stream_position(self, options: Options, offsets: str) -> KafkaPosition | None:
        return stream_position(options, offsets)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        position = task.position if isinstance(task.position, KafkaPosition) else position_of(spark, task.options)
        ranges = [offsets for offsets in position.ranges if offsets.start < offsets.end]
        if ranges:
            partitions = [(offsets.topic, offsets.partition) for offsets in ranges]
            records = (
                spark.read.format("kafka")
                .options(**position.connection.spark_options)
                .option("assign", assignment(partitions))
                .option("startingOffsets", offsets_text({(e.topic, e.partition): e.start for e in ranges}))
                .option("endingOffsets", offsets_text({(e.topic, e.partition): e.end for e in ranges}))
                .option("includeHeaders", "true")
                .load()
            )
        else:
            records = spark.createDataFrame([], RECORD_DDL)
        return task.selected(rows_of(records, task.options, task.table))

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        check_servers(options, diagnostics)
        check_records(options, table, diagnostics)
        if str(options["semantics"]).upper() == "EXACTLY_ONCE":
            message = (
                "`semantics = EXACTLY_ONCE`: records are sent in no transaction, so that readers see them one by one"
            )
            help = "readers drop repeats by the headers `penstock.run` and `penstock.record`"
            diagnostics.warning("PEN2011", message, options.span("semantics"), help)

    def target(self, options: Options) -> str | None:
        return _place(options, topic_text(options))

    def row_kind_modes(self, options: Options) -> tuple[WriteMode, ...]:
        return (WriteMode.APPEND,) if is_change_log(options) else ()

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        return (
            "an interrupted commit sends the records that the topic lacks; a task that Spark tries again, and a run "
            "whose state directory is lost or old, send records again, with the same headers `penstock.run` and "
            "`penstock.record`",
        )

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """Raises PEN5005 where the brokers do not answer, a topic has no such partition, or the file of the Protobuf
        message cannot be read."""
        if is_protobuf(task.options):
            message_of(task.options, code="PEN5005")
        connection, span = KafkaConnection.of(task.options), task.options.span("bootstrap.servers")
        with brokers(spark, connection.servers, connection.client, code="PEN5005", span=span) as kafka:
            topic, partition = topic_text(task.options), task.options.optional_integer("partition")
            count = kafka.partitions([topic]).get(topic) if is_fixed(task.options) else None
        if partition is not None and count is not None and partition >= count:
            message = f"`{topic}` has {count} partitions, numbered from 0, and none with the number {partition}"
            raise run_error("PEN5005", message, task.options.span("partition"))
        if count is not None:
            _check_assigned(len(assigned_texts(task.options)), {topic: count}, task.options.span("assign_partitions"))
        return TargetState(exists=count is not None)

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> KafkaStaged:
        connection = KafkaConnection.of(task.options)
        return KafkaStaged(
            staging=task.scratch,
            servers=connection.servers,
            topics=(topic_text(task.options),) if is_fixed(task.options) else (),
            config=connection.config,
            keeps_order=keeps_order(task.options),
            assigned=len(assigned_texts(task.options)),
            secrets=connection.secrets,
        )

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: KafkaStaged) -> KafkaStaged:
        columns = columns_of(df.schema)
        records = records_of(df, task, columns, registered(task, columns))
        records.write.mode("overwrite").parquet(f"{prepared.staging}/data")
        return prepared

    def commit(self, spark: "SparkSession", staged: KafkaStaged, run: RunContext) -> None:
        with committing(spark, staged.staging) as is_due:
            if is_due:
                connection = staged.connection
                records = spark.read.schema(_STAGED_DDL).parquet(as_uri(f"{staged.staging}/data"))
                topics = staged.topics or [row.topic for row in records.select("topic").distinct().collect()]
                with brokers(spark, connection.servers, connection.client, code="PEN5005") as kafka:
                    kafka.create(topics)
                    counts = kafka.partitions(topics) if staged.assigned else {}
                    records = not_yet_sent(records, staged.staging, kafka, topics, connection)
                if staged.assigned:
                    _check_assigned(staged.assigned, counts, None)
                    records = in_other_partitions(records, staged.assigned, counts)
                if staged.keeps_order:
                    records = records.repartition("key").sortWithinPartitions("position")
                records.drop("position").write.format("kafka").options(**connection.spark_options).save()
        self.abort(spark, staged, run)

    def abort(self, spark: "SparkSession", staged: KafkaStaged, run: RunContext) -> None:
        files, staging = files_at(spark, staged.staging)
        files.delete(staging)


connector = Kafka()

_STAGED_DDL = (
    "key binary, value binary, topic string, partition int, headers array<struct<key: string, value: binary>>, "
    "position bigint"
)


def _check_assigned(assigned: int, counts: Mapping[str, int], span: Span | None) -> None:
    """Raise PEN5005 where a topic has no partition except those of `assign_partitions`."""
    for topic, count in counts.items():
        if assigned and count <= assigned:
            message = f"`assign_partitions` has {assigned} texts, and `{topic}` {count} partitions: one more is needed"
            raise run_error("PEN5005", message, span, "create the topic with more partitions, or leave texts out")


def _place(options: Options, topic: str) -> str:
    return f"kafka://{KafkaConnection.of(options).servers}/{topic}"
