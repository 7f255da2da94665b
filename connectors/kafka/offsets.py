"""Which records a read covers: the first and the last offset of each partition, fixed before it begins."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics, RunError, did_you_mean, run_error
from catalog.options import Options, Value
from connectors.kafka.client import Brokers, Partition, brokers
from connectors.kafka.connection import KafkaConnection
from connectors.kafka.options import DEFAULT_GROUP
from connectors.shared.staged import Staged, secret_mapping
from connectors.shared.tolerated import report_without_effect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTITION: Final = re.compile(r"(.+)-(\d+)")


@dataclass(frozen=True, slots=True)
class PartitionRange(Staged):
    """The records of one partition from the offset `start` up to, not including, `end`."""

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class KafkaPosition(Staged):
    """What a read covers, and the group to which its ends are committed (None: to none)."""

    servers: str
    group: str | None
    ranges: tuple[PartitionRange, ...]
    config: Mapping[str, str]
    secrets: Mapping[str, str] = secret_mapping()

    @property
    def credentials_key(self) -> str:
        return self.servers

    @property
    def connection(self) -> KafkaConnection:
        return KafkaConnection(self.servers, self.config, self.secrets)


def topics_of(options: Options) -> tuple[str, ...]:
    """The topics that a block names; with `pattern`, the expression."""
    value = options.get("topic")
    if isinstance(value, dict):
        return ()  # names no topic, which is reported
    if options.flag("pattern"):
        return (str(value),)
    listed = [str(item) for item in value] if isinstance(value, (list, tuple)) else str(value).split(",")
    return tuple(dict.fromkeys(name.strip() for name in listed if name.strip()))


def check_offsets(options: Options, diagnostics: Diagnostics) -> None:
    """Report start options that do not belong together, or that name partitions which are not read."""
    mode = str(options["start_mode"]).lower()
    for name, wanted in (("start_mode.timestamp", "timestamp"), ("start_mode.offsets", "specific_offsets")):
        if mode == wanted and options.get(name) is None:
            message = f"`start_mode = {wanted}` needs `{name}`"
            diagnostics.error("PEN2005", message, options.span("start_mode"), _EXAMPLES[name])
        elif mode != wanted and options.get(name) is not None:
            message = f"`{name}` has no effect with `start_mode = {mode}`"
            report_without_effect(name, message, f"start_mode = {wanted}", options, diagnostics)
    end = options.optional_integer(_END)
    if end is not None and mode != "timestamp":
        message = f"`{_END}` has no effect with `start_mode = {mode}`"
        report_without_effect(_END, message, "start_mode = timestamp", options, diagnostics)
    elif end is not None and end < (options.optional_integer("start_mode.timestamp") or 0):
        message = f"`{_END} = {end}` is before `start_mode.timestamp`"
        diagnostics.error("PEN2004", message, options.span(_END))
    topics = topics_of(options)
    for key, value in _flat(options.mapping("start_mode.offsets")).items():
        place = options.span("start_mode.offsets")
        named = _PARTITION.fullmatch(key)
        if named is None or not isinstance(value, int) or isinstance(value, bool) or value < 0:
            help = "start_mode.offsets = { orders-0 = 70 }"
            message = f"`{key} = {value}` does not name a partition and its first offset"
            diagnostics.error("PEN2004", message, place, help)
        elif not options.flag("pattern") and named[1] not in topics:
            message = f"`{key}` in `start_mode.offsets` is of no topic that is read"
            diagnostics.error("PEN2004", message, place, did_you_mean(named[1], topics))


_END: Final = "start_mode.end_timestamp"
_EXAMPLES: Final = {
    "start_mode.timestamp": "start_mode.timestamp = 1735689600000",
    "start_mode.offsets": "start_mode.offsets = { orders-0 = 70, orders-1 = 10 }",
}


def position_of(spark: "SparkSession", options: Options) -> KafkaPosition:
    """What a read that begins now covers: up to the records that the topics have at this moment.

    Raises PEN5004 where a topic does not exist, or records were deleted before the group read them.
    """
    connection = KafkaConnection.of(options)
    span = options.span("bootstrap.servers")
    with brokers(spark, connection.servers, connection.client, code="PEN5004", span=span) as kafka:
        partitions = _partitions(kafka, options)
        first, last = (kafka.offsets(partitions, at) for at in ("earliest", "latest"))
        starts = _starts(kafka, options, partitions, first, last)
        ends = _of_time(kafka, partitions, options.optional_integer(_END), last)
    found = {partition: _checked(partition, starts[partition], first, last, options) for partition in partitions}
    ranges = tuple(
        PartitionRange(*partition, found[partition], max(found[partition], ends[partition])) for partition in partitions
    )
    return KafkaPosition(connection.servers, group_of(options), ranges, connection.config, connection.secrets)


def topic_ids(spark: "SparkSession", options: Options) -> dict[str, str]:
    """The ids of the topics that a block reads now; without those that do not exist."""
    connection = KafkaConnection.of(options)
    span = options.span("bootstrap.servers")
    with brokers(spark, connection.servers, connection.client, code="PEN5004", span=span) as kafka:
        return kafka.topic_ids(_named_topics(kafka, options))


def stream_position(options: Options, offsets: str) -> KafkaPosition | None:
    """What a micro-batch of a stream covers, by the offsets at which it ends; None without a group to commit to."""
    group = group_of(options)
    if group is None:
        return None
    connection = KafkaConnection.of(options)
    ranges = tuple(
        PartitionRange(topic, int(number), 0, int(end))
        for topic, ends in json.loads(offsets).items()
        for number, end in ends.items()
    )
    return KafkaPosition(connection.servers, group, ranges, connection.config, connection.secrets)


def partition_offsets(offsets: str) -> dict[Partition, int]:
    """The offsets by partition, of a text as Spark has it; none where nothing has been read yet."""
    found = json.loads(offsets) if offsets.startswith("{") else {}
    return {(topic, int(number)): int(end) for topic, ends in found.items() for number, end in ends.items()}


def unread_partitions(spark: "SparkSession", options: Options, offsets: str) -> frozenset[str]:
    """The partitions that have records behind these offsets, as `topic-number`."""
    connection, read = KafkaConnection.of(options), partition_offsets(offsets)
    span = options.span("bootstrap.servers")
    with brokers(spark, connection.servers, connection.client, code="PEN5004", span=span) as kafka:
        ends = kafka.offsets(read, "latest")
    return frozenset(f"{topic}-{number}" for (topic, number), end in ends.items() if end > read[topic, number])


def offsets_still_read(options: Options, offsets: str) -> str:
    """The offsets of a checkpoint, as Spark has them, of the topics that a block reads."""
    topics = topics_of(options)
    try:
        pattern = re.compile(topics[0]) if options.flag("pattern") else None
    except re.error:  # it is Java's: Spark looks which topics match
        return offsets
    kept = {
        topic: ends
        for topic, ends in json.loads(offsets).items()
        if (pattern.fullmatch(topic) if pattern is not None else topic in topics)
    }
    return json.dumps(kept, separators=(",", ":"))


def stream_options(spark: "SparkSession", options: Options, *, is_new: bool) -> dict[str, str]:
    """The topics of a stream and, if it is new, where it starts, as Spark's options. A stream that goes on finds its
    start in the checkpoint; partitions that are added later start at their first record."""
    connection = KafkaConnection.of(options)
    topics = topics_of(options)
    named = {"subscribePattern": topics[0]} if options.flag("pattern") else {"subscribe": ",".join(topics)}
    limit = options.optional_integer("max_offsets")
    named |= {"maxOffsetsPerTrigger": str(limit)} if limit else {}
    if is_new:
        ranges = position_of(spark, options).ranges
        starts = offsets_text({(offsets.topic, offsets.partition): offsets.start for offsets in ranges})
        named["startingOffsets"] = starts if ranges else "earliest"
    return {**connection.spark_options, **named, "includeHeaders": "true"}


def group_of(options: Options) -> str | None:
    """The group to which offsets are committed."""
    is_named = "consumer.group" in options.places or str(options["start_mode"]).lower() == "group_offsets"
    return (
        str(options["consumer.group"] or DEFAULT_GROUP) if is_named and options.flag("commit_on_checkpoint") else None
    )


def commit_position(spark: "SparkSession", position: KafkaPosition) -> None:
    """Commit the ends of a read to its group, where it has one."""
    if position.group is None or not position.ranges:
        return
    with brokers(spark, position.servers, position.connection.client, code="PEN5004") as kafka:
        kafka.commit(position.group, {(offsets.topic, offsets.partition): offsets.end for offsets in position.ranges})


def assignment(partitions: Iterable[Partition]) -> str:
    """Partitions as Spark's option `assign` takes them."""
    listed: dict[str, list[int]] = {}
    for topic, number in partitions:
        listed.setdefault(topic, []).append(number)
    return json.dumps(listed)


