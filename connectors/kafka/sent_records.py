"""Which records of a write its topics have already, where a commit was interrupted: those are not sent again.

<run>/staging/<write id>/began     where each partition of the topics ended before the first record was sent

A commit that finds this file reads the topics from there. Each record has the run and its own number in its headers.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from catalog.quoting import quote_text
from connectors.kafka.client import Brokers, Partition
from connectors.kafka.connection import KafkaConnection
from connectors.kafka.offsets import assignment, offsets_text
from connectors.kafka.write_records import RECORD_HEADER, RUN_HEADER
from connectors.storage.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RUN: Final = "__run"
_RECORD: Final = "__record"


def not_yet_sent(
    records: "DataFrame", staging: str, kafka: Brokers, topics: Sequence[str], connection: KafkaConnection
) -> "DataFrame":
    """The records that the topics do not have: all of them, unless an earlier commit of the write has begun."""
    spark = records.sparkSession
    files, place = files_at(spark, staging)
    partitions = [(topic, number) for topic, count in kafka.partitions(topics).items() for number in range(count)]
    ends = kafka.offsets(partitions, "latest")
    if not files.exists(f"{place}/began"):
        files.write(f"{place}/began", json.dumps([[*partition, end] for partition, end in ends.items()]))
        return records
    before = {(topic, number): end for topic, number, end in json.loads(files.read(f"{place}/began"))}
    first = kafka.offsets(partitions, "earliest")
    starts = {partition: _start(before.get(partition, 0), first[partition], ends[partition]) for partition in ends}
    added = {partition: start for partition, start in starts.items() if start < ends[partition]}
    if not added:
        return records
    sent = _named(_read(spark, connection, added, ends)).select(_RUN, _RECORD).where(f"{_RUN} is not null").distinct()
    return _named(records).join(sent, [_RUN, _RECORD], "left_anti").drop(_RUN, _RECORD)


def _start(before: int, first: int, end: int) -> int:
    """Where the records of the commit may begin: records may have been deleted since, or the topic been made anew."""
    return max(before, first) if before <= end else first


def _read(
    spark: "SparkSession",
    connection: KafkaConnection,
    starts: Mapping[Partition, int],
    ends: Mapping[Partition, int],
) -> "DataFrame":
    return (
        spark.read.format("kafka")
        .options(**connection.spark_options)
        .option("assign", assignment(list(starts)))
        .option("startingOffsets", offsets_text(dict(starts)))
        .option("endingOffsets", offsets_text({partition: ends[partition] for partition in starts}))
        .option("includeHeaders", "true")
        .load()
    )


def _named(records: "DataFrame") -> "DataFrame":
    """The records with what tells them apart."""
    texts = (
        f"cast(element_at(filter(headers, h -> h.key = {quote_text(header)}), -1).value as string) as {name}"
        for header, name in ((RUN_HEADER, _RUN), (RECORD_HEADER, _RECORD))
    )
    return records.where("headers is not null").selectExpr("*", *texts)
