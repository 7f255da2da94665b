"""The program that the kill tests kill: it ends what killed runs left, then overwrites its targets, version by version;
to Paimon and Kafka it appends.

It says on its output where it is: `recovered`, then for each version `stage N`, `commit N`, `done N`.
"""

import os
import sys
from pathlib import Path

import connectors
from connectors.delta.connector import connector as delta
from connectors.kafka.connector import connector as kafka
from engine.spark.lower import lower
from engine.spark.session import open_session, pipeline_session
from engine.spark.writing.commit import commit_all
from engine.spark.writing.open_run import begin
from engine.spark.writing.recover import recover
from engine.spark.writing.sink_checks import check
from engine.spark.writing.stage import stage
from engine.state.layout import layout_at
from tests.connectors.jobs import rows, write

ROWS = 500
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # starts sooner


def main(folder: Path, kinds: list[str], version: int) -> None:
    settings = {
        "spark.master": "local[2]",
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    more = (delta.maven, delta.session_settings) if "delta" in kinds else ((), {})
    if "kafka" in kinds:
        more = (kafka.maven, {})
    spark = open_session("overwriting", settings, *more)
    state = str(folder / "state")
    recover(spark, layout_at(spark, state))
    say("recovered")
    while True:
        query = f"select id, {version}L version from range(0, {ROWS}, 1, 2)"
        scan = rows(query, "id bigint", "version bigint")
        writes = [target(kind, folder, scan) for kind in kinds]
        say(f"stage {version}")
        run = begin(spark, check(spark, writes, f"v{version}"), f"v{version}", layout_at(spark, state))
        lowered = lower(pipeline_session(spark), writes)
        for each in writes:
            stage(spark, run, each, lowered.dataframes[scan])
        say(f"commit {version}")
        commit_all(spark, run)
        say(f"done {version}")
        version += 1


def target(kind, folder, scan):
    if kind == "paimon":
        return write(connectors.sink("Paimon"), scan, kind, path=str(folder / kind))
    if kind == "kafka":
        servers, topic = os.environ["PENSTOCK_TEST_TOPIC"].split("/")
        return write(connectors.sink("Kafka"), scan, kind, bootstrap__servers=servers, topic=topic)
    sink = connectors.sink("LocalFile" if kind == "parquet" else "Delta")
    given = {"file_format_type": "parquet"} if kind == "parquet" else {}
    return write(sink, scan, kind, path=str(folder / kind), data_save_mode="DROP_DATA", **given)


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2].split("+"), int(sys.argv[3]))
