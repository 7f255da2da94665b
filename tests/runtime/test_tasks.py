"""Tasks go on after their job was cancelled; what would remove their files waits for them."""

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


def running(spark):
    return sum(each.numRunningTasks() for each in spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos())


@contextmanager
def cancelled(spark, work):
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
    while not running(spark):
        time.sleep(0.05)
    context.cancelJobsWithTag(TAG)
    thread.join()
    assert errors
    yield
    assert wait_for_tasks(spark, TAG)
    assert running(spark) == 0


def test_cancelled_tasks_are_waited_for(spark):
    rows = spark.range(0, 12, 1, 2).selectExpr(f"{SLOW} n")
    with cancelled(spark, lambda: rows.write.format("noop").mode("append").save()):
        pass


def test_tasks_that_do_not_end_are_waited_for_only_shortly_once_the_run_is_cancelled(spark):
    asleep = spark.range(1).selectExpr("reflect('java.lang.Thread', 'sleep', 15000L)")
    with cancelled(spark, asleep.collect):
        assert not wait_for_tasks(spark, TAG, is_cancelled=lambda: True)
        assert running(spark), "it waited for the end of the task"