def offsets_text(offsets: Mapping[Partition, int]) -> str:
    """Offsets as Spark's options take them."""
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, number), offset in offsets.items():
        by_topic.setdefault(topic, {})[str(number)] = offset
    return json.dumps(by_topic)


def _named_topics(kafka: Brokers, options: Options) -> tuple[str, ...]:
    wanted = topics_of(options)
    if not options.flag("pattern"):
        return wanted
    pattern = kafka.jvm.java.util.regex.Pattern.compile(wanted[0])
    return tuple(name for name in kafka.topics() if pattern.matcher(name).matches())


def _partitions(kafka: Brokers, options: Options) -> tuple[Partition, ...]:
    wanted = _named_topics(kafka, options)
    counts = kafka.partitions(wanted)
    if missing := [name for name in wanted if name not in counts]:
        help = did_you_mean(missing[0], kafka.topics()) or "create it, or name topics by `pattern = true`: none is fine"
        raise run_error("PEN5004", f"the topic `{missing[0]}` does not exist", options.span("topic"), help)
    return tuple((name, number) for name in wanted for number in range(counts[name]))


def _starts(
    kafka: Brokers,
    options: Options,
    partitions: tuple[Partition, ...],
    first: Mapping[Partition, int],
    last: Mapping[Partition, int],
) -> Mapping[Partition, int]:
    mode = str(options["start_mode"]).lower()
    if mode in ("earliest", "latest"):
        return first if mode == "earliest" else last
    if mode == "timestamp":
        return _of_time(kafka, partitions, options.integer("start_mode.timestamp"), last)
    new_group = "earliest" if options.seatunnel is None else "latest"  # Kafka's default, and so SeaTunnel's
    reset = options.texts_by_key("kafka.config").get("auto.offset.reset", new_group)
    starts = {**(last if reset == "latest" else first), **kafka.committed(str(options["consumer.group"]))}
    if mode == "specific_offsets":
        given = _flat(options.mapping("start_mode.offsets"))
        starts |= {
            (named[1], int(named[2])): int(str(offset))
            for key, offset in given.items()
            if (named := _PARTITION.fullmatch(key))
        }
        missing = starts.keys() - set(partitions)
        if unknown := next((partition for partition in missing if f"{partition[0]}-{partition[1]}" in given), None):
            message = f"`start_mode.offsets` names partition {unknown[1]} of `{unknown[0]}`, which it does not have"
            raise run_error("PEN5004", message, options.span("start_mode.offsets"))
    return {partition: starts[partition] for partition in partitions}


