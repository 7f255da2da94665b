"""The program that kill tests kill: one Spark session that runs jobs one after the other, as `penstock run` does.

    python -m tests.connectors.running_jobs LOG [separate]

Each line of its input has the arguments of `penstock run` as JSON; it answers by the exit code. With `separate`, each
run has an owner of its own, which has ended when the run has: as if each were a process.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from catalog.options import Value
from connectors.commits import run_owner
from connectors.delta.connector import connector as delta
from connectors.iceberg.connector import connector as iceberg
from connectors.jdbc.known_dialects import DIALECTS
from engine.cli import main
from engine.spark.session import open_session
from tests.connectors.killed_runs import JAVA_OPTIONS
from tests.services import processes

SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "2",
}


def answer(log: Path, *, separate: bool) -> None:
    with os.fdopen(os.dup(1), "w") as answers:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)  # also of Java
        os.dup2(output, 2)
        drivers = (dialect.maven for dialect in DIALECTS if dialect.is_tested)
        jars = (*delta.maven, *iceberg.maven, *drivers)
        open_session("running", SETTINGS, jars, delta.session_settings)
        for line in sys.stdin:
            with as_process_of_its_own(log) if separate else nullcontext():
                code = main(["run", *json.loads(line)])
            print(code, file=answers, flush=True)


@contextmanager
def as_process_of_its_own(log: Path) -> Iterator[None]:
    """Another process, which ends with the run, stands for the run's own where runs look who is running."""
    owner = processes.start(["sleep", "infinity"], log)
    this_process, with_jvm = run_owner.this_process, run_owner.with_jvm
    mark: dict[str, Value] = {**this_process(), "pid": owner.pid, "start": run_owner._start(owner.pid)}
    run_owner.this_process, run_owner.with_jvm = lambda: mark, lambda mark, pid: dict(mark)
    try:
        yield
    finally:
        run_owner.this_process, run_owner.with_jvm = this_process, with_jvm
        owner.kill()
        owner.wait()


if __name__ == "__main__":
    answer(Path(sys.argv[1]), separate="separate" in sys.argv[2:])
