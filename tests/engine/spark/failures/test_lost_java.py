"""Java is killed while a job runs, as the kernel does where memory runs out."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.spark

SLOW = """
env {{ job.name = slow, spark.master = "local[2]" }}
source {{ FakeSource {{ plugin_output = a, row.num = 2, schema {{ fields {{ id = int }} }} }} }}
transform {{ Sql {{ plugin_input = a, plugin_output = b,
  query = "select id, java_method('java.lang.Thread', 'sleep', 60000L) s from a" }} }}
sink {{ LocalFile {{ plugin_input = b, path = "out", file_format_type = parquet }} }}
"""
SWAP = """
env {{ job.name = swap, spark.master = "local[2]" }}
source {{ FakeSource {{ plugin_output = a, row.num = 5, schema {{ fields {{ id = int }} }} }} }}
sink {{ Jdbc {{ plugin_input = a, url = "{url}", user = "{user}", password = "{password}", table = "t",
              schema_save_mode = RECREATE_SCHEMA, data_save_mode = DROP_DATA }} }}
"""


def started(tmp_path, *arguments):
    command = [sys.executable, "-m", "engine.cli", "run", "job.conf", *arguments]
    return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_java(process, is_due, seconds=120):
    """Kill the Java process that is a child of this one, once it is due."""
    until = time.monotonic() + seconds
    while not is_due():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.2)
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                name, _, rest = stat.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "java" and int(rest.split()[1]) == process.pid:
            os.kill(pid, signal.SIGKILL)
            return
    raise AssertionError("no Java runs")


def test_java_that_is_killed_while_rows_are_staged_is_named(tmp_path):
    (tmp_path / "job.conf").write_text(SLOW.format())
    process = started(tmp_path)
    kill_java(process, lambda: any(tmp_path.glob(".out.penstock/*/data")))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "error[PEN5403]: Java, in which Spark runs, was ended by the signal SIGKILL, as the kernel does" in err
    assert "the targets are as they were" in err
    assert "spark.driver.memory" in err
    for word in ("PEN9001", "ConnectionRefused", "Traceback", "--resume", "try 2"):
        assert word not in out + err
    assert not (tmp_path / "out").exists()


def test_java_that_is_killed_after_the_decision_names_resume(mariadb, tmp_path):
    mariadb.clear()
    mariadb.run("create table t (id int)", "insert into t values (-1)")
    job = SWAP.format(url=mariadb.url, user=mariadb.user, password=mariadb.password or "")
    (tmp_path / "job.conf").write_text(job)
    with mariadb.connect() as reader:
        cursor = reader.cursor()
        cursor.execute("begin")
        cursor.execute("select * from t")
        cursor.fetchall()
        process = started(tmp_path, "--run-id", "r1")
        waiting = "select count(*) from information_schema.processlist where info like 'rename table%'"
        kill_java(process, lambda: mariadb.rows(waiting)[0][0] > 0)
        _, err = process.communicate(timeout=60)
        reader.rollback()
    assert process.returncode == 1
    assert "error[PEN5403]" in err
    assert "the run had decided to commit" in err
    assert "`penstock run --resume r1 JOB`" in err
    assert "as they were" not in err
    resumed = subprocess.run(
        [sys.executable, "-m", "engine.cli", "run", "--resume", "r1", "job.conf"], cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert mariadb.rows("select count(*) from t where id <> -1") == [(5,)]


@pytest.mark.parametrize(("said", "waits"), [("a row does not fit", []), ("java.lang.OutOfMemoryError: heap", [2.0])])
def test_java_is_waited_for_only_where_it_may_be_ending(spark, monkeypatch, said, waits):
    """A job that failed says so at once: Java has answered, and goes on."""
    from pyspark import SparkContext
    from pyspark.errors import PySparkException

    from engine.spark.failures.lost_java import exit_of_java

    waited = []

    class Process:
        def wait(self, seconds):
            waited.append(seconds)

        def poll(self):
            return None

    monkeypatch.setattr(SparkContext._gateway, "proc", Process())
    with pytest.raises(PySparkException) as caught:
        spark.sql(f"select raise_error('{said}')").collect()
    assert exit_of_java(caught.value) is None
    assert waited == waits
