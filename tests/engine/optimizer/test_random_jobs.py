"""Rows of the optimized plan equal those of the plan as built, errors under ANSI included, for random jobs on Spark."""

from collections import Counter
from zlib import crc32

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from catalog.diagnostics.diagnostic import Diagnostics, RunError, Severity
from engine.compile import Settings, compile_job
from engine.optimizer import RULES
from tests.engine.optimizer.random_jobs import jobs

JOBS = 240


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("jobs")


@given(jobs())
@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_rules_are_idempotent_and_never_raise(folder, text):
    plan = compiled(folder, text).built
    for rule in RULES:
        plan = rule(plan)
        assert rule(plan) is plan


@pytest.mark.spark
@pytest.mark.parametrize(("every", "failing"), [(4, 2), pytest.param(1, 15, marks=pytest.mark.soak)])
def test_rows_stay_equal(spark, folder, every, failing):
    """One of so many jobs is run, chosen by its text: the same ones each time."""
    seen = Counter()

    @given(jobs())
    # Not shrunk: that runs hundreds of jobs more, and a job of six steps can be read.
    @settings(
        max_examples=JOBS,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    def check(text):
        if crc32(text.encode()) % every:
            return
        job = compiled(folder, text)
        seen["jobs"] += 1
        if job.plan is job.built:
            seen["unchanged"] += 1
            return
        before, after = outcomes(spark, job.built), outcomes(spark, job.plan)
        seen["failing"] += any(isinstance(each, str) for each in before)
        assert after == before

    check()
    print(dict(seen))
    assert seen["jobs"] >= 200 // every
    assert seen["failing"] >= failing
    assert seen["unchanged"] <= seen["jobs"] / 3


def compiled(folder, text):
    file = folder / "job.conf"
    file.write_text(text)
    diagnostics = Diagnostics()
    job = compile_job(file, Settings(), diagnostics)
    errors = {item.code for item in diagnostics if item.severity is Severity.ERROR}
    assume(errors != {"PEN2012"})  # inputs of one block whose columns come in another order
    assert job is not None, [(item.code, item.message) for item in diagnostics]
    return job


def outcomes(spark, plan):
    """Per write its rows as a multiset, or the condition of the error that it fails with."""
    from engine.spark.lower import lower
    from engine.spark.session import pipeline_session

    # one task a source: of two rows that fail with different errors, the first is reported
    conf = {"spark.sql.shuffle.partitions": "1", "spark.sql.leafNodeDefaultParallelism": "1"}
    session = pipeline_session(spark, conf)
    try:
        frames = lower(session, plan.writes).dataframes
    except RunError as error:  # a persisted node is optimized, and so evaluated where it is constant, as it is lowered
        return [condition(error.__cause__) or str(error)] * len(plan.writes)
    return [outcome(frames[write.input]) for write in plan.writes]


def outcome(df):
    from pyspark.errors import PySparkException

    try:
        return (df.schema.simpleString(), Counter(map(repr, df.collect())))
    except PySparkException as error:
        return condition(error) or str(error)


def condition(error):
    """The condition of an error of Spark's; None for any other."""
    return getattr(error, "getCondition", lambda: None)()
