"""Tasks go on after their job was cancelled; what would remove their files waits for them."""

import shutil
import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("pyspark")
from py4j.protocol import Py4JError

from engine.spark.tasks import wait_for_tasks

pytestmark = pytest.mark.spark

TAG = "test tasks"
SLOW = "aggregate(sequence(1, 10000000), 0L, (a, b) -> (a + b * id) % 1000003)"
SIGNAL, AWAKE = "penstock.tests.asleep", "penstock.tests.awake"
FALL_ASLEEP = (
    f"java_method('java.lang.System', 'setProperty', '{SIGNAL}', 'yes')",
    "reflect('java.lang.Thread', 'sleep', 15000L)",
    f"java_method('java.lang.System', 'setProperty', '{AWAKE}', 'yes')",
)


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
    rows = spark.range(0, 12, 1, 2).selectExpr(f"{SLOW} n")
    with cancelled(spark, lambda: rows.write.format("noop").mode("append").save(), lambda: running(spark)):
        pass


def test_tasks_that_do_not_end_are_waited_for_only_shortly_once_the_run_is_cancelled(spark):
    asleep = spark.range(1).selectExpr(*FALL_ASLEEP)
    system = spark.sparkContext._jvm.java.lang.System
    system.clearProperty(SIGNAL)
    system.clearProperty(AWAKE)
    spark.conf.set("spark.sql.execution.interruptOnCancel", "false")
    try:
        with cancelled(spark, asleep.collect, lambda: system.getProperty(SIGNAL)):
            assert not wait_for_tasks(spark, TAG, is_cancelled=lambda: True)
            assert system.getProperty(AWAKE) is None, "it waited for the end of the task"
    finally:
        spark.conf.unset("spark.sql.execution.interruptOnCancel")


def test_tasks_that_begin_as_their_job_is_cancelled_write_nothing_later(spark, tmp_path):
    """They are in no count of their stage, which has ended. Only some attempts meet that moment."""
    rows, target = spark.range(0, 2, 1, 2).selectExpr(f"{SLOW} n"), tmp_path / "rows"
    for _ in range(20):
        with cancelled(spark, lambda: rows.write.parquet(str(target)), (target / "_temporary").exists):
            pass
        shutil.rmtree(target, ignore_errors=True)
        while working_threads(spark):
            time.sleep(0.05)
        assert not target.exists()
