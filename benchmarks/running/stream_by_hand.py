"""A stream from Kafka written by hand: `python stream_by_hand.py parquet|delta SERVERS OUT RECORDS_PER_BATCH TOPIC`.

It ends when the topic is read; with an INTERVAL behind these (`1 second`), it runs micro-batches until it is killed.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from connectors.delta.connector import connector as delta
from connectors.kafka.connector import connector as kafka
from engine.spark.session import open_session

SCHEMA = "id bigint, customer bigint, amount decimal(10,2), word string"


def started(format: str) -> SparkSession:
    """A session with the jars and settings of Penstock's sessions."""
    jars = (*kafka.maven, *(delta.maven if format == "delta" else ()))
    settings = {"spark.master": "local[2]", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4"}
    return open_session("by hand", settings, jars, delta.session_settings if format == "delta" else {})


def main(format: str, servers: str, out: str, *more: str) -> None:
    batch, topic, *interval = more
    spark = started(format)
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", batch)
        .load()
    )
    events = records.selectExpr(f"from_json(cast(value as string), '{SCHEMA}') as row", "timestamp").select(
        "row.*", "timestamp"
    )
    large = events.where("amount > 10").selectExpr(
        "id", "customer", "amount * 2 as double_amount", "upper(word) as word", "timestamp as _timestamp"
    )
    writer = large.writeStream.format(format).option("checkpointLocation", f"{out}-checkpoint")
    writer = writer.trigger(processingTime=interval[0]) if interval else writer.trigger(availableNow=True)
    writer.start(out).awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
