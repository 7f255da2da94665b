"""Questions to Kafka's brokers, asked by Kafka's own client in Spark's Java process."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.diagnostics.source import Span
from catalog.secret_names import redacted_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Partition: TypeAlias = tuple[str, int]
"""A partition: its topic and number."""

_TIMEOUTS: Final = {"request.timeout.ms": "15000", "default.api.timeout.ms": "30000"}
"""How long an answer is waited for, unless the job says otherwise: Kafka's own minute is long for a typing error."""


@dataclass(frozen=True, eq=False, slots=True)
class Brokers:
    """A connection to the brokers; every method raises `RunError` with `code` where they refuse or do not answer."""

    jvm: Any
    admin: Any
    servers: str
    code: str
    span: Span | None

    def partitions(self, topics: Iterable[str]) -> dict[str, int]:
        """How many partitions each of these topics has; without those that do not exist."""
        wanted = [topic for topic in topics if topic in set(self.topics())]
        if not wanted:
            return {}
        with self._asking():
            described = self.admin.describeTopics(_list(self.jvm, wanted)).allTopicNames().get()
            return {str(name): described.get(name).partitions().size() for name in described.keySet()}

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        """The id of each of these topics, which another topic of its name has not; without those that do not exist."""
        wanted = [topic for topic in topics if topic in set(self.topics())]
        with self._asking():
            described = self.admin.describeTopics(_list(self.jvm, wanted)).allTopicNames().get()
            return {str(name): str(described.get(name).topicId()) for name in described.keySet()}

    def topics(self) -> tuple[str, ...]:
        """The names of all topics that this client may see, but Kafka's own."""
        with self._asking():
            return tuple(sorted(str(name) for name in self.admin.listTopics().names().get()))

    def create(self, topics: Iterable[str]) -> None:
        """Create topics with the broker's own number of partitions and replicas; those that exist are left alone."""
        existing = set(self.topics())
        new = [topic for topic in topics if topic not in existing]
        if not new:
            return
        empty = self.jvm.java.util.Optional.empty()
        described = [self.jvm.org.apache.kafka.clients.admin.NewTopic(topic, empty, empty) for topic in new]
        with self._asking("TopicExistsException"):
            self.admin.createTopics(_list(self.jvm, described)).all().get()

    def offsets(self, partitions: Iterable[Partition], at: str | int) -> dict[Partition, int]:
        """The `earliest` or `latest` offset of each partition, or the first of a time (milliseconds), else the last."""
        spec = self.jvm.org.apache.kafka.clients.admin.OffsetSpec
        wanted = spec.earliest() if at == "earliest" else spec.latest() if at == "latest" else spec.forTimestamp(at)
        asked = self._by_partition(dict.fromkeys(partitions, wanted))
        if asked.isEmpty():
            return {}
        with self._asking():
            answer = self.admin.listOffsets(asked).all().get()
            return {_partition(partition): int(answer.get(partition).offset()) for partition in answer.keySet()}

    def committed(self, group: str) -> dict[Partition, int]:
        """The offsets that a consumer group has committed."""
        with self._asking("GroupIdNotFoundException") as answered:
            answer = self.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()
            return {
                _partition(partition): int(answer.get(partition).offset())
                for partition in answer.keySet()
                if answer.get(partition) is not None
            }
        return answered

    def commit(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """Commit offsets of a group that has no running consumers."""
        made = self.jvm.org.apache.kafka.clients.consumer.OffsetAndMetadata
        with self._asking():
            committed = self._by_partition({partition: made(offset) for partition, offset in offsets.items()})
            self.admin.alterConsumerGroupOffsets(group, committed).all().get()

    def _by_partition(self, values: Mapping[Partition, Any]) -> Any:
        found = self.jvm.java.util.HashMap()
        for (topic, number), value in values.items():
            found.put(self.jvm.org.apache.kafka.common.TopicPartition(topic, number), value)
        return found

    @contextmanager
    def _asking(self, ignored: str = "") -> Iterator[dict[Partition, int]]:
        from py4j.protocol import Py4JError

        try:
            yield {}
        except Py4JError as error:
            why = _why(error)
            if not ignored or ignored not in why:
                raise _refused(self.servers, why, self.code, self.span) from error


@contextmanager
def brokers(
    spark: "SparkSession", servers: str, config: Mapping[str, str], *, code: str, span: Span | None = None
) -> Iterator[Brokers]:
    """A connection to the brokers, closed at the end; errors are of this code and at this place."""
    from py4j.protocol import Py4JError

    jvm: Any = spark.sparkContext._jvm
    settings = jvm.java.util.Properties()
    for name, value in {**_TIMEOUTS, **config, "bootstrap.servers": servers}.items():
        settings.setProperty(name, value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
    except (Py4JError, TypeError) as error:
        raise _refused(servers, _why(error), code, span) from error
    try:
        yield Brokers(jvm, admin, servers, code, span)
    finally:
        admin.close(jvm.java.time.Duration.ofSeconds(5))


def _refused(servers: str, why: str, code: str, span: Span | None) -> RunError:
    help = None
    if "TimeoutException" in why or "No resolvable bootstrap urls" in why:
        help = "are the brokers running, and is `bootstrap.servers` their `host:port` as this machine reaches them?"
    elif "GroupNotEmpty" in why or "UnknownMemberId" in why:
        help = "another program is reading as this group; give this job a `consumer.group` of its own"
    return run_error(code, f"Kafka at `{servers}`: {redacted_text(why)}", span, help)


def _why(error: BaseException) -> str:
    """The innermost cause in Java, with its class, since some have no other text."""
    thrown: Any = getattr(error, "java_exception", None)
    if thrown is None:
        return str(error).partition("\n")[0]
    while thrown.getCause() is not None:
        thrown = thrown.getCause()
    name = str(thrown.getClass().getSimpleName())
    return f"{thrown.getMessage() or 'no reason is given'} ({name})"


def _partition(java: Any) -> Partition:
    return str(java.topic()), int(java.partition())


def _list(jvm: Any, items: Iterable[Any]) -> Any:
    found = jvm.java.util.ArrayList()
    for item in items:
        found.add(item)
    return found
