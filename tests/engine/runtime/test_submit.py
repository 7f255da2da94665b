"""A packaged job on a real cluster: a standalone master and two workers, started from pyspark's own jars."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pyspark = pytest.importorskip("pyspark")

ROOT = Path(__file__).parents[3]
SPARK_HOME = Path(pyspark.__file__).parent
JOB = """
env {{ job.name = "cluster", parallelism = 2{settings} }}
source {{
  LocalFile {{
    plugin_output = "numbers", path = "{data}", file_format_type = "csv", csv_use_header_line = true
    schema {{ fields {{ id = bigint, word = string }} }}
  }}
}}
transform {{
  Sql {{ plugin_output = "counted", query = "select word, count(*) as n, sum(id) as total from numbers group by word" }}
}}
sink {{ LocalFile {{ path = "{out}", file_format_type = "parquet", data_save_mode = "DROP_DATA" }} }}
"""
SLOW = """
env {{ job.name = "cluster", parallelism = 4, max_concurrent_pipelines = 4, read_limit.rows_per_second = 100
       slots {{ mode = dynamic, min = 1, max = 3, idle_timeout = 2 }} }}
source {{
  LocalFile {{
    plugin_output = "numbers", path = "{data}", file_format_type = "csv", csv_use_header_line = true
    schema {{ fields {{ id = bigint, word = string }} }}
  }}
  LocalFile {{
    plugin_output = "few", path = "{data}/part0.csv", file_format_type = "csv", csv_use_header_line = true
    schema {{ fields {{ id = bigint, word = string }} }}
  }}
}}
transform {{
  Sql {{ plugin_input = "numbers", plugin_output = "counted", query = "select count(*) as n from numbers" }}
  Sql {{ plugin_input = "few", plugin_output = "most", query = "select id as n from few where id = 4" }}
}}
sink {{
  LocalFile {{ plugin_input = "counted", path = "{out}/counted", file_format_type = "parquet" }}
  LocalFile {{ plugin_input = "most", path = "{out}/most", file_format_type = "parquet" }}
}}
"""

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(log: Path, *arguments: object) -> subprocess.Popen[bytes]:
    command = [str(SPARK_HOME / "bin" / "spark-class"), *(str(each) for each in arguments)]
    environment = {**os.environ, "SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)


def wait_for(log: Path, text: str, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not re.search(text, log.read_text(errors="replace")):
        assert time.monotonic() < deadline, f"no `{text}` in\n{log.read_text(errors='replace')}"
        time.sleep(0.3)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the daemons keep their logs, and the workers their applications."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def master(cluster: Path) -> Iterator[str]:
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    logs = [cluster / name for name in ("master.log", "worker1.log", "worker2.log")]
    deploy = "org.apache.spark.deploy"
    running = [start(logs[0], f"{deploy}.master.Master", "-h", "127.0.0.1", "-p", port, "--webui-port", 0)]
    try:
        wait_for(logs[0], "New state: ALIVE")
        for cores, log in enumerate(logs[1:], start=1):
            options = ("-c", cores, "-m", f"{cores}g", "-h", "127.0.0.1", "--webui-port", 0, "-d", cluster / log.stem)
            running.append(start(log, f"{deploy}.worker.Worker", *options, url))
        for log in logs[1:]:
            wait_for(log, "Successfully registered with master")
        yield url
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for part in range(4):
        lines = [f"{number},{'even' if number % 2 == 0 else 'odd'}" for number in range(part, 1000, 4)]
        (folder / f"part{part}.csv").write_text("\n".join(["id,word", *lines]) + "\n")
    return folder


def submit(folder: Path, job: str, master: str, *options: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
    """Package a job into `folder`, away from the checkout, so that only what is in the zip can be imported."""
    folder.mkdir()
    (folder.parent / "cluster.conf").write_text(job)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    packaged = subprocess.run(
        [sys.executable, "-m", "engine.cli", "package", str(folder.parent / "cluster.conf"), "-o", folder / "app.zip"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert packaged.returncode == 0, packaged.stderr
    settings = ["--conf", "spark.executor.memory=512m", "--conf", "spark.driver.host=127.0.0.1", *options]
    command = [SPARK_HOME / "bin" / "spark-submit", "--master", master, *settings, "--py-files", "app.zip", "app.py"]
    python = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [*command, "--run-id", "first"], cwd=folder, env=environment | python, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    assert fails or "FINISHED: 2 rows written" in done.stdout
    return done


def logged(folder: Path) -> list[dict[str, object]]:
    """The events of Spark in its log."""
    logs = [path for path in folder.rglob("*") if path.is_file() and "status" not in path.name]
    return [json.loads(line) for path in logs for line in path.read_text().splitlines() if line.startswith("{")]


def test_a_packaged_job_runs_on_two_workers_and_settings_of_spark_submit_are_kept(master, cluster, data, tmp_path):
    given = {
        "spark.sql.shuffle.partitions": "7",
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
        "spark.sql.adaptive.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (tmp_path / "events").as_uri(),
    }
    (tmp_path / "events").mkdir()
    out, folder = tmp_path / "out", tmp_path / "elsewhere"
    options = [text for name, value in given.items() for text in ("--conf", f"{name}={value}")]
    submit(folder, JOB.format(data=data, out=out, settings=""), master, *options)
    assert (folder / ".penstock" / "runs" / "first" / "run.json").exists()
    assert rows(out) == {("even", 500, 249_500), ("odd", 500, 250_000)}
    assert {path.name for path in cluster.glob("worker*/app-*/*")} == {"0", "1"}, "an executor on each worker"
    events = logged(tmp_path / "events")
    (started,) = (event for event in events if event["Event"] == "SparkListenerEnvironmentUpdate")
    properties = dict(started["Spark Properties"])
    assert {name: properties.get(name) for name in given} == given
    assert properties["spark.scheduler.mode"] == "FAIR"
    assert "spark.databricks.delta.snapshotPartitions" not in properties, "a default for one machine"
    tasks = {
        event["Stage Info"]["Number of Tasks"] for event in events if event["Event"] == "SparkListenerStageCompleted"
    }
    assert 7 in tasks, "the partitions of the aggregate"


def test_executors_come_with_the_work_and_go_when_they_are_idle(master, data, tmp_path):
    """Two slow tasks are more than the executor that is there at first takes; that of the shorter one, which leaves no
    shuffled rows, is idle then."""
    (tmp_path / "events").mkdir()
    job = SLOW.format(data=data, out=tmp_path / "out")
    events = ("spark.eventLog.enabled=true", "spark.eventLog.compress=false",
              f"spark.eventLog.dir={(tmp_path / 'events').as_uri()}",
              "spark.executor.cores=1")  # fmt: skip
    submit(tmp_path / "elsewhere", job, master, *(text for setting in events for text in ("--conf", setting)))
    found = [event["Event"] for event in logged(tmp_path / "events")]
    assert found.count("SparkListenerExecutorAdded") > 1
    assert found.count("SparkListenerExecutorRemoved") > 0


def test_a_cluster_without_room_for_an_executor_is_an_error_after_the_time_out(master, data, tmp_path):
    job = JOB.format(data=data, out=tmp_path / "out", settings=", slot_timeout_seconds = 4")
    done = submit(tmp_path / "elsewhere", job, master, "--conf", "spark.executor.memory=7g", fails=True)
    assert re.search(r"error\[PEN5053\]: no executor in \d+ s", done.stdout + done.stderr)
    assert not (tmp_path / "out").exists()


def rows(folder: Path) -> set[tuple[object, ...]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(folder, columns=["word", "n", "total"])
    return {tuple(row.values()) for row in table.to_pylist()}
