"""The Kafka broker that tests start: one KRaft node from its Maven jars, on a free port of this machine."""

import subprocess
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.services.processes import free_port, start, stop, wait_until

ROOT = Path(__file__).parents[2]


@dataclass(eq=False)
class Broker:
    """A running broker, and clients that owe nothing to Penstock or Spark."""

    servers: str
    kill: Any = field(default=None, repr=False)
    start: Any = field(default=None, repr=False)
    sent: Counter[str] = field(default_factory=Counter, repr=False)  # records without a key, by topic

    def create(self, topic: str, partitions: int = 1) -> str:
        from kafka.admin import NewTopic

        self.admin.create_topics([NewTopic(topic, partitions, 1)])
        return topic

    def delete(self, topic: str) -> None:
        self.admin.delete_topics([topic])
        while topic in self.admin.list_topics():
            time.sleep(0.05)
        self.forget()

    def topic(self, partitions: int = 1) -> str:
        """A new topic with a name of its own."""
        return self.create(f"t{uuid.uuid4().hex[:10]}", partitions)

    def add_partitions(self, topic: str, total: int) -> None:
        self.admin.create_partitions({topic: total})
        self.forget()

    def send(self, topic: str, values: Iterable[Any], **record: Any) -> None:
        """Texts, bytes or None as the values of records; without `key` and `partition` the partitions take turns."""
        for value in values:
            sent = value.encode() if isinstance(value, str) else value
            options = {"key": b"k" if sent is None else None, **record}
            if options["key"] is None and "partition" not in options:
                options["partition"] = self.sent[topic] % len(self.producer.partitions_for(topic))
                self.sent[topic] += 1
            self.producer.send(topic, sent, **options)
        self.producer.flush()

    def records(self, topic: str) -> list[Any]:
        """All records of a topic, by partition and offset."""
        from kafka import KafkaConsumer, TopicPartition

        with closing(KafkaConsumer(bootstrap_servers=self.servers, enable_auto_commit=False)) as consumer:
            partitions = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic) or ()]
            if not partitions:
                return []
            consumer.assign(partitions)
            consumer.seek_to_beginning()
            ends = consumer.end_offsets(partitions)
            found: list[Any] = []
            while any(consumer.position(each) < ends[each] for each in partitions):
                for several in consumer.poll(timeout_ms=200).values():
                    found += several
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def values(self, topic: str) -> list[str]:
        return [record.value.decode() for record in self.records(topic)]

    def committed(self, group: str) -> Mapping[tuple[str, int], int]:
        """The offsets that a consumer group has committed, by topic and partition."""
        from kafka.errors import CoordinatorNotAvailableError

        try:
            found = self.admin.list_group_offsets({group: None})
        except CoordinatorNotAvailableError:  # no group has committed anything yet
            return {}
        return {(each.topic, each.partition): at.offset for each, at in found[group].items()}

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets of a group, by partition."""
        from kafka import KafkaConsumer, TopicPartition
        from kafka.structs import OffsetAndMetadata

        made = {TopicPartition(topic, number): OffsetAndMetadata(at, "", -1) for number, at in offsets.items()}
        with closing(KafkaConsumer(bootstrap_servers=self.servers, group_id=group)) as consumer:
            consumer.assign(list(made))
            consumer.commit(made)

    @cached_property
    def admin(self) -> Any:
        """Kept: a client takes a tenth of a second to begin."""
        return self._admin()

    @cached_property
    def producer(self) -> Any:
        from kafka import KafkaProducer

        return KafkaProducer(bootstrap_servers=self.servers)

    def forget(self) -> None:
        """Close the clients, which remember the partitions of topics."""
        for name in ("admin", "producer"):
            if (client := self.__dict__.pop(name, None)) is not None:
                client.close()

    def _admin(self) -> Any:
        from kafka import KafkaAdminClient

        return KafkaAdminClient(bootstrap_servers=self.servers)


@pytest.fixture(scope="session")
def kafka() -> Iterator[Broker]:
    """A Kafka 4.1 broker that is its own controller."""
    found = subprocess.run([str(ROOT / ".ci" / "kafka")], capture_output=True, text=True, check=False)
    assert found.returncode == 0, f"the jars of the Kafka broker are missing: {found.stderr[-800:]}"
    with tempfile.TemporaryDirectory(prefix="penstock-kafka-", ignore_cleanup_errors=True) as name:
        yield from _running(Path(name), found.stdout.strip())


def _running(folder: Path, classpath: str) -> Iterator[Broker]:
    port, log = free_port(), folder / "log"
    settings = folder / "server.properties"
    settings.write_text(_settings(folder, port, free_port()))
    java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", classpath]
    cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    named = f"--cluster-id={cluster}"  # one word: the id may begin with a hyphen
    make = [*java, "kafka.tools.StorageTool", "format", named, "-c", str(settings), "--standalone"]
    made = subprocess.run(make, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"the broker's storage cannot be formatted: {made.stdout}{made.stderr}"
    command = [*java, "kafka.Kafka", str(settings)]
    running = [start(command, log)]
    broker = Broker(f"127.0.0.1:{port}")

    def kill() -> None:
        broker.forget()
        running[0].kill()
        running[0].wait()

    def restart() -> None:
        running[0] = start(command, log)
        _wait(broker, running[0], log)

    broker.kill, broker.start = kill, restart
    try:
        _wait(broker, running[0], log)
        yield broker
    finally:
        broker.forget()
        stop(running[0])


def _wait(broker: Broker, process: Any, log: Path) -> None:
    from kafka.errors import KafkaError

    def answers() -> bool:
        try:
            broker._admin().close()
        except (KafkaError, OSError):
            return False
        return True

    wait_until(answers, process, log, seconds=120)


def _settings(folder: Path, port: int, controller: int) -> str:
    lines = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(folder / "data"),
        "num.partitions": "1",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        "log.retention.ms": "-1",  # records may bear any timestamp
        "log.message.timestamp.type": "CreateTime",
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())
