"""Tasks go on after their job was cancelled; what would remove their files waits for them."""

import os
import shutil
import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("pyspark")
from py4j.protocol import Py4JError

from connectors.shared.running_tasks import wait_for_tasks
from tests.engine.runtime.gates import closed_gate

pytestmark = pytest.mark.spark

TAG = "test tasks"
SLOW = "aggregate(sequence(1, 10000000), 0L, (a, b) -> (a + b * id) % 1000003)"
MOMENTS = int(os.environ.get("PENSTOCK_TEST_KILLS", "4"))


def running(spark):
    return sum(each.numRunningTasks() for each in spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos())


def working_threads(spark):
    """Java's threads that run a task now."""
    threads = spark.sparkContext._jvm.java.lang.Thread.getAllStackTraces().keySet()
    workers = [thread for thread in threads if str(thread.getName()).startswith("Executor task")]
    return [worker for worker in workers if any("TaskRunner.run" in str(frame) for frame in worker.getStackTrace())]


@contextmanager
def cancelled(spark, work, is_running):
    """A job of this test that was cancelled while its tasks are running."""
    context = spark.sparkContext
    errors = []

    def tagged():
        context.addJobTag(TAG)
        try:
            work()
        except Py4JError as error:
            errors.append(error)
        finally:
            context.clearJobTags()

    thread = threading.Thread(target=tagged)
    thread.start()
    while not is_running():
        time.sleep(0.01)
    while thread.is_alive():  # as a job that is submitted just after the first time
        context.cancelJobsWithTag(TAG)
        thread.join(0.05)
    assert errors
    yield
    assert wait_for_tasks(spark, TAG)
    assert running(spark) == 0


def test_cancelled_tasks_are_waited_for(spark):
    with closed_gate(spark) as gate:
        rows = spark.range(0, 12, 1, 2).selectExpr(f"{gate.waits} n")
        with cancelled(spark, lambda: rows.write.format("noop").mode("append").save(), gate.is_met):
            assert not wait_for_tasks(spark, TAG, seconds=0)
            assert working_threads(spark)
            gate.open()


def test_tasks_that_do_not_end_are_waited_for_only_shortly_once_the_run_is_cancelled(spark):
    with closed_gate(spark) as gate:
        rows = spark.range(1).selectExpr(gate.waits)
        with cancelled(spark, rows.collect, gate.is_met):
            assert not wait_for_tasks(spark, TAG, seconds=3600, is_cancelled=lambda: True)
            assert working_threads(spark), "it waited for the end of the task"
            gate.open()


def test_tasks_that_begin_as_their_job_is_cancelled_write_nothing_later(spark, tmp_path):
    """They are in no count of their stage, which has ended. Only some attempts meet that moment; `make soak` makes
    more."""
    rows, target = spark.range(0, 2, 1, 2).selectExpr(f"{SLOW} n"), tmp_path / "rows"
    for _ in range(MOMENTS):
        with cancelled(spark, lambda: rows.write.parquet(str(target)), (target / "_temporary").exists):
            pass
        shutil.rmtree(target, ignore_errors=True)
        while working_threads(spark):
            time.sleep(0.05)
        assert not target.exists()