def _of_time(
    kafka: Brokers, partitions: tuple[Partition, ...], milliseconds: int | None, last: Mapping[Partition, int]
) -> Mapping[Partition, int]:
    """The first offset of this time or later in each partition, the end where there is none."""
    found = {} if milliseconds is None else kafka.offsets(partitions, milliseconds)
    known = {partition: offset for partition, offset in found.items() if offset >= 0}
    return {partition: known.get(partition, last[partition]) for partition in partitions}


def _checked(
    partition: Partition, start: int, first: Mapping[Partition, int], last: Mapping[Partition, int], options: Options
) -> int:
    """The start, where it is between the first and the last record that the partition has."""
    if first[partition] <= start <= last[partition]:
        return start
    reset = options.texts_by_key("kafka.config").get("auto.offset.reset")
    if reset in ("earliest", "latest") and str(options["start_mode"]).lower() == "group_offsets":
        return first[partition] if reset == "earliest" else last[partition]
    raise _out_of_range(partition, start, first[partition], last[partition], options)


def _out_of_range(partition: Partition, start: int, first: int, last: int, options: Options) -> RunError:
    topic, number = partition
    named = f"partition {number} of `{topic}`"
    if start > last:
        message = f"reading is to start at offset {start} of {named}, which ends at {last}"
        return run_error("PEN5004", message, options.span("start_mode"), "was the topic created anew?")
    message = f"reading is to start at offset {start} of {named}, whose records before {first} have been deleted"
    help = "`start_mode = earliest`, or `kafka.config { auto.offset.reset = earliest }`, reads those that are left"
    return run_error("PEN5004", message, options.span("start_mode"), help)


def _flat(block: Mapping[str, Value], prefix: str = "") -> dict[str, Value]:
    """The offsets by partition: topics have dots in their names, which HOCON reads as nesting."""
    found: dict[str, Value] = {}
    for key, value in block.items():
        found |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return found
