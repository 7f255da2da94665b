"""A driver of the schedules: one Spark session that does what it is asked, and stops at a chosen change.

    python -m tests.ownership.driver LOG [SETTINGS]

Each line of its input has the arguments of `penstock` and the number of the change, as JSON. It answers `at <change>`
when it has reached that change, then waits for a line and goes on; and `ended <code> <changes>` at the end. The
controller stops it with SIGSTOP, or kills it, while it waits.
"""

import json
import os
import sys
from pathlib import Path

from connectors.delta.connector import connector as delta
from connectors.iceberg.connector import connector as iceberg
from connectors.jdbc.known_dialects import MARIADB, POSTGRESQL
from engine.cli import main
from engine.spark.session import open_session
from tests.connectors.killed_runs import JAVA_OPTIONS
from tests.ownership.points import Points

SETTINGS = {
    "spark.master": "local[1]",
    "spark.driver.memory": "700m",
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
}


def drive(log: Path, settings: dict[str, str], jars: tuple[str, ...]) -> None:
    with os.fdopen(os.dup(1), "w") as answers:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)  # also of Java
        os.dup2(output, 2)

        def reached(change: str) -> None:
            print(f"at {change}".replace("\n", " "), file=answers, flush=True)
            sys.stdin.readline()

        points = Points(reached)
        open_session("driver", {**SETTINGS, **settings}, jars, delta.session_settings)
        print("ready", file=answers, flush=True)
        while line := sys.stdin.readline():
            arguments, chosen = json.loads(line)
            print("==", arguments, chosen, flush=True)
            points.begin(chosen)
            code = main(arguments)
            chosen, points.chosen = points.chosen, 0
            print(f"ended {code} {points.count}", file=answers, flush=True)


if __name__ == "__main__":
    given = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    own = given.pop("jars", None)
    drive(Path(sys.argv[1]), given, tuple(own or (*delta.maven, *iceberg.maven, POSTGRESQL.maven, MARIADB.maven)))
