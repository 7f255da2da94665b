"""A packaged job on a real cluster: a standalone master and two workers, started from pyspark's own jars."""

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
env {{ job.name = "cluster", parallelism = 2, spark.sql.shuffle.partitions = 2 }}
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
        for log in logs[1:]:
            options = ("-c", 1, "-m", "1g", "-h", "127.0.0.1", "--webui-port", 0, "-d", cluster / log.stem)
            running.append(start(log, f"{deploy}.worker.Worker", *options, url))
        for log in logs[1:]:
            wait_for(log, "Successfully registered with master")
        yield url
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)


def test_a_packaged_job_runs_on_two_workers(master, cluster, tmp_path):
    data, out = tmp_path / "in", tmp_path / "out"
    data.mkdir()
    for part in range(4):
        lines = [f"{number},{'even' if number % 2 == 0 else 'odd'}" for number in range(part, 1000, 4)]
        (data / f"part{part}.csv").write_text("\n".join(["id,word", *lines]) + "\n")
    job = tmp_path / "cluster.conf"
    job.write_text(JOB.format(data=data, out=out))
    # away from the checkout, so that only what is in the zip can be imported
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    packaged = subprocess.run(
        [sys.executable, "-m", "engine.cli", "package", str(job), "-o", str(elsewhere / "app.zip")],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert packaged.returncode == 0, packaged.stderr

    options = ["--conf", "spark.executor.memory=512m", "--conf", "spark.driver.host=127.0.0.1", "--py-files", "app.zip"]
    submit = [SPARK_HOME / "bin" / "spark-submit", "--master", master, *options, "app.py", "--run-id", "first"]
    python = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(submit, cwd=elsewhere, env=environment | python, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FINISHED: 2 rows written" in done.stdout
    assert (elsewhere / ".penstock" / "runs" / "first" / "run.json").exists()
    assert rows(out) == {("even", 500, 249_500), ("odd", 500, 250_000)}
    assert {path.name for path in cluster.glob("worker*/app-*/*")} == {"0", "1"}, "an executor on each worker"


def rows(folder: Path) -> set[tuple[object, ...]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(folder, columns=["word", "n", "total"])
    return {tuple(row.values()) for row in table.to_pylist()}
